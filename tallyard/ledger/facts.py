"""What a transaction changes beside balances: which grants there are, freezes, names, prices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tallyard.ledger.accounts import Account
from tallyard.ledger.commands import (
    Adjust,
    Expire,
    Freeze,
    FreezePart,
    GrantCluster,
    GrantProject,
    Merge,
    MoveUser,
    Reduce,
    Refund,
    Regrant,
    Rename,
    Repay,
    SetPrice,
    Settle,
    Share,
)
from tallyard.ledger.entries import Entry, Kind
from tallyard.ledger.lots import Lot
from tallyard.ledger.records import FreezeRecord, Part, ProjectRecord, Rate
from tallyard.ledger.transactions import Transaction

if TYPE_CHECKING:
    from tallyard.ledger.books import Books

# What may come into an account before it has such a grant.
_FILLING = (Kind.GRANT, Kind.ADJUST, Kind.REFUND)


def before(books: Books, transaction: Transaction) -> None:
    """Make the grants that the entries will fill."""
    command = transaction.command
    for entry in transaction.entries:
        if entry.kind in _FILLING and not books.lot(entry.account, entry.grant):
            books.add_lot(entry.account, _new_lot(books, command, entry))


def after(books: Books, transaction: Transaction) -> None:
    """Remember what the command says and no entry does."""
    if remember := _FACTS.get(type(transaction.command)):
        remember(books, transaction.command, transaction)


def merged_suffix(source: str) -> str:
    """Return what a grant's name ends with that a merge brought beside one of the same name."""
    return f"+{source}"


def _new_lot(books: Books, command: object, entry: Entry) -> Lot:
    match command:
        case GrantCluster() | GrantProject():
            return Lot(command.grant, command.starts, command.expires, command.amount)
        case Merge():
            name = entry.grant.removesuffix(merged_suffix(command.source))
            like = books.lot(Account(command.source), name)
        case Regrant() | Adjust() | MoveUser() | Refund() | Repay():
            like = books.lot(Account(entry.account.project), entry.grant)
        case _:
            like = None
    if like is None:
        raise ValueError(f"{entry.account} has no grant {entry.grant}")
    return Lot(entry.grant, like.starts, like.expires, has_rolled=like.has_rolled)


def _freezes(books: Books, command: Freeze, transaction: Transaction) -> None:
    for wanted in command.parts:
        books.remember(_record(command, wanted, transaction))


def _record(command: Freeze, wanted: FreezePart, transaction: Transaction) -> FreezeRecord:
    return FreezeRecord(
        id=wanted.id,
        project=command.project,
        user=command.user,
        queue=command.queue,
        job=command.job,
        seconds=command.seconds,
        purpose=wanted.purpose,
        amount=wanted.amount,
        made=transaction.at,
        parts=tuple(
            Part(entry.account, entry.grant, entry.amount)
            for entry in transaction.entries
            if entry.freeze == wanted.id
        ),
    )


def _settled(books: Books, command: Settle, _: Transaction) -> None:
    record = books.freezes[command.freeze]
    record.is_open = False
    books.resolved.add(record.id)
    record.charged = command.amount
    books.queue_frozen[record.project, record.queue] -= record.amount


def _reduced(books: Books, command: Reduce, transaction: Transaction) -> None:
    record = books.freezes[command.freeze]
    gone = {(e.account, e.grant): e.amount for e in transaction.entries if e.kind is Kind.RELEASE}
    parts = (
        Part(part.account, part.grant, part.amount - gone.get((part.account, part.grant), 0))
        for part in record.parts
    )
    record.parts = tuple(part for part in parts if part.amount)
    beyond, record.amount = record.amount - command.amount, command.amount
    books.queue_frozen[record.project, record.queue] -= beyond


def _refunded(books: Books, command: Refund, _: Transaction) -> None:
    # One that was resolved long ago need not be in memory.
    if record := books.freezes.get(command.freeze):
        record.refunded += command.amount


def _kept(books: Books, command: Expire, _: Transaction) -> None:
    if not command.keep_until:
        return
    for account, lot in books.shared(command.project, command.grant).items():
        lot.expires = command.keep_until
        lot.has_rolled = True
        books.changed.add((account, command.grant))


def _granted(books: Books, command: GrantProject, _: Transaction) -> None:
    _project(books, command.project).shares = _shares(command.shares)


def _regranted(books: Books, command: Regrant, transaction: Transaction) -> None:
    account = Account(command.project)
    if command.project:
        _project(books, command.project).shares = _shares(command.shares)
    if lot := books.lot(account, command.grant):
        done = sum(e.amount for e in transaction.entries if e.account == account)
        lot.untaken += done - lot.change_to(command.amount, transaction.at)
        lot.base = command.amount
        books.changed.add((account, command.grant))


def _moved(books: Books, command: MoveUser, _: Transaction) -> None:
    _project(books, command.source).shares.pop(command.user, None)
    _project(books, command.target).shares[command.user] = command.percent


def _merged(books: Books, command: Merge, _: Transaction) -> None:
    project = _project(books, command.source)
    project.merged_into, project.shares = command.target, {}


def _renamed(books: Books, command: Rename, _: Transaction) -> None:
    _project(books, command.project).name = command.name


def _priced(books: Books, command: SetPrice, transaction: Transaction) -> None:
    rates = books.prices.setdefault(command.model, [])
    rates.append(Rate(command.since or transaction.at, command.rate_milli))


def _shares(shares: tuple[Share, ...]) -> dict[str, int]:
    return {share.user: share.percent for share in shares}


def _project(books: Books, project: str) -> ProjectRecord:
    return books.projects.setdefault(project, ProjectRecord(project, project, {}))


_FACTS: Mapping[type, Callable[[Books, Any, Transaction], None]] = MappingProxyType(
    {
        Freeze: _freezes,
        Settle: _settled,
        Reduce: _reduced,
        Refund: _refunded,
        Expire: _kept,
        GrantProject: _granted,
        Regrant: _regranted,
        MoveUser: _moved,
        Merge: _merged,
        Rename: _renamed,
        SetPrice: _priced,
    }
)
