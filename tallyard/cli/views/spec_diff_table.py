"""The sections of a diff as tables, coloured on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from rich.cells import cell_len
from rich.text import Text

from tallyard.cli import layout, output, session
from tallyard.cli.views.spec_diff_parts import SEPARATOR, Block, Row, Section

_INDENT = "  "
_BELOW = "    "
_COLOURS = {1: "green", -1: "red"}


def show(sections: tuple[Section, ...]) -> None:
    """Print the sections, a blank line before each."""
    console = session.out()
    # Plain writes are much quicker than the console, which only colour needs.
    is_plain = not (output.on_terminal() and console.color_system) or console.no_color
    for section in sections:
        for text in _lines(section, console.width if output.on_terminal() else None):
            if is_plain or not (text.spans or text.style):
                sys.stdout.write(text.plain + "\n")
            else:
                console.print(text, soft_wrap=True)


def _lines(section: Section, width: int | None) -> Iterator[Text]:
    room = None if width is None else width - len(_INDENT)
    rows = [row for block in section.blocks for row in block.rows]
    yield Text()
    yield Text(section.title, style="bold")
    grouped: Iterator[list[str]] = iter(())
    if rows:
        heading, *body = layout.lines(
            section.headings,
            [tuple(map(_printable, row.cells)) for row in rows],
            frozenset(section.right),
            room,
        )
        grouped = iter(_grouped(body))
        yield Text(f"{_INDENT}{heading}", style="dim")
    for block in section.blocks:
        yield from _block(block, grouped, section, room)


def _block(
    block: Block, grouped: Iterator[list[str]], section: Section, room: int | None
) -> Iterator[Text]:
    if block.title:
        title = Text(_printable(block.title), style="bold")
        facts = SEPARATOR[session.lang()].join(map(_printable, block.facts))
        yield from _titled(title, facts, room)
    for note in block.notes:
        # Below a title it stands further in; several of them are told apart by their beginnings.
        indent = _BELOW if block.title else _INDENT
        first, *rest = _broken(_printable(note), room)
        yield Text(f"{indent}{first}")
        yield from (Text(f"{_INDENT}{_BELOW}{each}") for each in rest)
    for row in block.rows:
        for line in next(grouped):
            text = Text(f"{_INDENT}{line}")
            _colour(text, row, section)
            yield text
    for line in block.lines:
        first, *rest = _broken(_printable(line), room)
        yield Text(f"{_INDENT}{first}", style="green" if line.startswith("+") else "red")
        yield from (Text(f"{_INDENT}{_BELOW}{each}") for each in rest)


def _titled(title: Text, facts: str, room: int | None) -> Iterator[Text]:
    """Yield a name with the facts behind it, or below it where there is no room."""
    if room is None or title.cell_len + len(_INDENT) + cell_len(facts) <= room:
        yield Text.assemble(title, f"{_INDENT}{facts}".rstrip())
        return
    yield title
    yield from (Text(f"{_BELOW}{each}") for each in _broken(facts, room))


def _broken(text: str, room: int | None) -> list[str]:
    return [text] if room is None else list(layout.wrapped(text, room - len(_BELOW)))


def _grouped(body: list[str]) -> Iterator[list[str]]:
    """Yield the lines of each row; the first begins at the left, the others are indented."""
    group: list[str] = []
    for line in body:
        if group and not line.startswith(_BELOW):
            yield group
            group = []
        group.append(line)
    if group:
        yield group


def _colour(text: Text, row: Row, section: Section) -> None:
    if section.coloured is None or row.effect not in _COLOURS:
        return
    cell = row.cells[section.coloured]
    at = text.plain.rfind(f" {cell}") if cell else -1
    if at >= 0:
        text.stylize(_COLOURS[row.effect], at + 1, at + 1 + len(cell))


def _printable(cell: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in cell)
