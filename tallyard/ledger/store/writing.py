"""What a group of transactions changes, written at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import Connection, Insert, Table, bindparam, insert, update
from sqlalchemy.dialects import postgresql, sqlite

from tallyard.ledger.books import Books
from tallyard.ledger.commands import (
    GrantProject,
    Merge,
    MoveUser,
    Regrant,
    Rename,
    SetPrice,
    freezes_of,
)
from tallyard.ledger.entries import Kind
from tallyard.ledger.store import prepared, rows, schema
from tallyard.ledger.store.engine import is_sqlite
from tallyard.ledger.store.rows import Values
from tallyard.ledger.transactions import Transaction

# What changes a project's name, shares or place.
_OF_PROJECTS = (GrantProject, Regrant, Rename, MoveUser, Merge)

# Made once, as those below: a statement takes longer to make than SQLite takes to run it.
_HEAD = update(schema.head).values(
    seq=bindparam("new_seq"), at=bindparam("new_at"), digest=bindparam("new_digest")
)

type Done = Sequence[tuple[Transaction, str]]


def write(connection: Connection, books: Books, done: Done) -> None:
    """Write transactions, each with its digest, and the balances that the books have after them."""
    transactions = [transaction for transaction, _ in done]
    _add(connection, schema.transactions, [rows.of_transaction(t, d) for t, d in done])
    _add(connection, schema.entries, [row for t in transactions for row in rows.of_entries(t)])
    put(connection, schema.lots, _lots(books))
    put(connection, schema.freezes, _freezes(books, transactions))
    put(connection, schema.debts, _debts(books, transactions))
    put(connection, schema.projects, _projects(books, transactions))
    put(connection, schema.prices, _prices(books, transactions))
    last = {"new_seq": books.seq, "new_at": books.at, "new_digest": books.digest}
    prepared.run(connection, _HEAD, [last])


def put(connection: Connection, table: Table, values: Sequence[Values]) -> None:
    """Write rows over those of the same primary key; they all name the same columns."""
    if values:
        is_file = is_sqlite(connection)
        prepared.run(connection, _upsert(table, is_file=is_file), values)


def _lots(books: Books) -> list[Values]:
    found = []
    for account, grant in sorted(books.changed):
        if lot := books.lot(account, grant):
            found.append(rows.of_lot(account, lot, is_ended=False))
        else:
            ended = books.ended[account, grant]
            found.append(rows.of_lot(account, ended, is_ended=True))
    return found


def _freezes(books: Books, transactions: Sequence[Transaction]) -> list[Values]:
    ids = dict.fromkeys(
        each for transaction in transactions for each in freezes_of(transaction.command)
    )
    return [rows.of_freeze(books.freezes[each]) for each in ids]


def _debts(books: Books, transactions: Sequence[Transaction]) -> list[Values]:
    accounts = {
        entry.account
        for transaction in transactions
        for entry in transaction.entries
        if entry.kind in (Kind.OWE, Kind.REPAY)
    }
    return [
        {"project": a.project, "user_name": a.user, "amount": books.debt(a)}
        for a in sorted(accounts)
    ]


def _projects(books: Books, transactions: Sequence[Transaction]) -> list[Values]:
    names = {
        name
        for transaction in transactions
        if isinstance(transaction.command, _OF_PROJECTS)
        for field in ("project", "source", "target")
        if (name := getattr(transaction.command, field, None)) in books.projects
    }
    return [rows.of_project(books.projects[name]) for name in sorted(names)]


def _prices(books: Books, transactions: Sequence[Transaction]) -> list[Values]:
    models = {t.command.model for t in transactions if isinstance(t.command, SetPrice)}
    return [
        {"model": model, "since": rate.since, "rate_milli": rate.rate_milli}
        for model in sorted(models)
        for rate in books.prices[model]
    ]


def _add(connection: Connection, table: Table, values: Sequence[Values]) -> None:
    if values:
        prepared.run(connection, _insert(table), values)


@cache
def _insert(table: Table) -> Insert:
    return insert(table)


@cache
def _upsert(table: Table, *, is_file: bool) -> Insert:
    # Two classes with the same method.
    dialect: Any = sqlite if is_file else postgresql
    statement = dialect.insert(table)
    keys = {column.name for column in table.primary_key}
    others = {c.name: statement.excluded[c.name] for c in table.columns if c.name not in keys}
    found: Insert = statement.on_conflict_do_update(index_elements=sorted(keys), set_=others)
    return found
