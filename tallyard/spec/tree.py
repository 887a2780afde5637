"""A YAML file as a tree whose nodes know where they stand and what their path is called.

The paths stay with the nodes when broken parts are cut out, so a message about the fourth
host group says `nodes[3]` even if the second one was cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tallyard.spec.problem import Location

type Step = str | int
type Steps = tuple[Step, ...]

_PLAIN_KEY = re.compile(r"[\w-]+")


@dataclass(frozen=True)
class Scalar:
    """A single value; `text` is how it is written, without quotes."""

    location: Location
    path: str
    text: str
    value: str | int | float | bool | None


@dataclass(frozen=True)
class Sequence:
    """A list."""

    location: Location
    path: str
    items: tuple[Tree, ...]


@dataclass(frozen=True)
class Entry:
    """One line of a mapping: the key and its value."""

    key: Scalar
    value: Tree


@dataclass(frozen=True)
class Table:
    """A mapping; keys are texts and each stands there once."""

    location: Location
    path: str
    entries: Mapping[str, Entry]


type Tree = Scalar | Sequence | Table


def key_path(parent: str, key: str) -> str:
    """Return the path of a key; one with dots or spaces in it stands in quotes."""
    shown = key if _PLAIN_KEY.fullmatch(key) else f'"{key}"'
    return f"{parent}.{shown}" if parent else shown


def path_of(steps: Iterable[Step], *, numbered: bool = True) -> str:
    """Return the path of a place; without numbers an item of a list is `[]`."""
    path = ""
    for step in steps:
        if isinstance(step, int):
            path = f"{path}[{step}]" if numbered else f"{path}[]"
        else:
            path = key_path(path, step)
    return path


def plain(tree: Tree) -> object:
    """Return the tree as dictionaries, tuples and scalars, for pydantic to check."""
    match tree:
        case Table():
            return {key: plain(entry.value) for key, entry in tree.entries.items()}
        case Sequence():
            return tuple(plain(item) for item in tree.items)
        case Scalar():
            return tree.value


def child(tree: Tree, step: Step) -> Tree | None:
    """Return the node one step down, or None where there is none."""
    if isinstance(tree, Table) and isinstance(step, str):
        entry = tree.entries.get(step)
        return entry.value if entry else None
    if isinstance(tree, Sequence) and isinstance(step, int) and 0 <= step < len(tree.items):
        return tree.items[step]
    return None


def find(tree: Tree, steps: Iterable[Step]) -> Tree:
    """Return the node at the path, or the deepest one above it that exists."""
    here = tree
    for step in steps:
        below = child(here, step)
        if below is None:
            return here
        here = below
    return here


def has(tree: Tree, steps: Iterable[Step]) -> bool:
    """Return whether there is a node at the path."""
    here: Tree | None = tree
    for step in steps:
        here = child(here, step) if here is not None else None
    return here is not None


def find_key(tree: Tree, steps: Steps) -> Tree:
    """Return the key that the path ends in; for an item of a list, the item."""
    parent = find(tree, steps[:-1])
    if steps and isinstance(parent, Table) and steps[-1] in parent.entries:
        return parent.entries[str(steps[-1])].key
    return find(tree, steps)


def without(tree: Tree, cuts: Iterable[Steps]) -> Tree:
    """Return the tree without the nodes at these paths; none of them is the root."""
    below: dict[Step, list[Steps]] = {}
    for cut in cuts:
        below.setdefault(cut[0], []).append(cut[1:])
    match tree:
        case Table():
            entries = {
                key: Entry(entry.key, without(entry.value, below.get(key, ())))
                for key, entry in tree.entries.items()
                if () not in below.get(key, ())
            }
            return Table(tree.location, tree.path, entries)
        case Sequence():
            items = tuple(
                without(item, below.get(index, ()))
                for index, item in enumerate(tree.items)
                if () not in below.get(index, ())
            )
            return Sequence(tree.location, tree.path, items)
        case Scalar():
            return tree
