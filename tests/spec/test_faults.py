"""One fault of shape is told once, as the slip that it was and with what stands there instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.spec.specs import LOCAL, PLATFORM, changed, load_texts
from tests.spec.variations import told, values

A100 = "{vendor: nvidia, memory: 40Gi, rate: 30, origin: measured}"


@pytest.mark.parametrize(
    ("old", "new", "right"),
    [
        ("training: {A100: 2}", "training: {A100:2}", "A100: 2"),
        ("weight: 1,", "weight:1,", "weight: 1"),
        ("vendor: nvidia", "vendor:nvidia", "vendor: nvidia"),
        ("zhao.min: {}", "zhao.min:x", "zhao.min: x"),
    ],
)
def test_a_key_and_its_value_without_a_blank_are_one_fault(
    tmp_path: Path, old: str, new: str, right: str
) -> None:
    platform = changed(PLATFORM, old, new)
    assert [code for code, _ in told(tmp_path, platform)] == ["SPEC038"]
    assert values(tmp_path, platform)["right"] == right


def test_a_mapping_of_one_line_without_a_blank_is_that(tmp_path: Path) -> None:
    """YAML reads the line as a text, so that no mapping stands there."""
    platform = changed(PLATFORM, "metadata: {name: small}", "metadata:\n  name:small")
    assert told(tmp_path, platform) == [("SPEC038", "metadata")]
    platform = changed(PLATFORM, "{training: {A100: 2}}", "{training: A100:2}")
    assert told(tmp_path, platform) == [("SPEC038", "tiers.bronze.cards.training")]
    assert values(tmp_path, platform)["right"] == "A100: 2"


def test_a_text_with_a_colon_that_is_no_entry_is_no_missing_blank(tmp_path: Path) -> None:
    platform = changed(PLATFORM, "{name: small}", "see:below")
    assert [code for code, _ in told(tmp_path, platform)] == ["SPEC109"]


@pytest.mark.parametrize(
    ("old", "new", "right"),
    [
        ("{zhao.min: {}}", "[anna, bo]", "{anna: {}, bo: {}}"),
        ("{zhao.min: {}}", "[a, b, c, d]", "{a: {}, b: {}, c: {}, ...}"),
        ("{zhao.min: {}}", "[anna: {}, bo: {share: 10%}]", "{anna: {}, bo: {...}}"),
        ("borrow: {training: 4}", "borrow: [training]", "{training: ...}"),
        ("borrow: {training: 4}", "borrow: [training: 4]", "{training: 4}"),
        ("{training: {A100: 2}}", "[training: {A100: 2}]", "{training: {...}}"),
        ("{name: small}", "[name: small]", "{name: small}"),
    ],
)
def test_a_list_in_the_place_of_a_mapping_is_shown_as_one(
    tmp_path: Path, old: str, new: str, right: str
) -> None:
    platform = changed(PLATFORM, old, new)
    assert [code for code, _ in told(tmp_path, platform)] == ["SPEC137"]
    assert values(tmp_path, platform)["right"] == right


@pytest.mark.parametrize("new", ["[[anna]]", "[{anna: {}, bo: {}}]", "[1, 2]"])
def test_a_list_that_can_be_no_mapping_is_told_as_a_list(tmp_path: Path, new: str) -> None:
    platform = changed(PLATFORM, "{zhao.min: {}}", new)
    assert [code for code, _ in told(tmp_path, platform)] == ["SPEC109"]


@pytest.mark.parametrize(
    ("old", "new", "right"),
    [
        ("borrows-from: training", "borrows-from: [training]", "training"),
        ("tier: bronze", "tier: [bronze]", "bronze"),
        ("weight: 1,", "weight: [1],", "1"),
        ("rate: 30,", "rate: [30],", "30"),
        ("cpu: true", "cpu: [true]", "true"),
        ("origin: measured", "origin: [measured]", "measured"),
        ("max-time: 8h", "max-time: [8h]", "8h"),
        ("memory: 40Gi", "memory: [40Gi]", "40Gi"),
    ],
)
def test_a_list_of_one_is_told_as_its_item(tmp_path: Path, old: str, new: str, right: str) -> None:
    platform = changed(PLATFORM, old, new)
    assert [code for code, _ in told(tmp_path, platform)] == ["SPEC138"]
    assert values(tmp_path, platform)["right"] == right


def test_a_list_of_two_is_no_value_in_brackets(tmp_path: Path) -> None:
    platform = changed(PLATFORM, "tier: bronze", "tier: [bronze, gold]")
    assert [code for code, _ in told(tmp_path, platform)] == ["SPEC105"]


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("A100", "[A100]"),
        ('"A100, BI-V150"', "[A100, BI-V150]"),
        ("{A100: 8}", "[A100]"),
        ("1", "[1]"),
        ('"a b c d"', "[...]"),
    ],
)
def test_what_stands_in_the_place_of_a_list_is_shown_as_one(
    tmp_path: Path, written: str, right: str
) -> None:
    platform = changed(PLATFORM, "models: [A100]", f"models: {written}")
    assert [code for code, _ in told(tmp_path, platform)] == ["SPEC108"]
    assert values(tmp_path, platform)["right"] == right


def test_a_list_of_mappings_is_not_shown_as_one_of_names(tmp_path: Path) -> None:
    platform = changed(PLATFORM, "tier: bronze,", "tier: bronze, overrides: {until: 2026-12-31},")
    assert values(tmp_path, platform)["right"] == "[{...}]"


@pytest.mark.parametrize("sharing", ["mig", "MIG", "mps", "{mig: 2}", "{MIG: {}}"])
def test_ways_of_sharing_that_are_not_there_yet_are_told_as_that(
    tmp_path: Path, sharing: str
) -> None:
    platform = changed(PLATFORM, "models: [A100],", f"models: [A100], sharing: {sharing},")
    assert [code for code, _ in told(tmp_path, platform)] == ["SPEC139"]


def test_a_word_that_none_fits_may_be_left_out_where_the_key_may(tmp_path: Path) -> None:
    """`links` may be left out, `kind` may not; a mistyped word is one that fits."""
    local = changed(LOCAL, "model: A100,", "model: A100, links: hccs,")
    assert [code for code, _ in told(tmp_path, local=local)] == ["SPEC140"]
    local = changed(LOCAL, "model: A100,", "model: A100, links: nvlnk,")
    assert [code for code, _ in told(tmp_path, local=local)] == ["SPEC110"]
    platform = changed(PLATFORM, "kind: Platform", "kind: Cluster")
    assert [code for code, _ in told(tmp_path, platform)] == ["SPEC110"]


@pytest.mark.parametrize(
    ("broken", "reference", "nearest"),
    [
        # What is wrong inside an entry leaves its name a name.
        ("vendor: NVIDIA, memory: 40Gi", "A10", "A100"),
        ("vendor: nvidia", "A10", "A100"),
        # A name that was refused is none that could be meant.
        ("A 100", "A10", ""),
    ],
)
def test_names_of_broken_entries_are_suggested_and_refused_names_are_not(
    tmp_path: Path, broken: str, reference: str, nearest: str
) -> None:
    if broken == "A 100":
        platform = PLATFORM.replace(f"A100: {A100}", f"A 100: {A100}")
    else:
        platform = changed(PLATFORM, "vendor: nvidia, memory: 40Gi", broken)
    platform = changed(platform, "training: {A100: 2}", f"training: {{{reference}: 2}}")
    path = f"tiers.bronze.cards.training.{reference}"
    (found,) = (each for each in load_texts(tmp_path, platform).problems if each.path == path)
    assert found.values["nearest"] == nearest
    assert found.values["choices"] == (("A100", "BI-V150") if nearest else ("BI-V150",))
