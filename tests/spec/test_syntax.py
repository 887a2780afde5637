# ruff: noqa: RUF001 - Chinese has its own punctuation
"""What is no YAML is told where the slip is, not where the parser gave up."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tallyard.spec.source import parse


def told(text: str) -> tuple[str, int, int]:
    source = parse(text, Path("x.yaml"))
    assert source.tree is None
    (problem,) = source.problems
    return problem.code, problem.location.line, problem.location.column


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\nb：2\nc: 3\n", ("SPEC019", 2, 2)),
        ("a: {b: 1，c: 2}\n", ("SPEC019", 1, 9)),
        ("a: ｛b: 1｝\n", ("SPEC019", 1, 4)),
        ("a: 1\nb:\u00a02\n", ("SPEC026", 2, 3)),
    ],
)
def test_a_lookalike_that_is_the_slip_is_told(text: str, expected: tuple[str, int, int]) -> None:
    assert told(text) == expected


def test_a_lookalike_that_stands_in_a_text_is_not_blamed() -> None:
    assert told("a: {b: 发布（一期），c, d: 1 e: 2}\n")[0] == "SPEC028"
    assert told("a: [1, 2 # 一，二\nb: 2\n") == ("SPEC012", 1, 4)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: {b: 1 c: 2}\n", ("SPEC028", 1, 11)),
        ("hosts: {a: a100-[0-3], b: 1}\n", ("SPEC028", 1, 17)),
        ("a: [1, 2\nb: 3\n", ("SPEC012", 1, 4)),
        ("a: [1, 2", ("SPEC012", 1, 4)),
    ],
)
def test_a_comma_is_missed_in_its_line_and_a_bracket_where_it_opens(
    text: str, expected: tuple[str, int, int]
) -> None:
    assert told(text) == expected


def test_a_comment_that_swallows_a_bracket_is_told_at_its_sign() -> None:
    assert told("a: {b: #4711}\nc: 1\n") == ("SPEC029", 1, 8)
    assert told("a: [b,#c]\nd: 1\n") == ("SPEC029", 1, 7)
    assert told('a: {b: "x #1}", c: 2\nd: 3\n') == ("SPEC012", 1, 4)


@pytest.mark.parametrize(
    ("text", "expected", "right"),
    [
        ("a: 1\nb:2\nc: 3\n", ("SPEC038", 2, 1), "b: 2"),
        ("a:\n  b:2\n  c: 3\n", ("SPEC038", 2, 3), "b: 2"),
        ("a:\n  b: 1\n  c:2\n", ("SPEC038", 3, 3), "c: 2"),
        ("a: {b: 1, c:{d: 2}}\n", ("SPEC038", 1, 11), "c: {...}"),
        ("a: {b: oidc:x, c:[1]}\n", ("SPEC038", 1, 16), "c: [...]"),
        ("a:\n  b:{c: 1, d: 2}\n", ("SPEC038", 2, 3), "b: {...}"),
        ("a: {b:[1], c:[2]}\n", ("SPEC038", 1, 5), "b: [...]"),
        ("a:2\n# no key\n\nb: 3\n", ("SPEC038", 1, 1), "a: 2"),
    ],
)
def test_a_blank_that_is_missing_behind_a_colon_is_told_at_its_key(
    text: str, expected: tuple[str, int, int], right: str
) -> None:
    assert told(text) == expected
    assert parse(text, Path("x.yaml")).problems[0].values["right"] == right


def test_a_missing_blank_is_not_looked_for_in_what_takes_long_to_read() -> None:
    """The parser's time grows with the square of the levels: a minute for so many."""
    begun = time.process_time()
    assert told("a: {b:[1]}\nc: " + "[" * 100_000)[0] == "SPEC018"
    assert told("a: 1\nb:x\nc: " + "[" * 100_000)[0] == "SPEC015"
    assert told(f"a: {'x' * 2_000_000}\nb: {{c:[1]}}\n")[0] == "SPEC018"
    assert time.process_time() - begun < 5


def test_a_colon_that_changes_nothing_is_not_blamed() -> None:
    assert told("a: {b: oidc:x c: 1}\n")[0] == "SPEC028"
    assert told("a: see b:c: d\n")[0] == "SPEC011"
    assert told("a: 1\nhttp://x\nb: 2\n")[0] == "SPEC015"


def test_the_marks_of_a_merge_are_told_at_the_first() -> None:
    text = "a: 1\n<<<<<<< HEAD\nb: 2\n=======\nb: 3\n>>>>>>> main\n"
    assert told(text) == ("SPEC027", 2, 1)


def test_a_star_is_told_where_it_stands() -> None:
    assert told("hosts: *\n") == ("SPEC016", 1, 8)
