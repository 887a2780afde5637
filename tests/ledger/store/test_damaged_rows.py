"""Rows that SQLite takes and no ledger writes are damage, and told as such."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import Engine

from tallyard.ledger.store import legible, reading
from tallyard.ledger.store.backup import Head
from tallyard.ledger.store.engine import engine_of, reads, writes
from tallyard.ledger.store.faults import CorruptError
from tallyard.ledger.store.migrating import migrate
from tallyard.ledger.store.since import OtherCourseError, since
from tallyard.ledger.store.store import Store
from tests.ledger.ledgers import BEGIN, NOVEMBER


@pytest.fixture
def begun(tmp_path: Path) -> Iterator[Engine]:
    """A file with the two grants."""
    engine = engine_of(tmp_path / "ledger.db")
    migrate(engine)
    Store(engine, lambda: NOVEMBER).do(BEGIN)
    yield engine
    engine.dispose()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE transactions SET at = 100000000000000000 WHERE seq = 2",
        "UPDATE transactions SET at = -1 WHERE seq = 2",
        "UPDATE transactions SET at = 'noon' WHERE seq = 2",
        "UPDATE transactions SET rules = 'x' WHERE seq = 2",
        "UPDATE transactions SET command = x'ff' WHERE seq = 2",
        "UPDATE transactions SET command = CAST(x'ff' AS TEXT) WHERE seq = 2",
        "UPDATE transactions SET digest = CAST(x'ff' AS TEXT) WHERE seq = 2",
        "UPDATE entries SET amount = 'much' WHERE seq = 2",
        "UPDATE head SET seq = 'many'",
    ],
)
def test_whoever_shows_a_journal_tells_what_cannot_be_shown(begun: Engine, change: str) -> None:
    with begun.connect() as raw:
        raw.exec_driver_sql("PRAGMA ignore_check_constraints = ON")
        raw.exec_driver_sql(change)
        raw.commit()
    with pytest.raises(CorruptError):
        _show(begun)


def _show(engine: Engine) -> None:
    with reads(engine) as connection:
        legible.last(connection)
        for transaction, _ in legible.legible(reading.journal(connection)):
            legible.checked(transaction)


@pytest.mark.parametrize(
    "failure",
    [
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
        msgspec.ValidationError("Expected `int`, got `str`"),
        OverflowError("Python int too large to convert to SQLite INTEGER"),
    ],
)
def test_what_drivers_and_decoding_raise_is_damage(begun: Engine, failure: Exception) -> None:
    for use in (reads, writes):
        with pytest.raises(CorruptError, match="cannot be read"), use(begun):
            raise failure


@pytest.mark.parametrize("fault", [ValueError, KeyError, TypeError, AssertionError])
def test_a_fault_of_the_program_is_not_called_damage(begun: Engine, fault: type[Exception]) -> None:
    for use in (reads, writes):
        with pytest.raises(fault), use(begun):
            raise fault


def test_what_came_after_a_backup_is_what_follows_its_digest(begun: Engine) -> None:
    with reads(begun) as connection:
        digests = ["0" * 64, *(digest for _, digest in reading.journal(connection))]
        for seq in range(3):
            found = list(since(connection, Head(1, seq, NOVEMBER, digests[seq])))
            assert [each.seq for each in found] == list(range(seq + 1, 3))
        for head, said in (
            (Head(1, 3, NOVEMBER, digests[2]), "ends at transaction 2, and the backup at 3"),
            (Head(1, 1, NOVEMBER, digests[2]), "another transaction 1"),
            (Head(1, 0, 0, "1" * 64), "another"),
            (Head(1, -1, 0, digests[0]), "another"),
        ):
            with pytest.raises(OtherCourseError, match=said):
                list(since(connection, head))
