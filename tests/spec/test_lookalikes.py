# ruff: noqa: RUF001 - the characters are what this is about
"""Characters that look like YAML's own are named, with the one that was meant."""

from __future__ import annotations

import pytest

from tallyard.spec import lookalikes


@pytest.mark.parametrize(
    ("text", "offset", "code", "values"),
    [
        ("gold：4", 4, "SPEC019", {"character": "： (U+FF1A)", "usual": ":"}),
        ("“small”", 0, "SPEC019", {"character": "“ (U+201C)", "usual": '"'}),
        ("8，4", 1, "SPEC019", {"character": "， (U+FF0C)", "usual": ","}),
        ("a–b", 1, "SPEC019", {"character": "– (U+2013)", "usual": "-"}),
        ("８", 0, "SPEC019", {"character": "８ (U+FF18)", "usual": "8"}),
        ("cpu:\u00a08", 4, "SPEC026", {"character": "U+00A0"}),
        ("\u3000x", 0, "SPEC026", {"character": "U+3000"}),
        ("we\u200bight", 2, "SPEC008", {"character": "U+200B"}),
    ],
)
def test_the_first_lookalike_is_found_and_named(
    text: str, offset: int, code: str, values: dict[str, object]
) -> None:
    found = lookalikes.first(text)
    assert found is not None
    assert (found.offset, found.code, found.values) == (offset, code, values)
    assert lookalikes.cause(text) == found


def test_plain_text_has_none() -> None:
    assert lookalikes.first('{a: "b", c: [1, 2]}') is None
    assert lookalikes.first("语言组") is None


def test_a_text_that_is_foreign_without_them_is_not_blamed_on_them() -> None:
    assert lookalikes.first("语言：组") is not None
    assert lookalikes.cause("语言：组") is None


def test_what_was_meant_is_written_out() -> None:
    assert lookalikes.plain("“a－b”") == '"a-b"'
    assert lookalikes.plain_yaml("｛a：1，b：2｝") == "{a: 1, b: 2}"
