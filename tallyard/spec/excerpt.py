"""The line of a file that a problem is about, with a caret below the place."""

from __future__ import annotations

import unicodedata

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
    lines = text.split("\n", line)
    if not text or line > len(lines) or not lines[line - 1].strip():
        return ()
    whole = lines[line - 1].rstrip("\r")
    start = max(0, min(column - 1 - WIDTH_MAX // 2, len(whole) - WIDTH_MAX))
    window = whole[start : start + WIDTH_MAX]
    before = window[: column - 1 - start]
    left, right = "…" if start else "", "…" if start + WIDTH_MAX < len(whole) else ""
    blanks = " " * (len(left) + sum(_width(letter) for letter in before))
    return (f"{_INDENT}{left}{_shown(window)}{right}", f"{_INDENT}{blanks}^")


def _shown(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _width(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in {"W", "F"} else 1
