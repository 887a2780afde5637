"""Freezing core-hours before work runs, lowering a freeze, and resolving it once."""

from __future__ import annotations

from collections.abc import Iterator

from tallyard.ledger.accounts import Account, chain
from tallyard.ledger.books import Books
from tallyard.ledger.commands import Freeze, FreezePart, Reduce, Settle
from tallyard.ledger.entries import Entry, Kind
from tallyard.ledger.records import FreezeRecord, Part
from tallyard.ledger.refusals import NotEnough, OverCap, Reason, Refusal, Refused

type Entries = tuple[Entry, ...]


def freeze(books: Books, command: Freeze, at: int) -> Entries | Refusal:
    """Set aside all parts at all three levels, or say what is in the way."""
    return _wrong(books, command) or _lack(books, command, at) or _frozen(books, command, at)


def settle(books: Books, command: Settle, at: int) -> Entries | Refusal:
    """Charge what was used and release the rest, at all three levels."""
    record = _open(books, command)
    if isinstance(record, Refused):
        return record
    if command.amount < 0:
        return Refused(Reason.AMOUNT, command.freeze, command.amount)
    accounts = chain(record.project, record.user)
    return tuple(e for a in accounts for e in _resolved(books, record, a, command.amount, at))


def reduce(books: Books, command: Reduce, at: int) -> Entries | Refusal:
    """Release what is beyond an amount, at all three levels; what expires last goes first."""
    record = _open(books, command)
    if isinstance(record, Refused):
        return record
    if not 0 < command.amount < record.amount:
        return Refused(Reason.AMOUNT, command.freeze, command.amount, record.amount)
    accounts = chain(record.project, record.user)
    beyond = record.amount - command.amount
    return tuple(e for a in accounts for e in _reduced(books, record, a, beyond, at))


def _open(books: Books, command: Settle | Reduce) -> FreezeRecord | Refused:
    """Return the freeze that is to be resolved or lowered, or why there is none."""
    record = books.freezes.get(command.freeze)
    if record is None:
        return Refused(Reason.NO_FREEZE, command.freeze)
    if not record.is_open:
        return Refused(Reason.RESOLVED, command.freeze, command.amount, record.charged)
    if command.amount > record.amount:
        return Refused(Reason.MORE_THAN_FROZEN, command.freeze, command.amount, record.amount)
    return record


def _wrong(books: Books, command: Freeze) -> Refused | None:
    """Return how the command contradicts the books, whatever the balances are."""
    project = books.projects.get(command.project)
    if project and project.merged_into:
        return Refused(Reason.PROJECT_CLOSED, f"{command.project} > {project.merged_into}")
    if owed := books.debt(Account(command.project)):
        return Refused(Reason.IN_DEBT, command.project, owed)
    ids = [part.id for part in command.parts]
    for index, part in enumerate(command.parts):
        if part.id in books.freezes or part.id in ids[:index]:
            return Refused(Reason.FREEZE_EXISTS, part.id)
        if part.amount <= 0:
            return Refused(Reason.AMOUNT, part.id, part.amount)
    return None if ids else Refused(Reason.AMOUNT, command.job)


def _lack(books: Books, command: Freeze, at: int) -> NotEnough | OverCap | None:
    need = sum(part.amount for part in command.parts)
    # The user's own account first: it is the one that a person can do most about.
    for account in reversed(chain(command.project, command.user)):
        available = _usable(books, account, at)
        if need > available:
            return NotEnough(account, need, available)
    if command.is_fast_lane:
        return None
    frozen = books.queue_frozen.get((command.project, command.queue), 0)
    cap = books.cap(command.project, command.cap_percent, at)
    if frozen + need > cap:
        return OverCap(command.project, command.queue, need, cap, frozen)
    return None


def _usable(books: Books, account: Account, at: int) -> int:
    """Return what may be frozen from an account; who has left a project may use nothing there."""
    if account.user and not books.is_member(account):
        return 0
    return books.available(account, at)


def _frozen(books: Books, command: Freeze, at: int) -> Entries:
    accounts = chain(command.project, command.user)
    return tuple(e for account in accounts for e in _split(books, command.parts, account, at))


def _split(
    books: Books, parts: tuple[FreezePart, ...], account: Account, at: int
) -> Iterator[Entry]:
    """Yield the parts as taken from an account's grants, earliest expiry first."""
    lots = iter(books.open_lots(account, at))
    left, grant = 0, ""
    for part in parts:
        need = part.amount
        while need:
            if not left:
                lot = next(lots)
                left, grant = lot.available, lot.grant
            if took := min(need, left):
                yield Entry(Kind.FREEZE, account, grant, took, part.id)
            need, left = need - took, left - took


def _resolved(
    books: Books, record: FreezeRecord, account: Account, charged: int, at: int
) -> Iterator[Entry]:
    for part in record.parts_of(account):
        charge = min(charged, part.amount)
        charged -= charge
        if charge:
            yield Entry(Kind.CHARGE, account, part.grant, charge, record.id)
        if rest := part.amount - charge:
            yield from _released(books, record.id, part, rest, at)


def _reduced(
    books: Books, record: FreezeRecord, account: Account, beyond: int, at: int
) -> Iterator[Entry]:
    for part in reversed(record.parts_of(account)):
        if rest := min(beyond, part.amount):
            yield from _released(books, record.id, part, rest, at)
        beyond -= rest


def _released(books: Books, freeze: str, part: Part, amount: int, at: int) -> Iterator[Entry]:
    yield Entry(Kind.RELEASE, part.account, part.grant, amount, freeze)
    lot = books.lot(part.account, part.grant)
    if lot is not None and at >= lot.expires:
        # Its time went by while it was frozen.
        yield Entry(Kind.EXPIRE, part.account, part.grant, amount, freeze)
