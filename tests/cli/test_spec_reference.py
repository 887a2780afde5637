"""The reference page has every key of the spec, and what it says of it is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tallyard.cli import spec_reference
from tallyard.spec import schema

PAGE = spec_reference.page()
SECTIONS = re.split(r"^#{2,3} ", PAGE, flags=re.MULTILINE)[1:]


def section(title: str) -> str:
    return next(text for text in SECTIONS if text.partition("\n")[0] == title)


def row(title: str, key: str) -> list[str]:
    line = next(line for line in section(title).splitlines() if line.startswith(f"| `{key}` |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_every_key_of_the_spec_has_a_row() -> None:
    keys = [
        place
        for whole in (schema.platform_schema(), schema.overlay_schema())
        for place in schema.places(whole)
        if place[-1] in (schema.at(whole, place[:-1]) or {}).get("properties", {})
    ]
    assert len(keys) > 80
    assert len(keys) == len(re.findall(r"^\| `", PAGE, flags=re.MULTILINE))


def test_a_key_has_its_kind_default_effect_and_origin() -> None:
    key, value, default, text = row("`pools.NAME`", "borrowed")
    node = schema.at(schema.platform_schema(), ("pools", "x", "borrowed")) or {}
    assert (key, value, default) == ("`borrowed`", "`keep` or `reclaim`", "`keep`")
    assert node["description"] in text
    assert node["x-tallyard-effect"] in text
    assert node["x-tallyard-origin"] in text


def test_a_required_key_and_one_per_environment_are_marked() -> None:
    assert row("`tiers.NAME`", "weight")[2] == "**required**"
    assert "*May differ per environment.*" in row("The platform's file", "availability")[3]


def test_a_name_of_the_authors_own_says_what_it_can_be() -> None:
    assert "`NAME`: name of small letters, digits and dashes" in section("`pools.NAME`")


def test_every_section_is_linked_and_every_link_leads_to_one() -> None:
    anchors = {spec_reference._anchor(text.partition("\n")[0]) for text in SECTIONS}
    assert len(anchors) == len(SECTIONS)
    linked = set(re.findall(r"\]\(#([^)]+)\)", PAGE))
    assert linked == anchors - {"the-platforms-file", "an-environments-file"}


def test_the_examples_are_lines_of_the_shipped_files() -> None:
    stacks = Path(__file__).parents[2] / "stacks"
    shipped = {line for file in stacks.glob("*.yaml") for line in file.read_text().splitlines()}
    blocks = re.findall(r"^```yaml\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert len(blocks) > 5
    assert {line for block in blocks for line in block.splitlines()} <= shipped


def test_the_page_is_the_same_each_time() -> None:
    assert spec_reference.page() == PAGE


def test_a_page_that_is_not_current_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(spec_reference, "PAGE", tmp_path / "spec.md")
    assert spec_reference.main(["--check"]) == 1
    assert "--write" in capsys.readouterr().err
    assert spec_reference.main(["--write"]) == 0
    assert spec_reference.main(["--check"]) == 0
    assert spec_reference.main([]) == 0
    assert capsys.readouterr().out == PAGE
