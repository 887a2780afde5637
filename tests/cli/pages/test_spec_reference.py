"""The reference has every key of the spec in both languages, and what it says of it is so."""

# ruff: noqa: RUF001, RUF002 - Chinese has its own punctuation

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tallyard.cli.pages import spec_reference
from tallyard.languages import LANGUAGES, Language
from tallyard.spec import schema
from tallyard.spec.key_texts import told

PAGE: Mapping[Language, str] = {"en": spec_reference.page("en"), "zh": spec_reference.page("zh")}
KEYS = [
    place
    for whole in (schema.platform_schema(), schema.overlay_schema())
    for place in schema.places(whole)
    if place[-1] in (schema.at(whole, place[:-1]) or {}).get("properties", {})
]
FILES: Mapping[Language, tuple[str, str]] = {
    "en": ("The platform's file", "An environment's file"),
    "zh": ("平台文件", "环境文件"),
}

both = pytest.mark.parametrize("lang", LANGUAGES)


def sections(lang: Language) -> list[str]:
    return re.split(r"^#{2,3} ", PAGE[lang], flags=re.MULTILINE)[1:]


def section(title: str, lang: Language) -> str:
    return next(text for text in sections(lang) if text.partition("\n")[0] == title)


def row(title: str, key: str, lang: Language) -> list[str]:
    lines = section(title, lang).splitlines()
    line = next(line for line in lines if line.startswith(f"| `{key}` |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


@both
def test_every_key_of_the_spec_has_a_row(lang: Language) -> None:
    assert len(KEYS) > 80
    assert len(KEYS) == len(re.findall(r"^\| `", PAGE[lang], flags=re.MULTILINE))


@both
def test_a_key_has_its_kind_default_effect_and_origin(lang: Language) -> None:
    key, value, default, text = row("`pools.NAME`", "borrowed", lang)
    node = schema.at(schema.platform_schema(), ("pools", "x", "borrowed")) or {}
    either = {"en": "`keep` or `reclaim`", "zh": "`keep` 或 `reclaim`"}[lang]
    assert (key, value, default) == ("`borrowed`", either, "`keep`")
    for said in ("description", "x-tallyard-effect", "x-tallyard-origin"):
        assert told(node[said], lang) in text


def test_a_required_key_and_one_per_environment_are_marked() -> None:
    assert row("`tiers.NAME`", "weight", "en")[2] == "**required**"
    assert "*May differ per environment.*" in row(FILES["en"][0], "availability", "en")[3]
    assert row("`tiers.NAME`", "weight", "zh")[2] == "**必填**"
    assert "*可因环境而异*。" in row(FILES["zh"][0], "availability", "zh")[3]


def test_a_name_of_the_authors_own_says_what_it_can_be() -> None:
    english = section("`pools.NAME`", "en")
    assert "`NAME`: name of small letters, digits and dashes" in english
    assert "`NAME`：由小写字母、数字和短横组成的名称" in section("`pools.NAME`", "zh")


@both
def test_every_section_is_linked_and_every_link_leads_to_one(lang: Language) -> None:
    anchors = {spec_reference._anchor(text.partition("\n")[0]) for text in sections(lang)}
    assert len(anchors) == len(sections(lang))
    linked = set(re.findall(r"\]\(#([^)]+)\)", PAGE[lang]))
    assert linked == anchors - set(map(spec_reference._anchor, FILES[lang]))


@both
def test_the_examples_are_lines_of_the_shipped_files(lang: Language) -> None:
    stacks = Path(__file__).parents[3] / "stacks"
    shipped = {line for file in stacks.glob("*.yaml") for line in file.read_text().splitlines()}
    blocks = examples(PAGE[lang])
    assert len(blocks) > 5
    assert {line for block in blocks for line in block.splitlines()} <= shipped


def test_both_pages_have_the_same_keys_and_examples_in_the_same_order() -> None:
    english, chinese = (
        [re.findall(r"^\| (`.*?`) ", text, flags=re.MULTILINE) for text in sections(lang)]
        for lang in ("en", "zh")
    )
    assert english == chinese
    assert examples(PAGE["en"]) == examples(PAGE["zh"])


def test_each_page_leads_to_the_other_at_its_top() -> None:
    assert "](spec.zh.md)" in PAGE["en"].partition("\n## ")[0]
    assert "](spec.md)" in PAGE["zh"].partition("\n## ")[0]


def test_in_chinese_no_word_around_the_texts_is_left_in_english() -> None:
    """Between code, links and what the spec's authors write nothing stands in two words."""
    prose = re.sub(r"```yaml\n.*?^```|<!--.*?-->", "", PAGE["zh"], flags=re.DOTALL | re.MULTILINE)
    bare = re.sub(r"`[^`]*`|\]\([^)]*\)|\{[^}]*\}", "`", prose)
    assert not re.findall(r"[A-Za-z]+ [A-Za-z]+", bare)


def test_marks_of_emphasis_are_closed_beside_a_letter() -> None:
    """Markdown takes `*作用：*的` for no emphasis: a closing mark that follows punctuation and
    precedes a letter closes nothing."""
    assert len(re.findall(r"\*\w+\*：", PAGE["zh"])) > 50
    assert not re.search(r"[，。：；、]\*", PAGE["zh"])


def test_the_page_is_the_same_each_time() -> None:
    assert (spec_reference.page("en"), spec_reference.page("zh")) == (PAGE["en"], PAGE["zh"])


def examples(page: str) -> list[str]:
    return re.findall(r"^```yaml\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
