# ruff: noqa: RUF001 - Chinese has its own punctuation
"""The table of texts and how it is filled in."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter

import pytest
from pydantic_core import ErrorDetails

from tallyard.spec import value_faults
from tallyard.spec.messages import closing, line, meaning, report, sentence, title
from tallyard.spec.problem import WARNINGS, Location, Problem
from tallyard.spec.texts import TEXTS
from tallyard.spec.tree import Scalar

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
    problem = told("SPEC203", found="x", nearest="", choices=("gold", "bronze"))
    assert sentence(problem, "en") == 'There is no tier "x". Possible: gold, bronze.'
    assert sentence(problem, "zh") == '没有配额等级 "x"。可选：gold、bronze。'


def test_a_report_shows_the_line_and_the_place() -> None:
    problem = told("SPEC112")
    assert report([problem], "en", {Path("x.yaml"): "a: 1\nb: []\n"}).splitlines() == [
        "x.yaml:2:4  pools: Nothing stands here, and at least one is needed. Add one. [SPEC112]",
        "    b: []",
        "       ^",
    ]


def test_a_line_is_its_parts_put_together() -> None:
    told_line = line(told("SPEC112"))
    assert str(told_line) == (
        "x.yaml:2:4  pools: Nothing stands here, and at least one is needed. Add one. [SPEC112]"
    )
    assert (told_line.place, told_line.path, told_line.warning) == ("x.yaml:2:4", "pools", "")
    assert line(told("SPEC315", found="H100")).warning == "warning: "
    assert line(told("SPEC315", found="H100"), "zh").warning == "警告："


def test_a_code_that_is_no_warning_is_an_error() -> None:
    assert set(TEXTS) >= WARNINGS
    assert not told("SPEC315").is_error
    assert told("SPEC112").is_error


def test_the_last_line_counts_and_names_the_first_error() -> None:
    warning, error = told("SPEC315", found="H100"), told("SPEC112")
    assert closing([warning]) == "1 warning. `tally spec explain SPEC315` says more."
    both = [warning, error, error]
    assert closing(both) == "2 errors, 1 warning. `tally spec explain SPEC112` says more."
    assert closing(both, "zh") == "2 个错误，1 个警告。详细说明：tally spec explain SPEC112"


@pytest.mark.parametrize("code", sorted(TEXTS))
def test_what_a_code_means_can_be_read_without_a_problem(code: str) -> None:
    """No place is left open, and nothing stands there of one that was filled with nothing."""
    template = TEXTS[code][0]
    for text in (meaning(code), meaning(code, "zh"), title(code), title(code, "zh")):
        assert text == text.strip()
        assert "  " not in text
        assert not re.search(r"\{(" + "|".join([*fields(template), "none"]) + r")\}", text)
    assert len(title(code).split()) > 2
    assert title(code)[0] == meaning(code)[0] or "borrow" in title(code)


def test_a_kind_of_fault_that_nobody_knows_is_told_all_the_same() -> None:
    """As a newer pydantic may bring: SPEC199, with its own words."""
    at = Location(Path("x.yaml"), 1, 1)
    fault = ErrorDetails(type="brand_new", loc=("cpu",), msg="must be prime", input=4)
    code, values = value_faults.fault(fault, {}, Scalar(at, "cpu", "4", 4))
    problem = Problem(code, at, "cpu", {"found": 4, **values})
    assert code == "SPEC199"
    assert sentence(problem).startswith("4 does not fit here (must be prime).")
