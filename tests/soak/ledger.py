"""A ledger under random operations and real kills: is anything ever lost, doubled, negative?

Usage: .venv/bin/python -m tests.soak.ledger [--seeds N] [--first N] [--operations N] [--kills N]
                                             [--store sqlite|postgresql] [--jobs N]

Each seed is a life of its own (20 seeds of 100,000 operations, 12 kills each). It is done by a
process that is killed with SIGKILL at drawn moments, in half of the cases with a torn record at
the end of its log, and by books in memory, with every invariant looked at after each operation.
Both journals must be the same, byte for byte; a full disk, a read-only store and a torn page
are told.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count, repeat
from pathlib import Path

from tallyard.ledger.store.engine import engine_of
from tallyard.ledger.store.migrating import migrate
from tests.ledger import postgresql
from tests.ledger.keepers import emptied
from tests.soak.ledger_life import Life, LifeError

SEEDS, OPERATIONS, KILLS = 20, 100_000, 12
_MODULE = "tests.soak.ledger"


@dataclass(frozen=True)
class Lived:
    """What became of a seed: a line about it, whether it failed, what was counted."""

    line: str
    has_failed: bool
    told: Counter[str]
    kinds: Counter[str]


def main() -> int:
    """Live each seed's life; return how many failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--operations", type=int, default=OPERATIONS)
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--store", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    failed, told, kinds = 0, Counter[str](), Counter[str]()
    seeds = range(asked.first, asked.first + asked.seeds)
    with tempfile.TemporaryDirectory() as folder, _stores(asked.store, Path(folder)) as addresses:
        # There is one PostgreSQL, which each life begins by emptying.
        jobs = asked.jobs if asked.store == "sqlite" else 1
        with ProcessPoolExecutor(jobs) as processes:
            each = partial(_live, asked.operations, asked.kills, asked.store)
            for lived in processes.map(each, seeds, addresses):
                print(lived.line, flush=True)
                failed += lived.has_failed
                told += lived.told
                kinds += lived.kinds
    print(", ".join(f"{name} {n:,}" for name, n in sorted(kinds.items())))
    print(", ".join(f"{name}: {n}" for name, n in sorted(told.items())))
    print(f"{asked.seeds} seeds: {failed} failed")
    return 1 if failed else 0


def _live(operations: int, kills: int, store: str, seed: int, address: str) -> Lived:
    begin = time.monotonic()
    if store == "sqlite":
        Path(address).parent.mkdir()
        migrate(engine_of(address))
    else:
        emptied(engine_of(address))
    life = Life(seed, operations, kills, address)
    try:
        life.run()
    except LifeError as error:
        line = (
            f"seed {seed}: {error}\n"
            f"  again: .venv/bin/python -m {_MODULE} --first {seed} --seeds 1 "
            f"--operations {operations} --kills {kills} --store {store}"
        )
        return Lived(line, has_failed=True, told=life.told, kinds=life.model.kinds)
    line = (
        f"seed {seed}: {life.model.operations:,} operations, {life.model.books.seq:,} done, "
        f"{life.told['kills']} kills, journal {life.model.books.digest[:12]}, "
        f"{time.monotonic() - begin:.0f} s"
    )
    return Lived(line, has_failed=False, told=life.told, kinds=life.model.kinds)


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
