"""Which warnings a change brings: what only stands elsewhere is no new one."""

from __future__ import annotations

from pathlib import Path

from tallyard.spec.changes.warnings import new_warnings
from tallyard.spec.problem import WARNINGS, Location, Problem

_WARNING, _OTHER = sorted(WARNINGS)[:2]


def _problem(code: str, path: str, line: int = 1) -> Problem:
    return Problem(code, Location(Path("stacks/platform.yaml"), line, 1), path)


def test_a_warning_that_stands_on_another_line_or_place_of_a_list_is_the_same() -> None:
    before = [_problem(_WARNING, "nodes[0].links")]
    after = [_problem(_WARNING, "nodes[3].links", line=9)]
    assert new_warnings(before, after) == ()


def test_one_more_of_the_same_is_new_and_so_are_another_code_and_another_key() -> None:
    before = [_problem(_WARNING, "nodes[0].links")]
    after = [
        _problem(_WARNING, "nodes[0].links"),
        _problem(_WARNING, "nodes[1].links"),
        _problem(_OTHER, "nodes[1].links"),
        _problem(_WARNING, "pools.training"),
    ]
    assert new_warnings(before, after) == tuple(after[1:])
    assert new_warnings(after, before) == ()


def test_an_error_is_no_warning() -> None:
    assert new_warnings([], [_problem("SPEC101", "nodes")]) == ()
