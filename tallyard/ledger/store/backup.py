"""A backup is the journal, as of one moment, as text; restoring it is doing it all again.

So one taken from SQLite can be restored into PostgreSQL and the other way, and a file that was
cut off or changed is found before anything is written for good. Taking one holds nobody up.
"""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import batched
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

import msgspec
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DataError, IntegrityError

from tallyard.ledger.books import Books
from tallyard.ledger.commands import freezes_of
from tallyard.ledger.decide import decide
from tallyard.ledger.store import migrating, reading, whys, writing
from tallyard.ledger.store.engine import reads, writes
from tallyard.ledger.store.faults import CorruptError, StoreError, Texts
from tallyard.ledger.store.files import whole_file
from tallyard.ledger.transactions import GENESIS, Transaction

FORMAT = 1
# The first line has four short values.
_LINE_BYTES_MAX = 4096
# So many transactions are written at once, and told of.
_GROUP = 500

type Tell = Callable[[int, int], None]


class BackupError(StoreError):
    """A backup cannot be restored."""

    texts: ClassVar[Texts] = {
        "en": (
            "the backup cannot be restored",
            "Nothing was written; use another backup, or an empty store",
        ),
        "zh": ("备份无法恢复", "没有写入任何内容；请使用其他备份，或空的账本"),
    }


class NoBackupError(BackupError):
    """The file is none that we wrote."""

    texts: ClassVar[Texts] = {
        "en": ("the file is no backup of a ledger", "Name one that `tally ledger backup` wrote"),
        "zh": ("该文件不是账本备份", "请指定由 `tally ledger backup` 写出的文件"),
    }


class Head(msgspec.Struct, frozen=True):
    """The first line: what the file must come to."""

    format: int
    seq: int
    at: int
    digest: str


class _Line(msgspec.Struct):
    """Each line after it: a transaction with its digest."""

    transaction: Transaction
    digest: str


_encoder = msgspec.json.Encoder(order="deterministic")
_heads = msgspec.json.Decoder(Head)
_lines = msgspec.json.Decoder(_Line)


def backup(engine: Engine, file: Path, tell: Tell = lambda *_: None) -> int:
    """Write a store's journal to a file, whole or not at all.

    Args:
        engine: The store; others may write it meanwhile.
        file: Where to; what is there is replaced when the new one is on the disk.
        tell: Told now and then how many transactions of how many were written.

    Returns:
        How many transactions there are in it.

    Raises:
        CorruptError: Its journal is not whole, or was changed; an earlier backup is kept.
        StoreError: The store cannot be read.
        OSError: The file cannot be written.
    """
    with whole_file(file) as out, reads(engine) as connection:
        last = reading.head(connection)
        _put(out, Head(FORMAT, last.seq, last.at, last.digest))
        before, count = GENESIS, 0
        for transaction, digest in reading.journal(connection, until=last.seq):
            if transaction.digest(before) != digest:
                raise CorruptError(whys.CHANGED(transaction.seq))
            _put(out, _Line(transaction, digest))
            before, count = digest, count + 1
            if transaction.seq % _GROUP == 0:
                tell(transaction.seq, last.seq)
        if (count, before) != (last.seq, last.digest):
            raise CorruptError(whys.SOME_ARE_THERE(count, last.seq))
    return count


def restore(engine: Engine, file: Path, tell: Tell = lambda *_: None) -> int:
    """Do a backup's journal again in an empty store, all of it or nothing.

    Args:
        engine: The store; its tables are made where there are none.
        file: The backup.
        tell: Told now and then how many transactions of how many were done.

    Returns:
        How many transactions were done.

    Raises:
        BackupError: The file is not whole, was changed, or the store is not empty.
        StoreError: The store cannot be written.
        OSError: The file cannot be read.
    """
    with file.open("rb") as source:
        # Before a store is made, for what may be a slip of the finger.
        head = head_of(source)
        if migrating.version(engine) == migrating.NOTHING:
            migrating.migrate(engine)
        migrating.require_newest(engine)
        with writes(engine) as connection:
            return _restored(connection, source, head, tell)


def head_of(source: BinaryIO) -> Head:
    """Return what a backup's first line says.

    Raises:
        NoBackupError: The file is no backup, or one of another format.
    """
    try:
        head = _heads.decode(source.readline(_LINE_BYTES_MAX))
    except msgspec.MsgspecError as error:
        raise NoBackupError(whys.FIRST_LINE(error)) from error
    if head.format != FORMAT:
        raise NoBackupError(whys.OTHER_FORMAT(head.format, FORMAT))
    return head


def _restored(connection: Connection, source: BinaryIO, head: Head, tell: Tell) -> int:
    if reading.head(connection, for_writing=True).seq:
        raise BackupError(whys.NOT_EMPTY)
    try:
        books = _replayed(connection, source, head, tell)
    except (IntegrityError, DataError) as error:
        raise BackupError(whys.REFUSED(error.orig)) from error
    if (books.seq, books.at, books.digest) != (head.seq, head.at, head.digest):
        raise BackupError(whys.ENDS_AT(books.seq, head.seq))
    return books.seq


def newer(engine: Engine, seen: Mapping[str, bool]) -> Iterator[str]:
    """Yield the freezes that the world knows more of than the store does, each with what it is.

    After a restore the store is older than the cluster: work may run by a freeze that is not in
    it, or may have ended while its freeze is open here.

    Args:
        engine: The store.
        seen: The ids of freezes as they were seen, and whether they were resolved.

    Raises:
        StoreError: The store cannot be read.
    """
    with reads(engine) as connection:
        found = {record.id: record for record in reading.freezes(connection, list(seen))}
    for each, is_resolved in sorted(seen.items()):
        record = found.get(each)
        if record is None:
            yield f"{each}: it was frozen, and the ledger does not know it"
        elif record.is_open and is_resolved:
            yield f"{each}: it was resolved, and in the ledger it is open"


def _replayed(connection: Connection, source: BinaryIO, head: Head, tell: Tell) -> Books:
    books = Books()
    for group in batched(_read(source), _GROUP):
        # What was resolved is forgotten between groups; a refund names it again.
        named = {each for line in group for each in freezes_of(line.transaction.command)}
        for record in reading.freezes(connection, named - books.freezes.keys()):
            books.remember(record)
        for line in group:
            _apply(books, line)
        writing.write(connection, books, [(line.transaction, line.digest) for line in group])
        books.forget()
        tell(books.seq, head.seq)
    return books


def _apply(books: Books, line: _Line) -> None:
    """Do one transaction, if its command comes to it: a digest can be made by anybody."""
    wanted = line.transaction
    try:
        decided = decide(books, wanted.command, wanted.at, wanted.rules)
        if decided == wanted:
            books.apply(wanted)
    except (ValueError, KeyError) as error:
        raise BackupError(whys.NOT_POSSIBLE(wanted.seq, error)) from error
    if decided != wanted:
        raise BackupError(whys.OTHERWISE(wanted.seq))
    if books.digest != line.digest:
        raise BackupError(whys.CHANGED(wanted.seq))


def _put(out: BinaryIO, value: Any) -> None:
    out.write(_encoder.encode(value) + b"\n")


def _read(source: Iterable[bytes]) -> Iterator[_Line]:
    for number, line in enumerate(source, 2):
        try:
            yield _lines.decode(line)
        except msgspec.MsgspecError as error:
            raise BackupError(whys.LINE(number, error)) from error
