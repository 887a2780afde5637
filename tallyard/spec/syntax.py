"""What the YAML parser refuses, in words for people: which slip was it, and where.

The parser says what it expected and where it gave up, which is often far from the slip.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

from tallyard.spec import lookalikes
from tallyard.spec.problem import Location, Problem

_SYNTAX = (
    ("mapping values are not allowed", "SPEC011"),
    ("did not find expected ',' or", "SPEC012"),
    ("did not find expected node content", "SPEC012"),
    ("found unexpected end of stream", "SPEC013"),
    ("found unexpected document indicator", "SPEC013"),
    ("did not find expected key", "SPEC014"),
    ("did not find expected '-' indicator", "SPEC014"),
    ("block sequence entries are not allowed", "SPEC014"),
    ("could not find expected ':'", "SPEC015"),
    ("cannot start any token", "SPEC016"),
    ("did not find expected alphabetic or numeric character", "SPEC016"),
    ("found unexpected ':'", "SPEC018"),
)
# Where it began says more than where the parser gave up: an open bracket or quote, a `*`.
_AT_OPENING = frozenset({"SPEC012", "SPEC013", "SPEC015", "SPEC016"})
# A comment that has swallowed a closing bracket.
_COMMENT = re.compile(r"[\s,\[{]#.*[\]}]")
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_BRACKETS = {"{": "{...}", "[": "[...]"}
_BARE_COLON = re.compile(r"(?<=[\w.-]):(?=[^\s:/,\]}])")
# A line has a few colons; the first that is wrong is told.
_COLONS_TRIED_MAX = 3
# The time of an attempt is that of its characters; so many take about half a second.
_TRIED_CHARACTERS_MAX = 1_500_000
# The parser's own time grows with the square of the levels; no spec has so many.
_DEPTH_MAX = 50
# The parser may give up a line behind the slip.
_LINES_BEHIND = 2
_MERGE_MARK = re.compile(r"^(<{7} |={7}$|>{7} )", re.MULTILINE)


def problem(error: yaml.MarkedYAMLError, text: str, file: Path, loader: Any) -> Problem:
    """Return the slip behind an error of the parser.

    Args:
        error: What the parser raised for the text.
        text: The whole text.
        file: What messages call the file.
        loader: The parser, to try the text with what was probably meant.
    """
    merge = _MERGE_MARK.search(text)
    if merge:
        return Problem("SPEC027", _at(text, merge.start(), file), "", {})
    slip = _mistyped(error, text, file, loader) or _unspaced(error, text, file, loader)
    return slip or _told(error, text, file)


def _told(error: yaml.MarkedYAMLError, text: str, file: Path) -> Problem:
    detail = str(error.problem or "")
    code = next((code for part, code in _SYNTAX if part in detail), "SPEC010")
    mark, opening = error.problem_mark or error.context_mark, error.context_mark
    comment = _comment(text, _lines(error), file) if code == "SPEC012" else None
    if comment:
        return comment
    if code != "SPEC013" and mark and _character(text, mark) in {"]", "}"}:
        code = "SPEC017"
    elif code == "SPEC012" and mark and opening and _is_in_one_line(opening, mark, text):
        code = "SPEC028"
    elif code in _AT_OPENING and opening is not None:
        mark = opening
    line, column = (mark.line, mark.column) if mark else (0, 0)
    return Problem(code, _within(text, line, column, file), "", {"detail": detail})


def _comment(text: str, lines: list[int], file: Path) -> Problem | None:
    """Return a problem if a bracket is open because its end stands behind a `#`."""
    last = len(text.rstrip().split("\n")) - 1
    for line in sorted({min(line, last) for line in lines}):
        # What is quoted keeps its length, so that columns stay right.
        bare = _QUOTED.sub(lambda found: "_" * len(found[0]), _line(text, line))
        found = _COMMENT.search(bare)
        if found:
            return Problem("SPEC029", Location(file, line + 1, found.start() + 2), "", {})
    return None


def _is_in_one_line(opening: Any, mark: Any, text: str) -> bool:
    """Return whether the parser gave up in the line of the opening bracket, not at its end."""
    return bool(opening.line == mark.line and _line(text, mark.line)[mark.column :].strip())


def _mistyped(error: yaml.MarkedYAMLError, text: str, file: Path, loader: Any) -> Problem | None:
    """Return a problem if a lookalike is the slip: without those of its line the parser
    comes further."""
    for line in _lines(error):
        written = _line(text, line)
        found = lookalikes.first(written)
        if found is None:
            continue
        lines = text.split("\n")
        lines[line] = lookalikes.plain_yaml(written)
        if _gives_up_in("\n".join(lines), loader) > max(_lines(error)):
            return Problem(found.code, Location(file, line + 1, found.offset + 1), "", found.values)
    return None


def _unspaced(error: yaml.MarkedYAMLError, text: str, file: Path, loader: Any) -> Problem | None:
    """Return a problem if a blank is missing behind a colon: with it the parser comes further."""
    marked = _lines(error)
    last = max(marked, default=0)
    # What follows changes nothing about it, and parsing it takes time.
    begun = text.split("\n", last + _LINES_BEHIND)[: last + _LINES_BEHIND]
    affordable = _TRIED_CHARACTERS_MAX // (sum(map(len, begun)) + 1)
    candidates = (*marked, _line_above(text, min(marked, default=0)))
    for line, colons in islice(_without_blank(begun, candidates), affordable):
        instead = [*begun[:line], _spaced(begun[line], colons), *begun[line + 1 :]]
        if _gives_up_in("\n".join(instead), loader) > last:
            return _unspaced_at(begun[line], colons[0], Location(file, line + 1, 1))
    return None


def _without_blank(lines: list[str], numbers: Iterable[int]) -> Iterator[tuple[int, list[int]]]:
    """Yield lines with the columns in which a blank may be missing: each alone, then all.

    Others of a line may be right, a login has a colon too; or more than one is wrong.
    """
    for number in dict.fromkeys(numbers):
        written = lines[number] if number < len(lines) else ""
        bare = _QUOTED.sub(lambda found: "_" * len(found[0]), written)
        colons = [found.end() for found in _BARE_COLON.finditer(bare)]
        yield from ((number, [colon]) for colon in colons[:_COLONS_TRIED_MAX])
        if len(colons) > 1:
            yield number, colons


def _unspaced_at(line: str, column: int, begin: Location) -> Problem:
    key = re.split(r"[\s,\[\]{}]", line[: column - 1])[-1]
    value = _BRACKETS.get(line[column]) or re.split(r"[,\]}]", line[column:], maxsplit=1)[0]
    values = {"found": f"{key}:{value}", "right": f"{key}: {value.strip()}"}
    return Problem("SPEC038", replace(begin, column=column - len(key)), "", values)


def _line_above(text: str, line: int) -> int:
    """Return the line with text above a line; a key without its colon runs on into the next."""
    above = text.split("\n", line)[:line]
    while len(above) > 1 and (not above[-1].strip() or above[-1].lstrip().startswith("#")):
        del above[-1]
    return max(len(above) - 1, 0)


def _spaced(line: str, columns: list[int]) -> str:
    """Return a line with a blank put in at these columns."""
    for column in reversed(columns):
        line = f"{line[:column]} {line[column:]}"
    return line


def _lines(error: yaml.MarkedYAMLError) -> list[int]:
    marks = (error.context_mark, error.problem_mark)
    return sorted({mark.line for mark in marks if mark is not None}, reverse=True)


def _gives_up_in(text: str, loader: Any) -> float:
    """Return the line in which the parser gives up; without end where it does not."""
    try:
        _drain(yaml.parse(text, Loader=loader))
    except yaml.MarkedYAMLError as error:
        return max(_lines(error), default=0)
    except yaml.YAMLError:
        return 0
    return float("inf")


def _drain(events: Iterator[object]) -> None:
    """Read all events, as far as the parser does that quickly.

    Raises:
        yaml.YAMLError: The text is none, or has more levels than are read in a short time.
    """
    depth = 0
    for event in events:
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _DEPTH_MAX:
            raise yaml.YAMLError


def _line(text: str, number: int) -> str:
    lines = text.split("\n", number + 1)
    return lines[number] if number < len(lines) else ""


def _character(text: str, mark: Any) -> str:
    return _line(text, mark.line)[mark.column : mark.column + 1]


def _at(text: str, offset: int, file: Path) -> Location:
    line = text.count("\n", 0, offset) + 1
    return Location(file, line, offset - text.rfind("\n", 0, offset))


def _within(text: str, line: int, column: int, file: Path) -> Location:
    """Return the place, or the end of the text where the parser points behind it."""
    lines = text.rstrip().split("\n")
    if line < len(lines):
        return Location(file, line + 1, column + 1)
    return Location(file, len(lines), len(lines[-1]) + 1)
