"""A journal read again from its beginning: does each command still come to the same entries?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest

from tallyard.ledger import invariants
from tallyard.ledger.amounts import text
from tallyard.ledger.books import Books
from tallyard.ledger.decide import decide
from tallyard.ledger.entries import Entry
from tallyard.ledger.refusals import Refusal
from tallyard.ledger.transactions import RULES, Transaction


def replay(books: Books, journal: Iterable[tuple[Transaction, str]]) -> Iterator[str]:
    """Apply a journal and yield what is wrong with it; it ends at what cannot be applied.

    Args:
        books: Empty books, which hold what the journal comes to afterwards.
        journal: Each transaction with the digest that was written beside it.
    """
    for transaction, digest in journal:
        where = f"transaction {transaction.seq} ({transaction.command.key})"
        try:
            decided = decide(books, transaction.command, transaction.at, transaction.rules)
        except KeyError:
            yield f"{where}: it is of rules {transaction.rules}; this program knows up to {RULES}"
        else:
            if decided != transaction:
                yield f"{where}: its command comes to something else: {_other(transaction, decided)}"
        try:
            books.apply(transaction)
        except (ValueError, KeyError) as error:
            yield f"{where}: it cannot be applied: {error}"
            return
        if books.digest != digest:
            yield f"{where}: its digest is another one; it, or one before it, was changed"
            books.digest = digest
        for fault in invariants.of_transaction(books, transaction):
            yield f"{where}: {fault}"
    yield from invariants.of_books(books)


def _other(written: Transaction, decided: Transaction | Refusal) -> str:
    """Return the first difference between what is written and what a command comes to."""
    if not isinstance(decided, Transaction):
        return f"it is refused: {decided}"
    for number, (mine, theirs) in enumerate(zip_longest(written.entries, decided.entries)):
        if mine != theirs:
            return f"entry {number} is {_told(mine)}, and by the command {_told(theirs)}"
    return f"it was done at {written.at}, and by the command at {decided.at}"


def _told(entry: Entry | None) -> str:
    if entry is None:
        return "none"
    grant = f" in {entry.grant}" if entry.grant else ""
    return (
        f"{entry.kind} {text(entry.amount)} core-hours ({entry.amount}) of {entry.account}{grant}"
    )
