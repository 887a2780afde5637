"""The books out of the tables, and the journal in its order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from itertools import batched
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, Select, select

from tallyard.ledger.accounts import Account
from tallyard.ledger.books import Books
from tallyard.ledger.records import FreezeRecord, Rate
from tallyard.ledger.store import rows, schema
from tallyard.ledger.store.faults import CorruptError
from tallyard.ledger.transactions import Transaction

# What one statement asks for at a time; SQLite allows some 32,000 values in one.
_KEYS_PER_STATEMENT = 1000
# How many transactions are in memory at a time while the journal is read.
_PAGE = 1000


def head(connection: Connection, *, for_writing: bool = False) -> Row[Any]:
    """Return the last transaction's number, moment and digest; a writer holds the row.

    Raises:
        CorruptError: There is no such row.
    """
    statement = select(schema.head)
    found = connection.execute(statement.with_for_update() if for_writing else statement).first()
    if found is None:
        raise CorruptError("the table head is empty")
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
        found.remember(rows.freeze(row))
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
        statement = select(schema.freezes).where(schema.freezes.c.id.in_(some))
        yield from map(rows.freeze, connection.execute(statement))


def by_keys(connection: Connection, keys: Collection[str]) -> dict[str, Transaction]:
    """Return the transactions that were done by these keys."""
    found = {}
    for some in batched(keys, _KEYS_PER_STATEMENT):
        where = select(schema.transactions).where(schema.transactions.c.key.in_(some))
        found.update({t.command.key: t for t, _ in _with_entries(connection, where)})
    return found


def journal(
    connection: Connection, after: int = 0, until: int | None = None
) -> Iterator[tuple[Transaction, str]]:
    """Yield the transactions after a number, each with the digest that stands beside it.

    Raises:
        CorruptError: A row cannot be read as what it should be.
    """
    table = schema.transactions
    while True:
        page = select(table).where(table.c.seq > after).order_by(table.c.seq).limit(_PAGE)
        if until is not None:
            page = page.where(table.c.seq <= until)
        last = after
        for transaction, digest in _with_entries(connection, page):
            last = transaction.seq
            yield transaction, digest
        if last == after:
            return
        after = last


def _with_entries(
    connection: Connection, statement: Select[Any]
) -> Iterator[tuple[Transaction, str]]:
    found = connection.execute(statement).all()
    if not found:
        return
    entries: defaultdict[int, list[Row[Any]]] = defaultdict(list)
    table = schema.entries
    for some in batched([row.seq for row in found], _KEYS_PER_STATEMENT):
        theirs = select(table).where(table.c.seq.in_(some)).order_by(table.c.seq, table.c.number)
        for row in connection.execute(theirs):
            entries[row.seq].append(row)
    for row in found:
        try:
            yield rows.transaction(row, entries[row.seq]), row.digest
        except (msgspec.MsgspecError, KeyError, TypeError, ValueError) as error:
            raise CorruptError(f"transaction {row.seq} cannot be read: {error}") from error
