"""How many durable freezes a second the ledger makes, beside plain rows in the same databases.

Usage: .venv/bin/python benchmarks/ledger.py [RUNS]

Each run measures, one after the other, on the disk that holds the temporary folder:
  fsync     4 KiB appended to a file and brought to the disk: what nobody is faster than who
            goes to the disk for each freeze;
  rows      what a simple program would do, for each freeze one transaction: three conditional
            updates (user, project, cluster) and a row of a journal, SQLite and PostgreSQL;
  ours      the same freeze by `Store.do`, decided by all rules and written with its entries,
            one by one;
  grouped   ours in groups of 100, as a desk makes them of many who come at once;
  desk      32 threads that each wait for their own answer.
Of each it tells the time to an answer too, the middle one and that which 1 of 100 exceeds.
Both write WAL with full durability (SQLite `synchronous = FULL`, PostgreSQL
`synchronous_commit = on`); PostgreSQL runs on the same disk and is asked over a socket.

The bounds, for the medians of the runs: one by one ours reaches at least 0.15 of what plain rows
do, for it writes three times as many rows by twice as many statements, which is also what keeps
the books provable; grouped, which is how it is used, it makes at least one and a half times as many
as they do one by one; at a desk, where each waits for its own answer, at least half of theirs. What
bounds groups is the interpreter, a quarter of a millisecond for each freeze, so that the ratio falls
where the disk is fast: plain rows gain by it, and a group pays for the disk once.
"""

from __future__ import annotations

import os
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from itertools import batched, count
from pathlib import Path

import psycopg
from sqlalchemy import Engine

from tallyard.ledger.commands import Freeze, GrantCluster
from tallyard.ledger.store.desk import Desk
from tallyard.ledger.store.engine import engine_of
from tallyard.ledger.store.migrating import migrate
from tallyard.ledger.store.store import Done, Outcome, Store
from tests.ledger import postgresql
from tests.ledger.keepers import emptied
from tests.ledger.ledgers import DECEMBER, NOVEMBER, H, freeze_of, grant_of

RUNS_DEFAULT = 5
ONE_BY_ONE, GROUPED, GROUP = 300, 5_000, 100
THREADS = 32
ONE_RATIO_MIN, GROUPED_RATIO_MIN, DESK_RATIO_MIN = 0.15, 1.5, 0.5
_BLOCK = bytes(4096)
_TABLES = (
    "CREATE TABLE accounts (name TEXT PRIMARY KEY, available BIGINT, frozen BIGINT)",
    "CREATE TABLE journal (id TEXT PRIMARY KEY, project TEXT, person TEXT, amount BIGINT)",
)
_UPDATE = (
    "UPDATE accounts SET available = available - {0}, frozen = frozen + {0} "
    "WHERE name = {0} AND available >= {0}"
)
_ACCOUNTS = ("cluster", "nlp", "nlp/li.wei")
_PLENTY = 10**17

type Rates = defaultdict[str, list[float]]


