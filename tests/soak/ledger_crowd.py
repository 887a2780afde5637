"""Many processes freeze at once in one PostgreSQL: is a quota, a share or a cap ever exceeded?

Usage: .venv/bin/python -m tests.soak.ledger_crowd [--processes N] [--freezes N]   (32 of 1,000)

All processes freeze for the same two projects, so most of it cannot fit; some freezes are settled
again, and each process says one key of its own and one that all of them say. In the end the
journal is decided again one by one, in the order of its commits: that is the serial model.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from tallyard.ledger.accounts import CLUSTER, Account
from tallyard.ledger.books import Books
from tallyard.ledger.commands import AnyCommand, GrantCluster, Settle
from tallyard.ledger.store import reading
from tallyard.ledger.store.engine import engine_of, reads
from tallyard.ledger.store.migrating import migrate
from tallyard.ledger.store.store import Done, Outcome, Store
from tallyard.ledger.store.verifying import verify
from tests.ledger import postgresql
from tests.ledger.ledgers import CAP, DECEMBER, NOVEMBER, H, freeze_of, grant_of

PROCESSES, FREEZES = 32, 1000
PROJECTS = ("nlp", "vision")
USERS = ("li.wei", "chen.yu")
QUEUES = ("training", "inference", "shared", "domestic")
SHARED_KEY = "everybody's"


@dataclass(frozen=True)
class Result:
    """What a crowd came to."""

    told: Counter[str]
    seconds: float
    faults: tuple[str, ...]


def crowd(address: str, processes: int, freezes: int) -> Result:
    """Let processes freeze in an empty store of PostgreSQL.

    Args:
        address: The database.
        processes: How many work at once.
        freezes: How many freezes each asks for.
    """
    # A tenth of what will be asked for.
    grant = processes * freezes * H // 2
    begin: list[AnyCommand] = [
        GrantCluster(
            key="cluster", grant="2026-11", amount=grant * 7 // 4, starts=NOVEMBER, expires=DECEMBER
        ),
        *(grant_of(p, p, grant, {"li.wei": 100, "chen.yu": 40}) for p in PROJECTS),
    ]
    Store(engine_of(address), lambda: NOVEMBER).do(begin)
    started = time.monotonic()
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        works = [pool.submit(_work, address, n, freezes) for n in range(processes)]
        told = sum((work.result() for work in works), Counter[str]())
    seconds = time.monotonic() - started
    return Result(told, seconds, tuple(_faults(address, told, processes, grant)))


def _work(address: str, number: int, freezes: int) -> Counter[str]:
    chance = random.Random(number)  # noqa: S311 - reproducible, nothing secret
    store = Store(engine_of(address), lambda: NOVEMBER)
    told = Counter[str]()
    told += Counter([_said(store.do([freeze_of(SHARED_KEY, "shared-job", H)])[0])])
    mine: list[str] = []
    for n in range(freezes):
        name = f"p{number}-{n}"
        amount = chance.randrange(1, 20 * H)
        freeze = freeze_of(
            f"freeze/{name}",
            name,
            amount,
            project=chance.choice(PROJECTS),
            user=chance.choice(USERS),
            queue=chance.choice(QUEUES),
        )
        (outcome,) = store.do([freeze])
        told[_said(outcome)] += 1
        if isinstance(outcome, Done):
            mine.append(name)
            (again,) = store.do([freeze])
            told[_said(again)] += 1
        if mine and chance.random() < 0.3:
            which = mine.pop()
            store.do([Settle(key=f"settle/{which}", freeze=which, amount=0)])
    store.engine.dispose()
    return told


def _said(outcome: Outcome) -> str:
    if isinstance(outcome, Done):
        return "repeated" if outcome.is_repeat else "frozen"
    return type(outcome).__name__


def _faults(address: str, told: Counter[str], processes: int, grant: int) -> list[str]:
    engine = engine_of(address)
    faults = list(verify(engine).faults)
    books, frozen = Books(), 0
    with reads(engine) as connection:
        for transaction, _ in reading.journal(connection):
            books.apply(transaction)
            faults += _exceeded(books, transaction.seq, grant * CAP // 100)
            frozen += transaction.command.key.startswith("freeze/")
            frozen += transaction.command.key == SHARED_KEY
    if frozen != told["frozen"]:
        faults.append(f"{told['frozen']} freezes were answered and {frozen} are in the journal")
    if told["repeated"] != frozen - 1 + processes - 1:
        faults.append(f"{told['repeated']} answers were repeats, of {frozen} freezes")
    return faults[:10]


def _exceeded(books: Books, seq: int, cap: int) -> list[str]:
    """Return which bound does not hold after a transaction."""
    accounts = (CLUSTER, *(Account(p, u) for p in PROJECTS for u in ("", *USERS)))
    faults = [
        f"after {seq}: {account} has {lot.available}"
        for account in accounts
        for lot in books.lots_of(account)
        if lot.available < 0
    ]
    faults += [
        f"after {seq}: {queue} has {frozen} frozen of {cap}"
        for queue, frozen in books.queue_frozen.items()
        if frozen > cap
    ]
    return faults


def main() -> int:
    """Let the crowd in; return whether something was exceeded."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=PROCESSES)
    parser.add_argument("--freezes", type=int, default=FREEZES)
    asked = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        postgresql.running(Path(folder) / "data") as server,
    ):
        migrate(engine_of(server.get_uri()))
        result = crowd(server.get_uri(), asked.processes, asked.freezes)
    print(", ".join(f"{name} {n:,}" for name, n in sorted(result.told.items())))
    for fault in result.faults:
        print(fault)
    print(
        f"{asked.processes} processes of {asked.freezes:,} freezes in {result.seconds:.0f} s: "
        f"{len(result.faults)} faults"
    )
    return 1 if result.faults else 0


if __name__ == "__main__":
    sys.exit(main())
