"""Files that are there whole or not at all, and what is never written over."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

from sqlalchemy import Engine

from tallyard.ledger.store.engine import is_sqlite

# What each database of SQLite's begins with.
_SQLITE = b"SQLite format 3\0"
# What SQLite keeps beside a file; one that is not there yet would be taken for its own.
_BESIDE = ("", "-wal", "-shm", "-journal")
# What the system shows of a process: a name there stands for something that is open already.
_OPENED = ("/dev/std", "/dev/fd/", "/proc/")
_MODE = 0o666


class Kept(StrEnum):
    """Why something is not replaced."""

    STORE = "it is the ledger itself"
    DATABASE = "it is a database of SQLite's, perhaps a ledger"
    FOLDER = "it is a directory"
    DEVICE = "it is neither a file nor a pipe nor a terminal"


class NotReplacedError(OSError):
    """What is there must stay as it is."""

    def __init__(self, kept: Kept, file: Path) -> None:
        super().__init__(0, kept.value, str(file))
        self.kept = kept


@contextmanager
def whole_file(file: Path) -> Iterator[BinaryIO]:
    """Give a file to write to, which takes another one's place when it is on the disk.

    A link is followed. A pipe and a terminal are written to as they are.

    Raises:
        NotReplacedError: What is there must not be replaced.
        OSError: It cannot be written; what was there is as it was. It names the file as given.
    """
    half = None
    try:
        before = _before(file)
        if before and (not stat.S_ISREG(before.st_mode) or _is_open_already(file)):
            with file.open("wb") as out:
                yield out
            return
        target = Path(os.path.realpath(file))
        # Two at once do not write into each other's, and no name is too long for it.
        half = target.with_name(f".tally-{secrets.token_hex(8)}.half")
        with _new(half, before) as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        half.replace(target)
        _keep_name(target.parent)
    except BaseException as error:
        if half:
            with suppress(OSError):
                half.unlink()
        if isinstance(error, OSError):
            # A full disk is told without a name, and the half one's says nothing to anybody.
            error.filename = str(file)
            if error.filename2 is not None:
                del error.filename2
        raise


def refuse_the_store(engine: Engine, file: Path) -> None:
    """Refuse a file that is the store itself or belongs to it, by whatever name.

    Raises:
        NotReplacedError: It is.
    """
    if not is_sqlite(engine):
        return
    store = os.path.realpath(engine.url.database or "")
    for each in (Path(f"{store}{end}") for end in _BESIDE):
        is_same = os.path.realpath(file) == str(each)
        if is_same or (file.exists() and each.exists() and file.samefile(each)):
            raise NotReplacedError(Kept.STORE, file)


def _before(file: Path) -> os.stat_result | None:
    """Return what is there and may be replaced or written to."""
    try:
        found = file.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise NotReplacedError(Kept.FOLDER, file)
    if stat.S_ISREG(found.st_mode):
        with file.open("rb") as content:
            if content.read(len(_SQLITE)) == _SQLITE:
                raise NotReplacedError(Kept.DATABASE, file)
    elif not (stat.S_ISFIFO(found.st_mode) or stat.S_ISCHR(found.st_mode)):
        raise NotReplacedError(Kept.DEVICE, file)
    return found


def _is_open_already(file: Path) -> bool:
    return str(file.absolute()).startswith(_OPENED)


def _new(half: Path, before: os.stat_result | None) -> BinaryIO:
    """Open a new file that may be read by whom the one before it may."""
    handle = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE)
    if before:
        os.fchmod(handle, stat.S_IMODE(before.st_mode))
    return os.fdopen(handle, "wb")


def _keep_name(folder: Path) -> None:
    """Bring a folder to the disk: until then its new entry can be lost with the power."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
