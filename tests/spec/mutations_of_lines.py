# ruff: noqa: RUF001 - signs that look like others are part of it
"""What hands do to a text: letters and lines lost, doubled, moved, brackets left open."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

type Mutator = Callable[[random.Random, str], str]

_SCRAPS = (
    *("[", "]", "{", "}", ":", ": ", ", ", "- ", "? ", "| ", "> ", "#", " #", "%", "@", "`", "!"),
    *('"', "'", "&", "*", "~", "<<", "---", "...", "\\", "\\u0000", "=", "\u3000", "\u00a0", "："),
    *("，", "“", "系统", "\U0001f600", "e\u0301", "\u202e", "\u200b", "null", "{}", "[]", "!!str "),
)


def lost_letters(rng: random.Random, text: str) -> str:
    start = rng.randrange(len(text) + 1)
    return text[:start] + text[start + rng.choice((1, 1, 1, 2, 8, 40)) :]


def doubled_letters(rng: random.Random, text: str) -> str:
    start = rng.randrange(len(text) + 1)
    end = start + rng.choice((1, 1, 3, 30))
    return text[:end] + text[start:]


def swapped_letters(rng: random.Random, text: str) -> str:
    at = rng.randrange(max(1, len(text) - 1))
    return text[:at] + text[at : at + 2][::-1] + text[at + 2 :]


def scraps(rng: random.Random, text: str) -> str:
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(_SCRAPS) + text[at:]
    return text


def lost_lines(rng: random.Random, text: str) -> str:
    lines = _lines(text)
    start = rng.randrange(len(lines))
    del lines[start : start + rng.choice((1, 1, 2, 10))]
    return "".join(lines)


def doubled_lines(rng: random.Random, text: str) -> str:
    lines = _lines(text)
    start = rng.randrange(len(lines))
    piece = lines[start : start + rng.choice((1, 1, 2, 10))]
    at = rng.choice((start, rng.randrange(len(lines) + 1)))
    return "".join([*lines[:at], *piece, *lines[at:]])


def swapped_lines(rng: random.Random, text: str) -> str:
    lines = _lines(text)
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return "".join(lines)


def shuffled_lines(rng: random.Random, text: str) -> str:
    lines = _lines(text)
    start = rng.randrange(len(lines))
    piece = lines[start : start + rng.randint(2, 12)]
    rng.shuffle(piece)
    lines[start : start + len(piece)] = piece
    return "".join(lines)


def re_indented(rng: random.Random, text: str) -> str:
    lines = _lines(text)
    start = rng.randrange(len(lines))
    change = rng.choice((-4, -2, -1, 1, 2, 4, 40))
    for number in range(start, min(len(lines), start + rng.choice((1, 1, 3, 100)))):
        bare = lines[number].lstrip(" ")
        lines[number] = " " * max(0, len(lines[number]) - len(bare) + change) + bare
    return "".join(lines)


def joined_lines(rng: random.Random, text: str) -> str:
    ends = [match.start() for match in re.finditer("\n", text)]
    if not ends:
        return text + " " + text
    at = rng.choice(ends)
    return text[:at] + rng.choice(("", " ", ", ")) + text[at + 1 :].lstrip(" ")


def split_lines(rng: random.Random, text: str) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + "\n" + " " * rng.choice((0, 1, 2, 6)) + text[at:]


def unbalanced(rng: random.Random, text: str) -> str:
    """Take one bracket or quote away, double it, or put another in its place."""
    places = [match.start() for match in re.finditer(r"[\[\]{}\"']", text)]
    if not places:
        return "{" + text
    at = rng.choice(places)
    others: tuple[str, ...] = ("", text[at] * 2, *"[]{}()\"'")
    other = rng.choice(others)
    return text[:at] + other + text[at + 1 :]


def colons(rng: random.Random, text: str) -> str:
    places = [match.start() for match in re.finditer(": |:$", text, re.MULTILINE)]
    if not places:
        return text + ":"
    at = rng.choice(places)
    other = rng.choice(("", ":", " ", "::", " = ", "：", ":\n", ": : ", " : "))
    return text[:at] + other + text[at + 1 :].removeprefix(" ")


def other_case(rng: random.Random, text: str) -> str:
    words = list(re.finditer(r"[A-Za-z]{2,}", text))
    if not words:
        return text + "A"
    word = rng.choice(words)
    found = str(word.group())
    other = rng.choice((found.upper(), found.capitalize(), found.swapcase(), found.lower()))
    return text[: word.start()] + other + text[word.end() :]


def long_lines(rng: random.Random, text: str) -> str:
    long = rng.choice(("x", "x ", "[", '"', "系", "-", "a: ", "# ", " ")) * rng.choice(
        (200, 2_000, 100_000)
    )
    at = rng.randrange(len(text) + 1)
    return text[:at] + long + text[at:]


def many_times(rng: random.Random, text: str) -> str:
    return text * rng.choice((2, 3, 30))


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True) or [""]


MUTATORS: tuple[Mutator, ...] = (
    lost_letters,
    doubled_letters,
    swapped_letters,
    scraps,
    lost_lines,
    doubled_lines,
    swapped_lines,
    shuffled_lines,
    re_indented,
    joined_lines,
    split_lines,
    unbalanced,
    colons,
    other_case,
    long_lines,
    many_times,
)
