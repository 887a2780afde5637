# ruff: noqa: RUF001 - Chinese has its own punctuation
"""The table of texts and how it is filled in."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest

from tallyard.spec.messages import report, sentence
from tallyard.spec.problem import Location, Problem
from tallyard.spec.texts import TEXTS

SPEC = Path(__file__).parents[2] / "tallyard" / "spec"


def fields(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name}


@pytest.mark.parametrize("code", sorted(TEXTS))
def test_both_languages_say_the_same_with_the_same_values(code: str) -> None:
    english, chinese = TEXTS[code]
    assert fields(english) == fields(chinese)
    assert re.search("[\u4e00-\u9fff]", chinese)
    assert english.isascii()


def test_every_code_in_the_source_has_its_text() -> None:
    used = {
        code
        for file in SPEC.glob("*.py")
        if file.name != "texts.py"
        for code in re.findall(r'"(SPEC\d{3})"', file.read_text())
    }
    assert used == set(TEXTS)


def told(code: str, **values: object) -> Problem:
    return Problem(code, Location(Path("x.yaml"), 2, 4), "pools", values)


def test_what_moves_the_cursor_is_shown_as_an_escape() -> None:
    text = sentence(told("SPEC105", found="\x1b[31m\u202ered"))
    assert text.startswith('"\\u001b[31m\\u202ered" is not a text.')


def test_a_long_value_is_cut() -> None:
    assert len(sentence(told("SPEC105", found="x" * 10_000))) < 200


def test_a_value_with_braces_is_no_template() -> None:
    assert '"{found}"' in sentence(told("SPEC105", found="{found}"))


def test_valid_names_are_listed_where_none_is_near() -> None:
    problem = told("SPEC201", kind="tiers", found="x", nearest="", choices=("gold", "bronze"))
    assert sentence(problem, "en") == '"x" is not a tier. Possible: gold, bronze.'
    assert sentence(problem, "zh") == '"x" 不是配额等级。可选：gold, bronze。'


def test_a_report_shows_the_line_and_the_place() -> None:
    problem = told("SPEC112")
    assert report([problem], "en", {Path("x.yaml"): "a: 1\nb: []\n"}).splitlines() == [
        "x.yaml:2:4  pools: Nothing stands here, and at least one is needed. Add one. [SPEC112]",
        "    b: []",
        "       ^",
    ]
