"""Transactions that people and other programs are shown: each is what its type says, or it is told.

A file of SQLite's takes a text where a number should stand. The writer finds that by the digest;
whoever only shows what stands there would fail on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
from sqlalchemy import Connection

from tallyard.ledger.store import reading, whys
from tallyard.ledger.store.faults import CorruptError
from tallyard.ledger.transactions import Transaction

# The last second that a date can be written of.
_AT_MAX = 253_402_300_799


def legible[T](found: Iterable[T]) -> Iterator[T]:
    """Yield what is read, and tell what cannot be decoded.

    Raises:
        CorruptError: A row is not what was written.
    """
    rows = iter(found)
    while True:
        try:
            each = next(rows)
        except StopIteration:
            return
        except (ValueError, KeyError, TypeError) as error:
            raise CorruptError(whys.BAD_ROW(error)) from error
        yield each


def checked(transaction: Transaction) -> Transaction:
    """Return a transaction, each field of which is what its type says.

    Raises:
        CorruptError: One is not.
    """
    try:
        msgspec.convert(msgspec.to_builtins(transaction), Transaction)
    except (msgspec.ValidationError, TypeError) as error:
        raise CorruptError(whys.UNREADABLE(transaction.seq, error)) from error
    moment(transaction.at, f"transaction {transaction.seq}")
    return transaction


def moment(at: int, whose: str) -> None:
    """Refuse a moment that no date can be written of.

    Raises:
        CorruptError: It is none.
    """
    if not (isinstance(at, int) and 0 <= at <= _AT_MAX):
        raise CorruptError(whys.NO_MOMENT(whose, at))


def last(connection: Connection) -> int:
    """Return the number of the last transaction.

    Raises:
        CorruptError: The head does not say.
    """
    found = reading.head(connection).seq
    if not isinstance(found, int):
        raise CorruptError(whys.BAD_HEAD(found))
    return found
