"""Lines of the shipped spec that show a mapping of it, for the reference page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from tallyard.spec.tree import Steps

# An example is to be seen at a glance.
LINES_MAX = 30


@dataclass(frozen=True)
class _Entry:
    """A mapping in the file: the lines of the keys above it, its own, and the keys it has."""

    above: tuple[int, ...]
    first: int
    end: int
    keys: frozenset[str]


@dataclass
class Shipped:
    """The shipped files, in the order in which an example is looked for.

    What one example has shown is not shown again.
    """

    files: tuple[Path, ...]
    _shown: set[tuple[Path, int]] = field(default_factory=set)

    def cut(self, place: Steps) -> tuple[str, ...]:
        """Return the lines that show a mapping, each key once if possible; none without an example.

        Args:
            place: The path; `NAME` and an item's number stand for each name and item.
        """
        for file in self.files:
            text = file.read_text(encoding="utf-8")
            entries = tuple(_entries(yaml.compose(text), place, ()))
            if entries:
                return self._lines(file, text.splitlines(), _telling(entries))
        return ()

    def _lines(self, file: Path, lines: list[str], entries: tuple[_Entry, ...]) -> tuple[str, ...]:
        numbers: set[int] = set()
        for entry in entries:
            wanted = {*entry.above, *range(entry.first, entry.end)}
            if len(numbers | wanted) <= LINES_MAX:
                numbers |= wanted
        if all((file, number) in self._shown for number in numbers):
            return ()
        self._shown |= {(file, number) for number in numbers}
        return tuple(lines[number] for number in sorted(numbers))


def _entries(node: yaml.Node | None, place: Steps, above: tuple[int, ...]) -> Iterator[_Entry]:
    """Yield the mappings at a place; `above` are the lines of the keys that lead to it."""
    if not place:
        if isinstance(node, yaml.MappingNode) and node.value and above:
            keys = frozenset(str(key.value) for key, _ in node.value)
            yield _Entry(above[:-1], above[-1], _end(node), keys)
        return
    step, *rest = place
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int):
        for item in node.value:
            yield from _entries(item, tuple(rest), (*above, item.start_mark.line))
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if step in ("NAME", key.value):
                yield from _entries(value, tuple(rest), (*above, key.start_mark.line))


def _end(node: yaml.MappingNode) -> int:
    """Return the line after the node's last one: a block's own mark is where the next begins."""
    last = node
    while isinstance(last, yaml.MappingNode | yaml.SequenceNode) and not last.flow_style:
        child = last.value[-1]
        last = child[1] if isinstance(child, tuple) else child
    return int(last.end_mark.line) + 1


def _telling(entries: tuple[_Entry, ...]) -> tuple[_Entry, ...]:
    """Return the entries that show a key which none before shows."""
    seen: set[str] = set()
    kept = []
    for entry in entries:
        if entry.keys - seen:
            kept.append(entry)
            seen |= entry.keys
    return tuple(kept)
