"""Lines of a file that a problem is about, with a caret below the place."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

# What fits beside the indentation into a terminal of 80 columns.
WIDTH_MAX = 72
_INDENT = "    "


def excerpt(text: str, line: int, column: int) -> tuple[str, ...]:
    """Return the line and the caret's line, or nothing where the text has no such line.

    Args:
        text: The whole file.
        line: Counted from 1.
        column: In characters, counted from 1.

    A long line is cut to a window around the place; wide letters move the caret by two.
    """
    lines = _lines(text)
    if not text or line > len(lines) or not lines[line - 1].strip():
        return ()
    shown, before = cut(lines[line - 1], column, WIDTH_MAX)
    return (f"{_INDENT}{shown}", f"{_INDENT}{' ' * before}^")


def numbered(
    text: str, line: int, column: int, *, first: int = 1, width: int | None = None
) -> tuple[str, ...]:
    """Return a line between its neighbours, all with their numbers, a caret below the place.

    Args:
        text: The whole file.
        line: Counted from 1.
        column: In characters, counted from 1.
        first: Lines before this one are left out.
        width: The cells that a line may have without its number; None for any.
    """
    return tuple(_numbered(_lines(text), line, column, first, width))


def cut(line: str, column: int, width: int | None) -> tuple[str, int]:
    """Return a line cut to a window around a column, and how many cells stand before it.

    Args:
        line: One line; what cannot be seen in it becomes a blank.
        column: In characters, counted from 1.
        width: The cells of the window; None for the whole line.
    """
    whole = line.rstrip("\r")
    place = min(column - 1, len(whole))
    start, end = (0, len(whole)) if width is None else _window(whole, place, width)
    left, right = "…" if start else "", "…" if end < len(whole) else ""
    return f"{left}{_shown(whole[start:end])}{right}", len(left) + _cells(whole[start:place])


@lru_cache(maxsize=2)
def _lines(text: str) -> Sequence[str]:
    """Return the lines of a file; a hundred problems of one file look for theirs."""
    return text.split("\n")


def _window(whole: str, place: int, width: int) -> tuple[int, int]:
    """Return the part of a line with the place in its middle, or as near to it as the ends let."""
    start = _before(whole, place, width // 2)
    end, room = start, width
    while end < len(whole) and _width(whole[end]) <= room:
        room -= _width(whole[end])
        end += 1
    return _before(whole, start, room) if end == len(whole) else start, end


def _before(whole: str, place: int, room: int) -> int:
    """Return how far left of a place so many cells reach."""
    while place and _width(whole[place - 1]) <= room:
        place -= 1
        room -= _width(whole[place])
    return place


def _numbered(
    lines: Sequence[str], line: int, column: int, first: int, width: int | None
) -> Iterator[str]:
    numbers = range(max(first, line - 1), min(len(lines), line + 1) + 1)
    digits = len(str(numbers[-1] if numbers else line))
    for number in numbers:
        shown, before = cut(lines[number - 1], column if number == line else 1, width)
        if shown or number == line:
            yield f"{number:>{digits}} | {shown}".rstrip()
        if number == line:
            yield f"{' ' * digits} | {' ' * before}^"


def _shown(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _cells(text: str) -> int:
    return sum(_width(letter) for letter in text)


def _width(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in {"W", "F"} else 1
