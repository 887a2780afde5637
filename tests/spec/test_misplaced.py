"""Models, pools and logins that stand in the place of another name: one fault, with the mend."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallyard.spec import misplaced
from tests.spec.specs import PLATFORM, changed
from tests.spec.variations import told, values, varied, with_override

BRONZE = "cards: {training: {A100: 2}}"
TWO_POOLS = varied(
    PLATFORM,
    ("  elastic: {", "  lab: {models: [A100], priority: training}\n  elastic: {"),
)
LOWER = PLATFORM.replace("A100", "a100")


@pytest.mark.parametrize(
    ("written", "place", "right"),
    [
        ("cards: {A100: 2}", "cards.A100", "training: {A100: 2}"),
        ("cards: {a100: 2}", "cards.a100", "training: {A100: 2}"),
        ("cards: {BI-V15: 2}", "cards.BI-V15", "domestic: {BI-V150: 2}"),
        ("cards: {A100: {training: 2}}", "cards.A100", "training: {A100: 2}"),
        ("cards: {A100: {domestic: 2}}", "cards.A100", "domestic: {A100: 2}"),
        ("cards: {A100: many}", "cards.A100", "training: {A100: many}"),
        (f"{BRONZE}, borrow: {{A100: 4}}", "borrow.A100", "training: 4"),
    ],
)
def test_a_model_without_its_pool_is_told_once_with_the_pool_that_lists_it(
    tmp_path: Path, written: str, place: str, right: str
) -> None:
    platform = changed(PLATFORM, BRONZE, written)
    assert told(tmp_path, platform) == [("SPEC134", f"tiers.bronze.{place}")]
    assert values(tmp_path, platform)["right"] == right


def test_a_model_in_an_override_is_told_as_well(tmp_path: Path) -> None:
    platform = with_override("{cards: {A100: 10}, until: 2026-12-31, reason: a test}")
    assert told(tmp_path, platform) == [("SPEC134", "projects.nlp.overrides[0].cards.A100")]


def test_the_pools_of_a_model_are_named_if_there_are_several(tmp_path: Path) -> None:
    platform = changed(TWO_POOLS, BRONZE, "cards: {A100: 2}")
    problems = told(tmp_path, platform)
    assert ("SPEC134", "tiers.bronze.cards.A100") in problems
    assert not {code for code, _ in problems} & {"SPEC109", "SPEC114", "SPEC202"}


def test_a_model_in_small_letters_is_no_unknown_pool(tmp_path: Path) -> None:
    """A name that a pool could have: only that it is an accelerator tells what is wrong."""
    platform = changed(LOWER, "cards: {training: {a100: 2}}", "cards: {a100: 2}")
    codes = {code for code, _ in told(tmp_path, platform)}
    assert "SPEC134" in codes
    assert not codes & {"SPEC109", "SPEC135", "SPEC202"}


def test_a_pool_that_is_mistyped_is_still_an_unknown_pool(tmp_path: Path) -> None:
    platform = changed(PLATFORM, BRONZE, "cards: {traning: {A100: 2}}")
    assert told(tmp_path, platform) == [("SPEC202", "tiers.bronze.cards.traning")]


@pytest.mark.parametrize(
    ("old", "new", "place", "right", "choices"),
    [
        (BRONZE, "cards: {training: 2}", "tiers.bronze.cards.training", "training: {A100: 2}", []),
        (
            BRONZE,
            "cards: 2",
            "tiers.bronze.cards",
            "cards: {training: {A100: 2}}",
            ["training", "domestic"],
        ),
        (
            "borrow: {training: 4}",
            "borrow: 4",
            "tiers.gold.borrow",
            "borrow: {training: 4}",
            ["training", "domestic"],
        ),
    ],
)
def test_a_number_of_cards_alone_is_told_with_what_it_may_be_for(
    tmp_path: Path, *, old: str, new: str, place: str, right: str, choices: list[str]
) -> None:
    platform = changed(PLATFORM, old, new)
    assert told(tmp_path, platform) == [("SPEC135", place)]
    found = values(tmp_path, platform)
    assert (found["right"], found["choices"]) == (right, choices)


def test_a_number_of_cards_for_no_pool_that_is_there_leaves_the_names_open(tmp_path: Path) -> None:
    platform = changed(PLATFORM, BRONZE, "cards: {foreign: 2}")
    found = told(tmp_path, platform)
    assert found == [
        ("SPEC202", "tiers.bronze.cards.foreign"),
        ("SPEC135", "tiers.bronze.cards.foreign"),
    ]


@pytest.mark.parametrize(
    ("written", "place", "elsewhere"),
    [
        ("training: {A100: 2}", "training", "tiers.bronze.cards"),
        ("training: {A100: 2}, cards: {}", "training", "tiers.bronze.cards"),
        ("A100: 2", "A100", "tiers.bronze.cards.training"),
    ],
)
def test_a_pool_or_a_model_directly_in_a_tier_is_told_where_it_goes(
    tmp_path: Path, written: str, place: str, elsewhere: str
) -> None:
    platform = changed(PLATFORM, BRONZE, written)
    assert told(tmp_path, platform) == [("SPEC103", f"tiers.bronze.{place}")]
    assert values(tmp_path, platform)["elsewhere"] == elsewhere


def test_a_pool_directly_in_an_override_is_told_where_it_goes(tmp_path: Path) -> None:
    platform = with_override("{training: {A100: 10}, until: 2026-12-31, reason: a test}")
    assert values(tmp_path, platform)["elsewhere"] == "projects.nlp.overrides[0].cards"


@pytest.mark.parametrize(
    ("old", "new", "place", "right"),
    [
        (
            "zhao.min: {}",
            "zhao.min@corp.example: {}",
            'users."zhao.min@corp.example"',
            'zhao.min: {logins: ["zhao.min@corp.example"]}',
        ),
        (
            "{zhao.min: {}}",
            "{zhao.min@corp.example}",
            'users."zhao.min@corp.example"',
            'zhao.min: {logins: ["zhao.min@corp.example"]}',
        ),
        (
            "zhao.min: {}",
            "oidc:zhao.min: {}",
            'users."oidc:zhao.min"',
            'zhao.min: {logins: ["oidc:zhao.min"]}',
        ),
        (
            "zhao.min: {}",
            "zhao.min: zhao@corp.example",
            'users."zhao.min"',
            'zhao.min: {logins: ["zhao@corp.example"]}',
        ),
        (
            "bronze, users",
            "bronze, default-user: zhao.min@corp.example, users",
            "default-user",
            "default-user: zhao.min",
        ),
    ],
)
def test_a_login_where_a_person_is_named_is_told_with_the_name(
    tmp_path: Path, old: str, new: str, place: str, right: str
) -> None:
    platform = changed(PLATFORM, old, new)
    assert told(tmp_path, platform) == [("SPEC136", f"projects.vision.{place}")]
    assert values(tmp_path, platform)["right"] == right


def test_a_default_user_by_login_is_the_user_who_has_it(tmp_path: Path) -> None:
    platform = changed(PLATFORM, "tier: gold,", "tier: gold, default-user: oidc:li.wei,")
    platform = changed(platform, "{li.wei: {", "{li: {")
    assert values(tmp_path, platform)["right"] == "default-user: li"


@pytest.mark.parametrize(
    ("login", "name"),
    [
        ("bo.li@corp.example", "bo.li"),
        ("oidc:bo.li@corp.example", "bo.li"),
        ("CORP\\bo@corp.example", "bo"),
        ("oidc:https://id.example#bo", "bo"),
        ("system:serviceaccount:ci:runner", "runner"),
        ("@", "NAME"),
        ("李@corp.example", "NAME"),
    ],
)
def test_the_name_behind_a_login_is_a_label(login: str, name: str) -> None:
    assert misplaced.is_login(login)
    assert misplaced.person(login) == name


@pytest.mark.parametrize("text", ["bo.li", "li wei", "weight:4", "A100:8", ""])
def test_what_is_no_login_is_not_taken_for_one(text: str) -> None:
    assert not misplaced.is_login(text)
