"""A ledger under random operations and real kills: is anything ever lost, doubled, negative?

Usage: .venv/bin/python -m tests.soak.ledger [--seeds N] [--first N] [--operations N] [--kills N]
                                             [--store sqlite|postgresql] [--jobs N]

Each seed is a life of its own (20 seeds of 100,000 operations, 12 kills each). It is done by a
process that dies of SIGKILL at named points of its work and at drawn moments (`ledger_points.py`),
in half of the cases with a torn record at the end of its log, and by books in memory, with every
invariant looked at after each operation. After each kill the group that it hit must be in the
store or not, as the point says; in the end both journals must be the same, byte for byte. A full
disk, a read-only store and a torn page are told.

It fails when a life does, whose line says how to live it again, or when there were fewer kills
than were asked for.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count, repeat
from multiprocessing import get_context
from pathlib import Path

from tallyard.ledger.store.engine import engine_of
from tallyard.ledger.store.migrating import migrate
from tests.ledger import postgresql
from tests.ledger.keepers import emptied
from tests.soak.ledger_life import Life
from tests.soak.ledger_model import LifeError
from tests.soak.ledger_points import Point

SEEDS, OPERATIONS, KILLS = 20, 100_000, 12
_MODULE = "tests.soak.ledger"


@dataclass(frozen=True)
class Asked:
    """What each life is to be."""

    operations: int
    kills: int
    store: str


@dataclass(frozen=True)
class Lived:
    """What became of a seed: a line about it, whether it failed, what was counted."""

    line: str
    has_failed: bool
    told: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    killed: Counter[tuple[Point, bool]] = field(default_factory=Counter)


def main() -> int:
    """Live each seed's life; return whether one failed or was not killed as often as asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--operations", type=int, default=OPERATIONS)
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--store", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    told = parser.parse_args()
    if told.seeds < 1:
        parser.error("--seeds: nothing would be shown by no life at all")
    asked = Asked(told.operations, told.kills, told.store)
    seeds = range(told.first, told.first + told.seeds)
    with tempfile.TemporaryDirectory() as folder, _stores(asked.store, Path(folder)) as addresses:
        # There is one PostgreSQL, which each life begins by emptying.
        jobs = told.jobs if asked.store == "sqlite" else 1
        with ThreadPoolExecutor(jobs) as threads:
            lives = []
            for lived in threads.map(partial(_apart, asked), seeds, addresses):
                print(lived.line, flush=True)
                lives.append(lived)
    return _summed_up(lives, asked.kills * told.seeds)


def _summed_up(lives: list[Lived], kills: int) -> int:
    """Print what all lives came to; return whether that is a failure."""
    failed = sum(lived.has_failed for lived in lives)
    kinds = sum((lived.kinds for lived in lives), Counter[str]())
    told = sum((lived.told for lived in lives), Counter[str]())
    killed = sum((lived.killed for lived in lives), Counter[tuple[Point, bool]]())
    print(", ".join(f"{name} {n:,}" for name, n in sorted(kinds.items())))
    if told:
        print(", ".join(f"{name}: {n}" for name, n in sorted(told.items())))
    print(f"{killed.total()} kills of {kills}")
    for point in Point:
        there, gone = killed[point, True], killed[point, False]
        print(f"  {there + gone} {point}: the group was there after {there}, not after {gone}")
    print(f"{len(lives)} seeds: {failed} failed")
    return 1 if failed or killed.total() < kills else 0


def _apart(asked: Asked, seed: int, address: str) -> Lived:
    """Live a life in a process of its own, which may end as it likes: the others go on."""
    try:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            return process.submit(_live, asked, seed, address).result()
    except Exception as error:  # noqa: BLE001 - such as one for which there was no memory
        return Lived(_failure(asked, seed, error), has_failed=True)


def _live(asked: Asked, seed: int, address: str) -> Lived:
    begin = time.monotonic()
    life = Life(seed, asked.operations, asked.kills, address)
    try:
        _make_empty(asked.store, address)
        life.run()
        line = (
            f"seed {seed}: {life.model.operations:,} operations, {life.model.books.seq:,} done, "
            f"{life.killed.total()} kills, journal {life.model.books.digest[:12]}, "
            f"{time.monotonic() - begin:.0f} s"
        )
        has_failed = False
    except Exception as error:  # noqa: BLE001 - whatever it is, it is told with its seed
        line, has_failed = _failure(asked, seed, error), True
    return Lived(line, has_failed, life.told, life.model.kinds, life.killed)


def _failure(asked: Asked, seed: int, error: Exception) -> str:
    """Return what happened in a life, where, and the command that lives it again."""
    is_told = isinstance(error, LifeError)
    what = str(error) if is_told else f"{type(error).__name__}: {error}"
    trace = "" if is_told else "".join(traceback.format_exception(error)).rstrip() + "\n"
    return (
        f"seed {seed}: FAILED: {what}\n{trace}"
        f"  again: .venv/bin/python -m {_MODULE} --first {seed} --seeds 1 "
        f"--operations {asked.operations} --kills {asked.kills} --store {asked.store}"
    )


def _make_empty(store: str, address: str) -> None:
    if store == "sqlite":
        Path(address).parent.mkdir()
        migrate(engine_of(address))
    else:
        emptied(engine_of(address))


@contextmanager
def _stores(kind: str, folder: Path) -> Iterator[Iterator[str]]:
    """Give the address of a store for each life."""
    if kind == "sqlite":
        # Each in a folder of its own, where its copies are too.
        yield (str(folder / str(number) / "ledger.db") for number in count())
        return
    with postgresql.running(folder / "postgresql") as server:
        migrate(engine_of(server.get_uri()))
        yield repeat(server.get_uri())


if __name__ == "__main__":
    sys.exit(main())
