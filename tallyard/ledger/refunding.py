"""Giving back what was charged; and use that could not be frozen, which is owed and repaid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tallyard.ledger.accounts import Account, chain
from tallyard.ledger.books import Books
from tallyard.ledger.commands import Owe, Refund, Repay
from tallyard.ledger.entries import Entry, Kind
from tallyard.ledger.granting import wrong_project
from tallyard.ledger.lots import Lot
from tallyard.ledger.records import FreezeRecord
from tallyard.ledger.refusals import NotEnough, Reason, Refusal, Refused

type Entries = tuple[Entry, ...]


def refund(books: Books, command: Refund, at: int) -> Entries | Refusal:
    """Give back to all three levels; where the grant is over, into the one that ends next.

    A user who has left and has no grant gets it in the project's.
    """
    record = books.freezes.get(command.freeze)
    if record is None:
        return Refused(Reason.NO_FREEZE, command.freeze)
    if record.is_open:
        return Refused(Reason.NOT_RESOLVED, command.freeze)
    if command.amount <= 0:
        return Refused(Reason.AMOUNT, command.freeze, command.amount)
    if command.amount > (left := record.charged - record.refunded):
        return Refused(Reason.MORE_THAN_CHARGED, command.freeze, command.amount, left)
    entries: list[Entry] = []
    for account in chain(record.project, record.user):
        lot = _lot_for(books, record, account, at)
        if lot is None and not account.user:
            return Refused(Reason.NO_GRANT, str(account))
        grant = lot.grant if lot else entries[-1].grant
        entries.append(Entry(Kind.REFUND, account, grant, command.amount, record.id))
    return tuple(entries)


def owe(books: Books, command: Owe, at: int) -> Entries | Refusal:  # noqa: ARG001
    """Record a debt at all three levels; the project's has a bound, and a closed one has none."""
    if wrong := wrong_project(books, command.project):
        return wrong
    if command.amount <= 0:
        return Refused(Reason.AMOUNT, command.project, command.amount)
    owed = books.debt(Account(command.project)) + command.amount
    if owed > command.debt_max:
        return Refused(Reason.DEBT_LIMIT, command.project, owed, command.debt_max)
    accounts = chain(command.project, command.user)
    return tuple(Entry(Kind.OWE, account, "", command.amount) for account in accounts)


def repay(books: Books, command: Repay, at: int) -> Entries | Refusal:
    """Make a debt a charge, at all three levels, from what is available.

    What a user who has left lacks for it is added there: a project is not to be held for ever
    by the debt of somebody who gets no share any more.
    """
    accounts = chain(command.project, command.user)
    user = accounts[-1]
    if command.amount <= 0:
        return Refused(Reason.AMOUNT, command.project, command.amount)
    if command.amount > (owed := books.debt(user)):
        return Refused(Reason.MORE_THAN_OWED, str(user), command.amount, owed)
    entries: list[Entry] = []
    for account in accounts:
        available = {lot.grant: lot.available for lot in books.open_lots(account, at)}
        lack = command.amount - sum(available.values())
        if lack > 0 and account == user and not books.is_member(user):
            place = entries[-1].grant
            entries.append(Entry(Kind.ADJUST, user, place, lack))
            available[place] = available.get(place, 0) + lack
        elif lack > 0:
            return NotEnough(account, command.amount, command.amount - lack)
        entries += _paid(account, available, command.amount)
    return tuple(entries)


def _lot_for(books: Books, record: FreezeRecord, account: Account, at: int) -> Lot | None:
    """Return the grant that a refund goes into: one it came from, else the next to expire."""
    lots = books.open_lots(account, at)
    came_from = {part.grant for part in record.parts_of(account)}
    return next((lot for lot in lots if lot.grant in came_from), lots[0] if lots else None)


def _paid(account: Account, available: Mapping[str, int], amount: int) -> Iterator[Entry]:
    for grant, most in available.items():
        if take := min(amount, most):
            yield Entry(Kind.REPAY, account, grant, take)
            amount -= take
