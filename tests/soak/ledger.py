"""A ledger under random operations and real kills: is anything ever lost, doubled, negative?

Usage: .venv/bin/python -m tests.soak.ledger [--seeds N] [--first N] [--operations N] [--kills N]
                                             [--store sqlite|postgresql]

Each seed is a life of its own (20 seeds of 100,000 operations, 12 kills each). It is done by a
process that is killed with SIGKILL at drawn moments, in half of the cases with a torn record at
the end of its log, and by books in memory, with every invariant looked at after each operation.
Both journals must be the same, byte for byte; a full disk, a read-only store and a torn page
are told.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tallyard.ledger.store.engine import engine_of
from tallyard.ledger.store.migrating import migrate
from tests.ledger import postgresql
from tests.ledger.keepers import emptied
from tests.soak.ledger_life import Life, LifeError

SEEDS, OPERATIONS, KILLS = 20, 100_000, 12
_MODULE = "tests.soak.ledger"


def main() -> int:
    """Live each seed's life; return how many failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--operations", type=int, default=OPERATIONS)
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--store", choices=["sqlite", "postgresql"], default="sqlite")
    asked = parser.parse_args()
    failed, told, kinds = 0, Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory() as folder, _stores(asked.store, Path(folder)) as addresses:
        for seed in range(asked.first, asked.first + asked.seeds):
            begin = time.monotonic()
            life = Life(seed, asked.operations, asked.kills, next(addresses))
            try:
                life.run()
            except LifeError as error:
                failed += 1
                print(f"seed {seed}: {error}")
                print(
                    f"  again: .venv/bin/python -m {_MODULE} --first {seed} --seeds 1 "
                    f"--operations {asked.operations} --kills {asked.kills} --store {asked.store}"
                )
            else:
                seconds = time.monotonic() - begin
                print(
                    f"seed {seed}: {life.model.operations:,} operations, "
                    f"{life.model.books.seq:,} done, {life.told['kills']} kills, "
                    f"journal {life.model.books.digest[:12]}, {seconds:.0f} s",
                    flush=True,
                )
            told += life.told
            kinds += life.model.kinds
    print(", ".join(f"{name} {n:,}" for name, n in sorted(kinds.items())))
    print(", ".join(f"{name}: {n}" for name, n in sorted(told.items())))
    print(f"{asked.seeds} seeds: {failed} failed")
    return 1 if failed else 0


@contextmanager
def _stores(kind: str, folder: Path) -> Iterator[Iterator[str]]:
    """Give empty stores, one after another."""
    if kind == "sqlite":
        yield (_migrated(str(folder / f"{n}.db")) for n in range(10**6))
        return
    with postgresql.running(folder / "postgresql") as server:
        address = server.get_uri()
        engine = engine_of(_migrated(address))
        yield (str(emptied(engine) and address) for _ in range(10**6))


def _migrated(address: str) -> str:
    migrate(engine_of(address))
    return address


if __name__ == "__main__":
    sys.exit(main())
