"""Seeded mutants of specs: number I of a seed is the same two files whenever it is made.

It stays the same as long as the shipped specs, the test data and the schema do; what a run
finds is therefore kept as files. The mutators themselves are in `mutations_*.py`.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from tests.spec import (
    mutations_of_bytes,
    mutations_of_files,
    mutations_of_keys,
    mutations_of_lines,
    mutations_of_trees,
    mutations_of_yaml,
)
from tests.spec.mutations_of_files import Piece
from tests.spec.specs import DATA, STACKS

# Who mutates how many of each twenty; a family's mutators take turns.
SHARES = {"bytes": 2, "lines": 3, "yaml": 4, "trees": 5, "keys": 5, "files": 1}
_TURN = tuple(family for family, share in SHARES.items() for _ in range(share))
# How often another mutation follows; one of a value alone finds its way to the later checks.
_MORE = {"bytes": 0.2, "lines": 0.35, "yaml": 0.3, "trees": 0.2, "keys": 0.2}
_MORE_MAX = 3
_BOTH = 0.15
# Swapping two equal lines changes nothing; the next try does.
_TRIES = 50

FAMILIES: Mapping[str, tuple[Callable[..., Any], ...]] = {
    "bytes": mutations_of_bytes.MUTATORS,
    "lines": mutations_of_lines.MUTATORS,
    "yaml": mutations_of_yaml.MUTATORS,
    "trees": mutations_of_trees.MUTATORS,
    "keys": mutations_of_keys.MUTATORS,
    "files": mutations_of_files.MUTATORS,
}


@dataclass(frozen=True)
class Base:
    """A spec as somebody wrote it: the platform's file and the environment's."""

    name: str
    platform: bytes
    local: bytes


@dataclass(frozen=True)
class Mutant:
    """What stands in a folder after a mutation; the environment is `local.yaml`.

    `kind` is family and mutator, e.g. `lines/re-indented`.
    """

    number: int
    kind: str
    base: str
    pieces: Mapping[str, Piece]

    def write(self, folder: str) -> None:
        """Make its files (links, folders, pipes) in an empty folder."""
        for name, piece in self.pieces.items():
            mutations_of_files.make(os.path.join(folder, name), piece)  # noqa: PTH118 - paths that pathlib would tidy


def mutant(seed: int, number: int) -> Mutant:
    """Return one mutant."""
    rng = random.Random(f"{seed}/{number}")  # noqa: S311 - to be repeated, not to be secret
    family, mutator = _kind(number)
    base = _base(rng, family)
    kind = kind_of(number)
    files = {"platform.yaml": base.platform, "local.yaml": base.local}
    for _ in range(_TRIES):
        pieces = _pieces(rng, family, mutator, files)
        if pieces != files:
            return Mutant(number, kind, base.name, pieces)
    raise AssertionError(f"{kind} changes nothing about {base.name}")


def kind_of(number: int) -> str:
    """Return the kind of a mutant, whatever the seed."""
    return _name(*_kind(number))


def kinds() -> tuple[str, ...]:
    """Return every kind of mutant."""
    return tuple(_name(family, each) for family in FAMILIES for each in FAMILIES[family])


@cache
def bases() -> tuple[Base, ...]:
    """Return the specs that mutants are made of: shipped, small, and with a slip already."""
    platform = (STACKS / "platform.yaml").read_bytes()
    small = [(DATA / "valid" / name).read_bytes() for name in ("platform.yaml", "local.yaml")]
    found = [
        Base("stacks/local", platform, (STACKS / "local.yaml").read_bytes()),
        Base("stacks/prod", platform, (STACKS / "prod.yaml").read_bytes()),
        Base("valid", *small),
    ]
    for file in sorted((DATA / "broken").glob("*.yaml")):
        text = file.read_bytes()
        is_platform = file.stem.startswith("platform")
        found.append(
            Base(
                f"broken/{file.stem}",
                text if is_platform else small[0],
                small[1] if is_platform else text,
            )
        )
    return tuple(found)


def _pieces(
    rng: random.Random, family: str, mutator: Callable[..., Any], files: Mapping[str, bytes]
) -> dict[str, Piece]:
    pieces: dict[str, Piece] = {**files}
    if family == "files":
        mutator(rng, pieces)
        return pieces
    only = rng.choice(tuple(files))
    for name in files if rng.random() < _BOTH else (only,):
        pieces[name] = _mutated(rng, family, mutator, files[name], name)
    return pieces


def _base(rng: random.Random, family: str) -> Base:
    """Choose a base; a mutation of trees shows most where nothing else is wrong."""
    sound, broken = bases()[:3], bases()[3:]
    share_of_broken = 0.1 if family in {"trees", "keys", "files"} else 0.3
    return rng.choice(broken if rng.random() < share_of_broken else sound)


def _kind(number: int) -> tuple[str, Callable[..., Any]]:
    turn, slot = divmod(number, len(_TURN))
    family = _TURN[slot]
    before = _TURN[:slot].count(family)
    mutators = FAMILIES[family]
    return family, mutators[(turn * SHARES[family] + before) % len(mutators)]


def _name(family: str, mutator: Callable[..., Any]) -> str:
    return f"{family}/{mutator.__name__.replace('_', '-')}"


def _mutated(
    rng: random.Random, family: str, first: Callable[..., Any], data: bytes, name: str
) -> bytes:
    """Apply the mutator, and often a few more of its family."""
    chosen = [first]
    while rng.random() < _MORE[family] and len(chosen) < _MORE_MAX:
        chosen.append(rng.choice(FAMILIES[family]))
    match family:
        case "bytes":
            return mutations_of_bytes.applied(rng, chosen, data)
        case "lines" | "yaml":
            text = data.decode("utf-8", "replace")
            for each in chosen:
                text = each(rng, text)
            return text.encode("utf-8", "surrogatepass")
    return mutations_of_trees.applied(rng, chosen, data, name)
