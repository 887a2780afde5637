"""What cards cost, from a moment on: another price never touches the past."""

from __future__ import annotations

from tallyard.ledger.books import Books
from tallyard.ledger.commands import SetPrice
from tallyard.ledger.entries import Entry
from tallyard.ledger.refusals import Reason, Refusal, Refused


def set_price(books: Books, command: SetPrice, at: int) -> tuple[Entry, ...] | Refusal:
    """Add to a model's prices: never in the past, and each later than the one before."""
    if command.rate_milli < 0:
        return Refused(Reason.AMOUNT, command.model, command.rate_milli)
    last = books.prices.get(command.model, [])
    earliest = max(at, last[-1].since + 1 if last else at)
    since = command.since or at
    if since < earliest:
        return Refused(Reason.PAST, command.model, since, earliest)
    return ()
