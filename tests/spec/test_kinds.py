"""What a key can be is said in words."""

from __future__ import annotations

import pytest

from tallyard.spec import schema
from tallyard.spec.kinds import choices_of, words

PLATFORM = schema.platform_schema()
OVERLAY = schema.overlay_schema()


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (("tiers", "x", "weight"), "whole number, 1 to 1000"),
        (("accelerators", "x", "rate"), "number, with up to three decimals, 0.001 to 100000"),
        (("topology",), "list of block or rack or host"),
        (("priorities",), "list of mappings"),
        (("pools", "x", "sharing"), "exclusive or mapping"),
        (("pools", "x", "cpu"), "true or false"),
        (("pools",), "NAME: mapping"),
        (("tiers", "x", "cards"), "NAME: NAME: whole number, 0 to 1000000"),
        (("freeze", "cap"), "percentage (1% to 100%)"),
        (("metadata", "name"), "name of small letters, digits and dashes (at most 63 characters)"),
    ],
)
def test_a_kind_is_said_with_its_bounds(place: tuple[str, ...], said: str) -> None:
    assert words(schema.whole(PLATFORM, place) or {}) == said


@pytest.mark.parametrize("whole", [PLATFORM, OVERLAY], ids=["platform", "overlay"])
def test_each_text_with_a_form_of_its_own_has_words_of_its_own(whole: schema.Schema) -> None:
    for place in schema.places(whole):
        node = schema.whole(whole, place) or {}
        assert words(node)
        assert "pattern" not in node or not words(node).startswith("text ("), place


def test_choices_are_the_words_of_which_one_has_to_stand_there() -> None:
    assert choices_of(schema.at(PLATFORM, ("kind",)) or {}) == ("Platform",)
    assert choices_of(schema.at(PLATFORM, ("pools", "x", "borrowed")) or {}) == ("keep", "reclaim")
    assert choices_of(schema.at(PLATFORM, ("metadata", "name")) or {}) == ()