def main() -> int:
    """Measure, print each figure with its ratio, and say whether the bounds hold."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS_DEFAULT
    rates: Rates = defaultdict(list)
    with (
        tempfile.TemporaryDirectory() as folder,
        postgresql.running(Path(folder) / "data") as server,
    ):
        for run in range(runs):
            _run(Path(folder) / str(run), server.get_uri(), rates)
            print(f"run {run + 1} of {runs}", file=sys.stderr)
    return _report(rates)


def _run(folder: Path, address: str, rates: Rates) -> None:
    folder.mkdir()
    rates["fsync"].append(_fsync(folder / "plain"))
    _rows_of_sqlite(folder / "rows.db", rates)
    _ours(engine_of(folder / "ours.db"), "SQLite", rates)
    _rows_of_postgresql(address, rates)
    _ours(engine_of(address), "PostgreSQL", rates)


def _rate(number: int, work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return number / (time.perf_counter() - begin)


def _fsync(file: Path) -> float:
    with file.open("wb") as out:

        def write() -> None:
            for _ in range(ONE_BY_ONE):
                out.write(_BLOCK)
                out.flush()
                os.fdatasync(out.fileno())

        return _rate(ONE_BY_ONE, write)


def _rows(kind: str, freeze: Callable[[int], object], rates: Rates) -> None:
    """Measure one freeze after the other, and each."""
    waits: list[float] = []

    def all_of_them() -> None:
        for number in range(ONE_BY_ONE):
            begin = time.perf_counter()
            freeze(number)
            waits.append(time.perf_counter() - begin)

    rates[f"rows, {kind}"].append(_rate(ONE_BY_ONE, all_of_them))
    _add_waits(rates, f"rows, {kind}", waits)


def _rows_of_sqlite(file: Path, rates: Rates) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        for pragma in ("journal_mode = WAL", "synchronous = FULL"):
            connection.execute(f"PRAGMA {pragma}")
        for table in _TABLES:
            connection.execute(table)
        accounts = [(name, _PLENTY, 0) for name in _ACCOUNTS]
        connection.executemany("INSERT INTO accounts VALUES (?, ?, ?)", accounts)

        def freeze(number: int) -> None:
            connection.execute("BEGIN IMMEDIATE")
            for name in _ACCOUNTS:
                connection.execute(_UPDATE.format("?"), (1, 1, name, 1))
            row = (f"f{number}", "nlp", "li.wei", 1)
            connection.execute("INSERT INTO journal VALUES (?, ?, ?, ?)", row)
            connection.execute("COMMIT")

        _rows("SQLite", freeze, rates)


def _rows_of_postgresql(address: str, rates: Rates) -> None:
    with psycopg.connect(address) as connection:
        connection.execute("SET synchronous_commit = on")
        connection.execute("DROP SCHEMA IF EXISTS plain CASCADE")
        connection.execute("CREATE SCHEMA plain")
        connection.execute("SET search_path = plain")
        for table in _TABLES:
            connection.execute(table)
        for name in _ACCOUNTS:
            connection.execute("INSERT INTO accounts VALUES (%s, %s, 0)", (name, _PLENTY))
        connection.commit()

        def freeze(number: int) -> None:
            for name in _ACCOUNTS:
                connection.execute(_UPDATE.format("%s"), (1, 1, name, 1))
            row = (f"f{number}", "nlp", "li.wei", 1)
            connection.execute("INSERT INTO journal VALUES (%s, %s, %s, %s)", row)
            connection.commit()

        _rows("PostgreSQL", freeze, rates)


def _ours(engine: Engine, kind: str, rates: Rates) -> None:
    migrate(engine)
    store = Store(emptied(engine), lambda: NOVEMBER)
    grants = (
        GrantCluster(key="c", grant="g", amount=_PLENTY, starts=NOVEMBER, expires=DECEMBER),
        grant_of("g", "nlp", _PLENTY // 10, {"li.wei": 100}, grant="g"),
    )
    store.do(grants)
    numbers = count()
    for name, wanted, size in (("ours", ONE_BY_ONE, 1), ("grouped", GROUPED, GROUP)):
        groups = list(batched(_freezes(numbers, wanted), size))
        waits: list[float] = []
        rates[f"{name}, {kind}"].append(_rate(wanted, partial(_do_groups, store, groups, waits)))
        _add_waits(rates, f"{name}, {kind}", waits)
    _desk(store, numbers, kind, rates)
    engine.dispose()


def _desk(store: Store, numbers: Iterator[int], kind: str, rates: Rates) -> None:
    desk = Desk(store)
    waits: list[float] = []

    def one(freeze: Freeze) -> None:
        begin = time.perf_counter()
        outcome = desk.do(freeze)
        waits.append(time.perf_counter() - begin)
        _require(outcome)

    freezes = list(_freezes(numbers, GROUPED // 2))
    with ThreadPoolExecutor(THREADS) as threads:
        rates[f"desk, {kind}"].append(_rate(len(freezes), lambda: list(threads.map(one, freezes))))
    _add_waits(rates, f"desk, {kind}", waits)


def _add_waits(rates: Rates, name: str, waits: list[float]) -> None:
    waits.sort()
    rates[f"p50 ms, {name}"].append(waits[len(waits) // 2] * 1000)
    rates[f"p99 ms, {name}"].append(waits[len(waits) * 99 // 100] * 1000)


def _freezes(numbers: Iterator[int], wanted: int) -> Iterator[Freeze]:
    for number, _ in zip(numbers, range(wanted), strict=False):
        yield freeze_of(f"k{number}", f"j{number}", H)


def _do_groups(store: Store, groups: Iterable[Sequence[Freeze]], waits: list[float]) -> None:
    for group in groups:
        begin = time.perf_counter()
        outcomes = store.do(group)
        waits.append(time.perf_counter() - begin)
        for outcome in outcomes:
            _require(outcome)


def _require(outcome: Outcome) -> None:
    if not isinstance(outcome, Done):
        raise TypeError(f"a freeze that fits was refused: {outcome}")


def _report(rates: Rates) -> int:
    middle = {name: statistics.median(found) for name, found in rates.items()}
    bound = middle["fsync"]
    print(f"{'fsync, 4 KiB':24} {bound:10,.0f} /s")
    is_good = True
    for kind in ("SQLite", "PostgreSQL"):
        rows = middle[f"rows, {kind}"]
        print(
            f"{f'rows, {kind}':24} {rows:10,.0f} /s  {rows / bound:6.2f} x fsync; "
            f"{_told_waits(middle, f'rows, {kind}')}"
        )
        for name, least in (
            ("ours", ONE_RATIO_MIN),
            ("grouped", GROUPED_RATIO_MIN),
            ("desk", DESK_RATIO_MIN),
        ):
            found = rates[f"{name}, {kind}"]
            ratios = [
                mine / theirs for mine, theirs in zip(found, rates[f"rows, {kind}"], strict=True)
            ]
            ratio = statistics.median(ratios)
            is_good &= ratio >= least
            print(
                f"{f'{name}, {kind}':24} {middle[f'{name}, {kind}']:10,.0f} /s  {ratio:6.2f} x rows "
                f"({min(ratios):.2f}-{max(ratios):.2f}, at least {least}); "
                f"{_told_waits(middle, f'{name}, {kind}')}"
            )
    return 0 if is_good else 1


def _told_waits(middle: Mapping[str, float], name: str) -> str:
    p50, p99 = (middle[f"{p} ms, {name}"] for p in ("p50", "p99"))
    return f"answered in p50 {p50:.1f} ms, p99 {p99:.1f} ms"


if __name__ == "__main__":
    sys.exit(main())
