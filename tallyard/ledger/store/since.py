"""What a store has done since a backup was written: what would be missing after restoring it.

Only the backup's first line is read. Its digest covers every transaction before it, so where the
store's transaction of that number has it, all that is in the backup is in the store.
"""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from sqlalchemy import Connection

from tallyard.ledger.store import legible, reading, whys
from tallyard.ledger.store.backup import Head
from tallyard.ledger.store.faults import StoreError, Texts
from tallyard.ledger.transactions import GENESIS, Transaction


class OtherCourseError(StoreError):
    """The store did not go on from where the backup ends."""

    texts: ClassVar[Texts] = {
        "en": (
            "the backup is of another ledger, or of another course of this one",
            "See which store it was taken from; what is in it is not all in this store",
        ),
        "zh": (
            "该备份属于另一个账本，或本账本的另一段历史",
            "请确认它取自哪个账本；备份中的内容并不都在本账本中",
        ),
    }


def since(connection: Connection, head: Head) -> Iterator[Transaction]:
    """Yield the transactions of a store after those of a backup.

    Args:
        connection: Of a reader, so that all is of one moment.
        head: The backup's.

    Raises:
        OtherCourseError: The backup's last transaction is not one of the store's.
        CorruptError: A row cannot be read as what it should be.
    """
    last = legible.last(connection)
    if last < head.seq:
        raise OtherCourseError(whys.STORE_IS_BEHIND(last, head.seq))
    if _digest(connection, head.seq) != head.digest:
        raise OtherCourseError(whys.OTHER_TRANSACTION(head.seq))
    for transaction, _ in legible.legible(reading.journal(connection, head.seq, last)):
        yield legible.checked(transaction)


def _digest(connection: Connection, seq: int) -> str | None:
    """Return the digest of a transaction of the store; the beginning has one, too."""
    if seq == 0:
        return GENESIS
    found = legible.legible(reading.journal(connection, seq - 1, seq))
    return next((digest for _, digest in found), None)
