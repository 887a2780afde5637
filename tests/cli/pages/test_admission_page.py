"""The page about submitting has every rule in both languages, each with a refusal."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
import yaml

from tallyard.cli.pages import admission_page
from tallyard.cli.pages.made import CHECKOUT
from tallyard.languages import LANGUAGES, Language
from tallyard.render.admission.locks import FIRST, LOCKS
from tallyard.render.admission.stamps import STAMPS

PAGE = {lang: admission_page.page(lang) for lang in get_args(Language.__value__)}
both = pytest.mark.parametrize("lang", LANGUAGES)
LINES_MAX = 12


@both
def test_every_rule_has_its_place_and_its_words(lang: str) -> None:
    index = LANGUAGES.index(lang)
    for stamp in STAMPS:
        assert f"| `{stamp.name}` | {stamp.does[index]} |" in PAGE[lang]
    for lock in (*FIRST, *LOCKS):
        section = PAGE[lang].partition(f"### `{lock.name}`\n")[2].partition("\n### ")[0]
        assert lock.because[index][1:] in section
        assert re.search(rf" \[{lock.name}\]\n```", section)


@both
def test_what_can_be_asked_for_is_named(lang: str) -> None:
    for asked in ("tallyard.dev/gpu-memory", "tallyard.dev/within", "tallyard.dev/agent"):
        assert f"`{asked}: " in PAGE[lang]


@both
def test_the_shortest_job_is_one_of_at_most_twelve_lines(lang: str) -> None:
    (text,) = re.findall(r"```yaml\n(.*?)```", PAGE[lang], flags=re.DOTALL)
    assert text.count("\n") <= LINES_MAX
    assert yaml.safe_load(text)["kind"] == "Job"


def test_the_pages_name_each_other() -> None:
    assert "](admission.zh.md)" in PAGE["en"]
    assert "](admission.md)" in PAGE["zh"]


def test_a_page_is_made_from_the_cases_of_its_checkout(tmp_path: Path) -> None:
    for file in (admission_page.CASES, Path("examples")):
        (tmp_path / file).mkdir(parents=True)
        for each in (CHECKOUT / file).glob("*.yaml"):
            (tmp_path / file / each.name).write_text(each.read_text(encoding="utf-8"))
    case = tmp_path / admission_page.CASES / "claims-none.yaml"
    case.write_text("denied: [{says: nobody counts it}]\n")
    assert "nobody counts it [claims-none]" in admission_page.page("en", tmp_path)
    assert admission_page.files(tmp_path) != admission_page.files()
