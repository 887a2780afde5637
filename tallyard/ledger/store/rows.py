"""Rows of the tables and the values that they hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from sqlalchemy import Row

from tallyard.ledger.accounts import Account
from tallyard.ledger.commands import Purpose
from tallyard.ledger.entries import Entry, Kind
from tallyard.ledger.lots import Lot
from tallyard.ledger.records import FreezeRecord, Part, ProjectRecord
from tallyard.ledger.transactions import Transaction, command_of, command_text

_parts: msgspec.json.Decoder[tuple[Part, ...]] = msgspec.json.Decoder(tuple[Part, ...])
_shares: msgspec.json.Decoder[dict[str, int]] = msgspec.json.Decoder(dict[str, int])
_encoder = msgspec.json.Encoder(order="deterministic")
_LOT = [name for name in Lot.__struct_fields__ if name != "grant"]
_KINDS = {kind.value: kind for kind in Kind}

type Values = Mapping[str, Any]


def of_transaction(transaction: Transaction, digest: str) -> Values:
    """Return the row of a transaction."""
    return {
        "seq": transaction.seq,
        "key": transaction.command.key,
        "at": transaction.at,
        "command": command_text(transaction.command),
        "digest": digest,
        "rules": transaction.rules,
    }


def of_entries(transaction: Transaction) -> Iterable[Values]:
    """Yield the rows of a transaction's entries."""
    for number, entry in enumerate(transaction.entries):
        yield {
            "seq": transaction.seq,
            "number": number,
            "kind": entry.kind.value,
            "project": entry.account.project,
            "user_name": entry.account.user,
            "grant_id": entry.grant,
            "amount": entry.amount,
            "freeze": entry.freeze,
        }


def of_lot(account: Account, lot: Lot, *, is_ended: bool) -> Values:
    """Return the row of a lot."""
    key = {"project": account.project, "user_name": account.user, "grant_id": lot.grant}
    return {**key, "is_ended": is_ended, **{name: getattr(lot, name) for name in _LOT}}


def of_freeze(record: FreezeRecord) -> Values:
    """Return the row of a freeze."""
    values = {name: getattr(record, name) for name in record.__struct_fields__ if name != "user"}
    values["parts"] = _encoder.encode(record.parts).decode()
    return {**values, "user_name": record.user, "purpose": record.purpose.value}


def of_project(record: ProjectRecord) -> Values:
    """Return the row of a project."""
    shares = _encoder.encode(record.shares).decode()
    return {
        "id": record.id,
        "name": record.name,
        "shares": shares,
        "merged_into": record.merged_into,
    }


def transaction(row: Row[Any], entries: Iterable[Row[Any]]) -> Transaction:
    """Return the transaction of a row and its entries' rows, in their order.

    Raises:
        ValueError: The key beside the command is not the command's, its text is not what we would
            write, or an entry is missing.
    """
    command = command_of(row.command)
    if command.key != row.key:
        raise ValueError(f"its key is {row.key!r}, and that of its command {command.key!r}")
    if command_text(command) != row.command:
        raise ValueError(f"its command is written in another way than {command_text(command)}")
    found = list(entries)
    if [each.number for each in found] != list(range(len(found))):
        raise ValueError("its entries are not numbered from 0")
    return Transaction(row.seq, row.at, command, tuple(map(entry, found)), row.rules)


def entry(row: Row[Any]) -> Entry:
    """Return the entry of a row."""
    account = Account(row.project, row.user_name)
    return Entry(_KINDS[row.kind], account, row.grant_id, row.amount, row.freeze)


def lot(row: Row[Any]) -> tuple[Account, Lot]:
    """Return whose the lot of a row is, and the lot."""
    values = {name: getattr(row, name) for name in _LOT}
    values["has_rolled"] = bool(row.has_rolled)
    return Account(row.project, row.user_name), Lot(grant=row.grant_id, **values)


def freeze(row: Row[Any]) -> FreezeRecord:
    """Return the freeze of a row."""
    return FreezeRecord(
        id=row.id,
        project=row.project,
        user=row.user_name,
        queue=row.queue,
        job=row.job,
        seconds=row.seconds,
        purpose=Purpose(row.purpose),
        amount=row.amount,
        made=row.made,
        parts=_parts.decode(row.parts),
        is_open=bool(row.is_open),
        charged=row.charged,
        refunded=row.refunded,
    )


def project(row: Row[Any]) -> ProjectRecord:
    """Return the project of a row."""
    return ProjectRecord(row.id, row.name, _shares.decode(row.shares), row.merged_into)
