"""The books out of the tables, and the journal in its order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import batched
from typing import Any

import msgspec
from sqlalchemy import BindParameter, Connection, Row, bindparam, select

from tallyard.ledger.accounts import Account
from tallyard.ledger.books import Books
from tallyard.ledger.records import FreezeRecord, Rate
from tallyard.ledger.store import rows, schema, whys
from tallyard.ledger.store.faults import CorruptError
from tallyard.ledger.transactions import Transaction

# What one statement asks for at a time; SQLite allows some 32,000 values in one.
_KEYS_PER_STATEMENT = 1000
# How many transactions are in memory at a time while the journal is read.
_PAGE = 1000

# Made once: a statement takes longer to make than SQLite takes to run it.
_HEAD = select(schema.head)
_HEAD_HELD = _HEAD.with_for_update()
_some: BindParameter[Any] = bindparam("some", expanding=True)
_FREEZES = select(schema.freezes).where(schema.freezes.c.id.in_(_some))
_BY_KEYS = select(schema.transactions).where(schema.transactions.c.key.in_(_some))
_ENTRIES = (
    select(schema.entries)
    .where(schema.entries.c.seq.in_(_some))
    .order_by(schema.entries.c.seq, schema.entries.c.number)
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
    found = connection.execute(_HEAD_HELD if for_writing else _HEAD).first()
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
    for some in batched(ids, _KEYS_PER_STATEMENT):
        for row in connection.execute(_FREEZES, {"some": some}):
            yield _freeze(row)


def by_keys(connection: Connection, keys: Collection[str]) -> dict[str, Transaction]:
    """Return the transactions that were done by these keys."""
    found = {}
    for some in batched(keys, _KEYS_PER_STATEMENT):
        transactions = connection.execute(_BY_KEYS, {"some": some}).all()
        found.update({t.command.key: t for t, _ in _with_entries(connection, transactions)})
    return found


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


def _freeze(row: Row[Any]) -> FreezeRecord:
    try:
        return rows.freeze(row)
    except (msgspec.MsgspecError, TypeError, ValueError) as error:
        raise CorruptError(whys.BAD_ROW(error)) from error


def _with_entries(
    connection: Connection, found: Sequence[Row[Any]]
) -> Iterator[tuple[Transaction, str]]:
    entries: defaultdict[int, list[Row[Any]]] = defaultdict(list)
    for some in batched([row.seq for row in found], _KEYS_PER_STATEMENT):
        for row in connection.execute(_ENTRIES, {"some": some}):
            entries[row.seq].append(row)
    for row in found:
        try:
            yield rows.transaction(row, entries[row.seq]), row.digest
        except (msgspec.MsgspecError, KeyError, TypeError, ValueError) as error:
            raise CorruptError(whys.UNREADABLE(row.seq, error)) from error
