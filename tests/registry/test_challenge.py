from __future__ import annotations

import pytest

from tallyard.registry import challenge
from tallyard.registry.challenge import Challenge


def test_the_usual_challenge_is_read_with_the_commas_inside_its_scope() -> None:
    header = (
        'Bearer realm="https://auth.example.com/token",service="r",scope="repository:a:pull,push"'
    )
    assert challenge.parse(header) == Challenge(
        "https://auth.example.com/token", "r", "repository:a:pull,push"
    )


def test_words_without_quotes_other_cases_and_blanks_are_read() -> None:
    header = "bearer REALM = https://auth.example.com , Service=r"
    assert challenge.parse(header) == Challenge("https://auth.example.com", "r", "")


def test_an_escaped_quote_belongs_to_the_value() -> None:
    found = challenge.parse(r'Bearer realm="https://auth.example.com",service="a \"b\""')
    assert found == Challenge("https://auth.example.com", 'a "b"', "")


def test_the_bearer_challenge_is_found_behind_another_and_before_a_third() -> None:
    header = 'Basic realm="login", Bearer realm="https://auth.example.com", Digest realm="other"'
    assert challenge.parse(header) == Challenge("https://auth.example.com", "", "")


@pytest.mark.parametrize(
    "header", ["", 'Basic realm="x"', "Bearer", 'Bearer service="r"', "Bearerrealm=x"]
)
def test_a_header_without_a_place_to_get_a_token_gives_none(header: str) -> None:
    assert challenge.parse(header) is None
