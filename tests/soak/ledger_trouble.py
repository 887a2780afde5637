"""A full disk, a store that may not be written, a damaged page: is each told, and nothing lost?"""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from random import Random

from tallyard.ledger.store.engine import engine_of
from tallyard.ledger.store.faults import StoreError
from tallyard.ledger.store.verifying import verify
from tests.ledger.ledgers import grant_of
from tests.soak.ledger_model import LifeError
from tests.soak.ledger_process import Writer, line_of, said

# More than fill the space that is left.
_WRITES_MAX = 2000


def troubled(file: Path, at: int, chance: Random) -> Counter[str]:
    """Make the troubles in a copy of a store and return what was told.

    Args:
        file: The store, of SQLite; nobody writes it meanwhile.
        at: A moment that is not before its last transaction.
        chance: Draws the page.

    Raises:
        LifeError: A trouble is not told, or something else is.
    """
    copy = file.with_name("copy.db")
    _copy(file, copy)
    found = Counter[str]()
    for address, pages_max, told in (
        (str(copy), _pages(copy), "FullError"),
        (f"sqlite:///{copy}?mode=ro", 0, "ReadOnlyError"),
    ):
        _expect_told(Writer(address, pages_max), at, told)
        found[told] += 1
    if verify(engine_of(copy)).faults:
        raise LifeError("after a full disk and a read-only store the books are wrong")
    _tear(copy, chance)
    try:
        is_found = bool(verify(engine_of(copy)).faults)
    except StoreError:
        is_found = True
    found["torn pages found" if is_found else "torn pages without loss"] += 1
    for each in copy.parent.glob("copy.db*"):
        each.unlink()
    return found


def _expect_told(writer: Writer, at: int, told: str) -> None:
    """Write until the trouble is told."""
    try:
        for n in range(_WRITES_MAX):
            grant = grant_of(f"t{n}", "trouble", 1, {}, grant=f"{n}", starts=at, ends=at + 9)
            writer.send(line_of([grant], at))
            answer = writer.answer()
            if answer.get("error") == told:
                return
            if "error" in answer:
                raise LifeError(f"{said(answer)}, and not {told}")
    finally:
        writer.stop()
    raise LifeError(f"{told} was never told")


def _copy(file: Path, copy: Path) -> None:
    with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)


def _pages(file: Path) -> int:
    with closing(sqlite3.connect(file)) as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        return int(pages)


def _tear(file: Path, chance: Random) -> None:
    """Let the second half of some page be of nothing."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    content = bytearray(file.read_bytes())
    page = chance.randrange(1, len(content) // size)
    content[page * size + size // 2 : (page + 1) * size] = bytes(size - size // 2)
    file.write_bytes(content)
