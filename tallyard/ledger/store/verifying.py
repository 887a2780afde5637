"""Everything recounted from the journal: does the store hold what its entries say?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    Boolean,
    Connection,
    Engine,
    Integer,
    Table,
    func,
    inspect,
    select,
    text,
    type_coerce,
)

from tallyard.ledger.accounts import CLUSTER
from tallyard.ledger.books import Books
from tallyard.ledger.replaying import replay
from tallyard.ledger.store import reading, rows, schema
from tallyard.ledger.store.engine import is_sqlite, reads
from tallyard.ledger.store.faults import CorruptError

# More lines than this are of one cause.
FAULTS_MAX = 50


@dataclass(frozen=True)
class Verdict:
    """What was recounted and what is wrong; at most `FAULTS_MAX` faults are named."""

    transactions: int
    entries: int
    lots: int
    freezes: int
    digest: str
    faults: tuple[str, ...]


def verify(engine: Engine, tell: Callable[[int, int], None] = lambda *_: None) -> Verdict:
    """Decide the whole journal again and compare every balance, as of one moment.

    Args:
        engine: The store.
        tell: Told now and then how many transactions of how many were read.

    Raises:
        StoreError: It cannot be read.
    """
    books, faults = Books(), []
    with reads(engine) as connection:
        last = reading.head(connection)
        counted = _Counted(connection, last.seq, tell)
        for fault in _faults(connection, books, counted):
            faults.append(fault)
            if len(faults) == FAULTS_MAX:
                break
    lots = sum(map(len, books.lots.values())) + len(books.ended)
    return Verdict(
        counted.transactions, counted.entries, lots, len(books.freezes), books.digest, tuple(faults)
    )


class _Counted:
    """The journal, counted as it is read."""

    def __init__(self, connection: Connection, last: int, tell: Callable[[int, int], None]) -> None:
        self.transactions = self.entries = 0
        self._connection, self._last, self._tell = connection, last, tell

    def __iter__(self) -> Iterator[Any]:
        for transaction, digest in reading.journal(self._connection):
            self.transactions += 1
            self.entries += len(transaction.entries)
            self._tell(self.transactions, self._last)
            yield transaction, digest


def _faults(connection: Connection, books: Books, journal: _Counted) -> Iterator[str]:
    if is_sqlite(connection):
        said = [row[0] for row in connection.execute(text("PRAGMA integrity_check"))]
        yield from (f"SQLite: {line}" for line in said if line != "ok")
    yield from _strangers(connection)
    try:
        yield from replay(books, journal)
    except CorruptError as error:
        # What comes after it cannot be judged.
        yield error.why
        return
    for table, count in (
        (schema.transactions, journal.transactions),
        (schema.entries, journal.entries),
    ):
        found = connection.execute(select(func.count()).select_from(table)).scalar_one()
        if found != count:
            yield f"{table.name}: {found} rows are there, and {count} are of the journal"
    last = reading.head(connection)
    if (last.seq, last.at, last.digest) != (books.seq, books.at, books.digest):
        yield f"the head is at {last.seq}, and the journal ends at {books.seq}"
    yield from _compared(connection, schema.lots, _lots(books))
    yield from _compared(connection, schema.freezes, _freezes(books))
    yield from _compared(connection, schema.debts, _debts(books))
    yield from _compared(connection, schema.projects, _projects(books))
    yield from _compared(connection, schema.prices, _prices(books))


def _strangers(connection: Connection) -> Iterator[str]:
    """Yield what the tables have that is not ours and changes what is written, or lack."""
    triggers = (
        "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        if is_sqlite(connection)
        else "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal"
    )
    for name in connection.execute(text(triggers)).scalars():
        yield f"a trigger {name} is there, which is not ours"
    inspector = inspect(connection)
    for table in schema.metadata.sorted_tables:
        found = {index["name"] for index in inspector.get_indexes(table.name)}
        for index in table.indexes:
            if index.name not in found:
                yield f"{table.name}: the index {index.name} is missing"


type _Rows = Mapping[tuple[Any, ...], Mapping[str, Any]]


def _compared(connection: Connection, table: Table, wanted: _Rows) -> Iterator[str]:
    """Yield where the rows of a table are not those that the journal comes to."""
    keys = [column.name for column in table.primary_key]
    # A truth is compared as the number that stands there, for SQLite takes any.
    columns = (
        type_coerce(c, Integer).label(c.name) if isinstance(c.type, Boolean) else c for c in table.c
    )
    found = {
        tuple(row[key] for key in keys): dict(row)
        for row in connection.execute(select(*columns)).mappings()
    }
    for key in sorted(found.keys() | wanted.keys(), key=str):
        parts = (key[0] or CLUSTER, *(part for part in key[1:] if part))
        where = f"{table.name} {'/'.join(map(str, parts))}"
        if key not in found:
            yield f"{where}: the journal has it, the table has not"
        elif key not in wanted:
            yield f"{where}: the table has it, the journal has not"
        else:
            for name, value in wanted[key].items():
                if found[key][name] != value:
                    yield f"{where}: {name} is {found[key][name]}, and by the journal {value}"


def _keyed(table: Table, values: Iterator[Mapping[str, Any]]) -> _Rows:
    keys = [column.name for column in table.primary_key]
    return {tuple(row[key] for key in keys): row for row in values}


def _lots(books: Books) -> _Rows:
    live = ((a, lot, False) for a, lots in books.lots.items() for lot in lots.values())
    ended = ((a, lot, True) for (a, _), lot in books.ended.items())
    every = (*live, *ended)
    return _keyed(
        schema.lots, (rows.of_lot(a, lot, is_ended=is_ended) for a, lot, is_ended in every)
    )


def _freezes(books: Books) -> _Rows:
    return _keyed(schema.freezes, map(rows.of_freeze, books.freezes.values()))


def _debts(books: Books) -> _Rows:
    return _keyed(
        schema.debts,
        (
            {"project": a.project, "user_name": a.user, "amount": amount}
            for a, amount in books.owed.items()
        ),
    )


def _projects(books: Books) -> _Rows:
    return _keyed(schema.projects, map(rows.of_project, books.projects.values()))


def _prices(books: Books) -> _Rows:
    return _keyed(
        schema.prices,
        (
            {"model": model, "since": rate.since, "rate_milli": rate.rate_milli}
            for model, rates in books.prices.items()
            for rate in rates
        ),
    )
