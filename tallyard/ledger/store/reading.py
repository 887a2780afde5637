"""The books out of the tables, and the journal in its order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import batched
from typing import Any

import msgspec
from sqlalchemy import Column, Connection, Row, Select, bindparam, select

from tallyard.ledger.accounts import Account
from tallyard.ledger.books import Books
from tallyard.ledger.records import FreezeRecord, Rate
from tallyard.ledger.store import prepared, rows, schema, whys
from tallyard.ledger.store.faults import CorruptError
from tallyard.ledger.transactions import Transaction
from tallyard.ledger.work import Work

# How many values a statement asks for at a time: it is made once for each of these numbers.
# SQLite allows some 32,000 in one.
_NUMBERS = (1, 10, 100, 1000)
# How many transactions are in memory at a time while the journal is read.
_PAGE = 1000

# Made once: a statement takes longer to make than SQLite takes to run it.
_HEAD = select(schema.head)
_HEAD_HELD = _HEAD.with_for_update()
_FREEZES = select(schema.freezes), schema.freezes.c.id
_BY_KEYS = select(schema.transactions), schema.transactions.c.key
_ENTRIES = (
    select(schema.entries).order_by(schema.entries.c.seq, schema.entries.c.number),
    schema.entries.c.seq,
)
_JOURNAL = (
    select(schema.transactions)
    .where(schema.transactions.c.seq > bindparam("after"))
    .where(schema.transactions.c.seq <= bindparam("until"))
    .order_by(schema.transactions.c.seq)
    .limit(_PAGE)
)
_SEQ_MAX = 2**63 - 1


def head(connection: Connection, *, for_writing: bool = False) -> Row[Any]:
    """Return the last transaction's number, moment and digest; a writer holds the row.

    Raises:
        CorruptError: There is no such row.
    """
    found = prepared.rows(connection, _HEAD_HELD if for_writing else _HEAD).first()
    if found is None:
        raise CorruptError(whys.NO_HEAD)
    return found


def books(connection: Connection) -> Books:
    """Return the books as the tables have them, without what has ended."""
    found, last = Books(), head(connection)
    found.seq, found.at, found.digest = last.seq, last.at, last.digest
    for row in connection.execute(select(schema.lots).where(~schema.lots.c.is_ended)):
        account, lot = rows.lot(row)
        found.add_lot(account, lot)
    names = select(schema.lots.c.project, schema.lots.c.grant_id)
    for row in connection.execute(names.where(schema.lots.c.user_name == "")):
        found.grants.add((Account(row.project), row.grant_id))
    for row in connection.execute(select(schema.freezes).where(schema.freezes.c.is_open)):
        found.remember(_freeze(row))
    for row in connection.execute(select(schema.debts)):
        found.owed[Account(row.project, row.user_name)] = row.amount
    for row in connection.execute(select(schema.projects)):
        found.projects[row.id] = rows.project(row)
    ordered = select(schema.prices).order_by(schema.prices.c.model, schema.prices.c.since)
    for row in connection.execute(ordered):
        found.prices.setdefault(row.model, []).append(Rate(row.since, row.rate_milli))
    return found


def freezes(connection: Connection, ids: Collection[str]) -> Iterator[FreezeRecord]:
    """Yield the freezes of these ids that there are, open or not."""
    yield from map(_freeze, _among(connection, _FREEZES, ids))


def records(found: Iterable[Row[Any]]) -> Iterator[FreezeRecord]:
    """Yield the freezes of rows.

    Raises:
        CorruptError: One cannot be read as what it should be.
    """
    yield from map(_freeze, found)


def freezes_of(connection: Connection, work: Work) -> list[FreezeRecord]:
    """Return all freezes of some work, open or not."""
    # It has an end, and those two, or none, and windows; those can only be found by looking at all.
    if found := list(freezes(connection, (work.job, work.wait))):
        return found
    ids = schema.freezes.c.id
    windows = ids.startswith(work.windows, autoescape=True)
    return [*records(connection.execute(select(schema.freezes).where(windows)))]


def by_keys(connection: Connection, keys: Collection[str]) -> dict[str, Transaction]:
    """Return the transactions that were done by these keys."""
    transactions = list(_among(connection, _BY_KEYS, keys))
    return {t.command.key: t for t, _ in _with_entries(connection, transactions)}


def journal(
    connection: Connection, after: int = 0, until: int = _SEQ_MAX
) -> Iterator[tuple[Transaction, str]]:
    """Yield the transactions after a number, each with the digest that stands beside it.

    Raises:
        CorruptError: A row cannot be read as what it should be.
    """
    while after < until:
        page = connection.execute(_JOURNAL, {"after": after, "until": until}).all()
        if not page:
            return
        yield from _with_entries(connection, page)
        after = page[-1].seq


def journal_with_freezes(
    connection: Connection, since: int, until: int
) -> Iterator[tuple[Transaction, Mapping[str, FreezeRecord]]]:
    """Yield the transactions of a time, each with the freezes that its entries name.

    Args:
        connection: Of a reader, so that all is of one moment.
        since: The first second of the time.
        until: The first one after it.

    Raises:
        CorruptError: A row cannot be read as what it should be.
    """
    found = (t for t, _ in journal(connection) if since <= t.at < until)
    for some in batched(found, _PAGE):
        ids = {entry.freeze for each in some for entry in each.entries if entry.freeze}
        records = {record.id: record for record in freezes(connection, sorted(ids))}
        yield from ((each, records) for each in some)


def project_names(connection: Connection) -> Mapping[str, str]:
    """Return what each project is called now, by its id."""
    return {row.id: row.name for row in connection.execute(select(schema.projects))}


def _among(
    connection: Connection, wanted: tuple[Select[Any], Column[Any]], values: Collection[object]
) -> Iterator[Row[Any]]:
    """Yield the rows that have one of the values in a column."""
    for some in batched(values, _NUMBERS[-1]):
        number = next(number for number in _NUMBERS if number >= len(some))
        # The last one again, to fill the statement up, finds nothing more.
        filled = some + some[-1:] * (number - len(some))
        names = dict(zip(_names(number), filled, strict=True))
        yield from prepared.rows(connection, _among_so_many(*wanted, number), names)


@cache
def _among_so_many(statement: Select[Any], column: Column[Any], number: int) -> Select[Any]:
    return statement.where(column.in_([bindparam(name) for name in _names(number)]))


@cache
def _names(number: int) -> Sequence[str]:
    return [f"value_{each}" for each in range(number)]


def _freeze(row: Row[Any]) -> FreezeRecord:
    try:
        return rows.freeze(row)
    except (msgspec.MsgspecError, TypeError, ValueError) as error:
        raise CorruptError(whys.BAD_ROW(error)) from error


def _with_entries(
    connection: Connection, found: Sequence[Row[Any]]
) -> Iterator[tuple[Transaction, str]]:
    entries: defaultdict[int, list[Row[Any]]] = defaultdict(list)
    for row in _among(connection, _ENTRIES, [row.seq for row in found]):
        entries[row.seq].append(row)
    for row in found:
        try:
            yield rows.transaction(row, entries[row.seq]), row.digest
        except (msgspec.MsgspecError, KeyError, TypeError, ValueError) as error:
            raise CorruptError(whys.UNREADABLE(row.seq, error)) from error
