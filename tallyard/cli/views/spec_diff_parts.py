"""What a diff is told in: sections of blocks of rows, whatever they are printed as."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tallyard.cli import session

NOTHING = "—"
ARROW = "→"
SEPARATOR: Mapping[str, str] = {"en": "; ", "zh": "；"}
COLON: Mapping[str, str] = {"en": ": ", "zh": "："}


@dataclass(frozen=True)
class Row:
    """A line of a table. `effect` is 1 for a gain, -1 for a loss, 0 for neither."""

    cells: tuple[str, ...]
    effect: int = 0


@dataclass(frozen=True)
class Block:
    """What is said of one thing: its name with short facts, notes, rows, and lines below them."""

    title: str
    facts: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """Blocks whose rows have the same columns; the last column holds sentences.

    `right` are the columns of numbers; `coloured` is the one that gains and losses are seen in.
    """

    title: str
    headings: tuple[str, ...]
    blocks: tuple[Block, ...]
    right: tuple[int, ...] = ()
    coloured: int | None = None
    is_detail: bool = False


def joined(names: Iterable[str]) -> str:
    """Return names behind one another."""
    return ("、" if session.lang() == "zh" else ", ").join(names)


def place(pool: str, model: str | None) -> str:
    """Return what a model in a pool is called; hosts without cards have none."""
    return f"{pool} {model}" if model else pool


def slices_text(cards: int, slices: int) -> str:
    """Return how many slices cards are, each of which gives so many; a whole card is no slice."""
    zh = session.lang() == "zh"
    said = f"{cards} 张卡" if zh else count(cards, "card", "cards")
    if slices == 1:
        return said
    return f"{said} = {cards * slices} {'个切片' if zh else 'slices'}"


def count(number: int, one: str, more: str) -> str:
    """Return a number with its noun."""
    return f"{number} {one if number == 1 else more}"
