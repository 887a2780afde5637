"""What must always be so of the books. Nothing here mends anything: a fault is told."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from tallyard.ledger.accounts import CLUSTER, Account, Level
from tallyard.ledger.books import Books
from tallyard.ledger.entries import Entry, Kind
from tallyard.ledger.lots import Lot
from tallyard.ledger.transactions import Transaction

# What moves at all three levels at once.
NESTED = (Kind.FREEZE, Kind.CHARGE, Kind.RELEASE, Kind.REFUND, Kind.OWE, Kind.REPAY)


def of_entries(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield where one transaction does not move all three levels alike."""
    sums: defaultdict[tuple[Kind, str], Counter[Level]] = defaultdict(Counter)
    for entry in entries:
        if entry.amount == 0 or (entry.amount < 0 and entry.kind is not Kind.ADJUST):
            yield f"{entry.kind} of {entry.amount} in {entry.account}"
        if entry.kind in NESTED:
            sums[entry.kind, entry.freeze][entry.account.level] += entry.amount
    for (kind, freeze), levels in sums.items():
        if len({levels[level] for level in Level}) > 1:
            yield f"{kind} {freeze}: {dict(levels)}"


def of_transaction(books: Books, transaction: Transaction) -> Iterator[str]:
    """Yield what is wrong after a transaction with what it has touched."""
    yield from of_entries(transaction.entries)
    for account, grant in sorted({(e.account, e.grant) for e in transaction.entries}):
        lot = books.lot(account, grant) or books.ended.get((account, grant))
        if lot is not None:
            yield from (f"{account} {grant}: {fault}" for fault in lot.faults())
    for entry in transaction.entries:
        if books.debt(entry.account) < 0:
            yield f"{entry.account} owes {books.debt(entry.account)}"


def of_books(books: Books) -> Iterator[str]:
    """Yield everything that is wrong with all balances; `books` must hold every lot that was."""
    lots = list(_all_lots(books))
    for account, lot in lots:
        yield from (f"{account} {lot.grant}: {fault}" for fault in lot.faults())
    for field in ("frozen", "charged", "refunded"):
        yield from _nested(field, ((account, getattr(lot, field)) for account, lot in lots))
    yield from _nested("owed", books.owed.items())
    yield from _of_freezes(books, lots)


def _all_lots(books: Books) -> Iterator[tuple[Account, Lot]]:
    for account, lots in books.lots.items():
        yield from ((account, lot) for lot in lots.values())
    yield from ((account, lot) for (account, _), lot in books.ended.items())


def _nested(field: str, amounts: Iterable[tuple[Account, int]]) -> Iterator[str]:
    """Yield where the parts of an account do not add up to it."""
    own: Counter[Account] = Counter()
    parts: Counter[Account] = Counter()
    for account, amount in amounts:
        own[account] += amount
        if account.level is Level.USER:
            parts[Account(account.project)] += amount
        elif account.level is Level.PROJECT:
            parts[CLUSTER] += amount
    for account in sorted(set(own) | set(parts)):
        if account.level is not Level.USER and own[account] != parts[account]:
            yield f"{account}: {field} is {own[account]}, and of its parts {parts[account]}"


def _of_freezes(books: Books, lots: list[tuple[Account, Lot]]) -> Iterator[str]:
    """Yield where what is frozen is not what the open freezes say."""
    frozen: Counter[tuple[Account, str]] = Counter()
    queues: Counter[tuple[str, str]] = Counter()
    for record in books.freezes.values():
        if record.is_open:
            queues[record.project, record.queue] += record.amount
            for part in record.parts:
                frozen[part.account, part.grant] += part.amount
    for account, lot in lots:
        if lot.frozen != frozen.pop((account, lot.grant), 0):
            yield f"{account} {lot.grant}: {lot.frozen} is frozen, and not what its freezes say"
    yield from (f"{account} {grant} has freezes and is not there" for account, grant in frozen)
    if queues != Counter({queue: n for queue, n in books.queue_frozen.items() if n}):
        yield "what the queues have frozen is not what their freezes say"
