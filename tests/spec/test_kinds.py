"""What a key can be is said in words."""

# ruff: noqa: RUF001 - Chinese has its own punctuation

from __future__ import annotations

import pytest

from tallyard.spec import schema
from tallyard.spec.kinds import choices_of, either, filled, words

PLATFORM = schema.platform_schema()
OVERLAY = schema.overlay_schema()


@pytest.mark.parametrize(
    ("place", "said", "chinese"),
    [
        (("tiers", "x", "weight"), "whole number, 1 to 1000", "整数，1 到 1000"),
        (
            ("accelerators", "x", "rate"),
            "number, with up to three decimals, 0.001 to 100000",
            "数，至多三位小数，0.001 到 100000",
        ),
        (("topology",), "list of block or rack or host", "列表，每项：block、rack 或 host"),
        (("priorities",), "list of mappings", "列表，每项：映射"),
        (("pools", "x", "sharing"), "exclusive or mapping", "exclusive 或映射"),
        (("pools", "x", "borrowed"), "keep or reclaim", "keep 或 reclaim"),
        (("pools", "x", "cpu"), "true or false", "true 或 false"),
        (("pools",), "NAME: mapping", "NAME: 映射"),
        (
            ("tiers", "x", "cards"),
            "NAME: NAME: whole number, 0 to 1000000",
            "NAME: NAME: 整数，0 到 1000000",
        ),
        (("freeze", "cap"), "percentage (1% to 100%)", "百分比（1% 到 100%）"),
        (
            ("metadata", "name"),
            "name of small letters, digits and dashes (at most 63 characters)",
            "由小写字母、数字和短横组成的名称（至多 63 个字符）",
        ),
    ],
)
def test_a_kind_is_said_with_its_bounds(place: tuple[str, ...], said: str, chinese: str) -> None:
    node = schema.whole(PLATFORM, place) or {}
    assert words(node) == said
    assert words(node, "zh") == chinese


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


@pytest.mark.parametrize(
    ("choices", "said", "chinese"),
    [
        (["a"], "a", "a"),
        (["a", "b"], "a or b", "a 或 b"),
        (["a", "b", "c"], "a or b or c", "a、b 或 c"),
        (["整数", "映射"], "整数 or 映射", "整数或映射"),
    ],
)
def test_choices_are_told_as_one_text(choices: list[str], said: str, chinese: str) -> None:
    assert either(choices) == said
    assert either(choices, "zh") == chinese


def test_a_section_that_may_not_be_empty_says_so() -> None:
    assert filled("mapping") == "mapping, at least one"
    assert filled("映射", "zh") == "映射，至少一个"
