"""How a table is laid out in the width of a terminal. Pure.

Columns that have no room beside the others stand below their row, indented. A sentence goes
first, then the columns before it; nothing is broken within a word that has room on a line.
"""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.cells import cell_len

_GAP = 2
_INDENT = 4
# Names and paths stay whole, so that they can be copied; Chinese may break at any letter, but
# no line of it begins with a mark that closes what stands before.
_WORD = re.compile(r"(\s*)([!-~]+|[^\s!-~])([，。；：、！？）」》”]*)")

type Row = Sequence[str]


def lines(
    headings: Row, rows: Sequence[Row], right: frozenset[int], width: int | None
) -> Iterator[str]:
    """Yield the lines of a table, without blanks at their ends; the headings are the first.

    Args:
        headings: One for each column.
        rows: As many cells each.
        right: The columns of numbers, which stand at the right.
        width: The cells of a line; None for lines that are never broken.
    """
    widths = [max(map(cell_len, column)) for column in zip(headings, *rows, strict=True)]
    beside = len(widths) if width is None else _beside(widths, width)
    last = len(widths) - 1
    if width is None or beside > last:
        yield _line(headings, widths, right)
        yield from (_line(row, widths, right) for row in rows)
        return
    # Where only the sentences have no room, the short ones among them still stand beside.
    before = sum(widths[:last]) + _GAP * last
    room = width - before if beside == last and last not in right else 0
    stays = [bool(row[last]) and cell_len(row[last]) <= room for row in rows]
    has_heading = any(stays) and cell_len(headings[last]) <= room
    yield _line(headings, widths if has_heading else widths[:beside], right)
    for row, is_whole in zip(rows, stays, strict=True):
        yield _line(row, widths if is_whole else widths[:beside], right)
        if not is_whole:
            yield from _below(headings, row, beside, right, width)


def wrapped(text: str, width: int) -> Iterator[str]:
    """Yield a text in lines of at most so many cells, broken between words where possible."""
    line = ""
    for blank, letters, marks in _WORD.findall(text):
        word = letters + marks
        longer = f"{line}{' ' if blank and line else ''}{word}"
        if not line or cell_len(longer) <= width:
            line = longer
            continue
        yield line
        line = word
    if line:
        yield line


def _beside(widths: Sequence[int], width: int) -> int:
    """Return how many columns fit beside each other; the first always does."""
    needed = -_GAP
    for count, each in enumerate(widths):
        needed += _GAP + each
        if needed > width:
            return max(count, 1)
    return len(widths)


def _line(row: Row, widths: Sequence[int], right: frozenset[int]) -> str:
    cells = []
    for index, (cell, width) in enumerate(zip(row, widths, strict=False)):
        blanks = " " * (width - cell_len(cell))
        cells.append(blanks + cell if index in right else cell + blanks)
    return (" " * _GAP).join(cells).rstrip()


def _below(
    headings: Row, row: Row, beside: int, right: frozenset[int], width: int
) -> Iterator[str]:
    """Yield what stands below a row: short facts with their headings, then the sentence."""
    last = len(row) - 1
    has_sentence = last not in right
    facts = [
        f"{headings[index]} {row[index]}"
        for index in range(beside, last if has_sentence else last + 1)
        if row[index]
    ]
    room = max(width - _INDENT, _INDENT)
    for line in (*_packed(facts, room), *(wrapped(row[last], room) if has_sentence else ())):
        yield " " * _INDENT + line


def _packed(facts: Sequence[str], width: int) -> Iterator[str]:
    """Yield the facts, as many on a line as fit."""
    line = ""
    for fact in facts:
        longer = f"{line}{' ' * _GAP}{fact}" if line else fact
        if line and cell_len(longer) > width:
            yield line
            longer = fact
        line = longer
    if line:
        yield line
