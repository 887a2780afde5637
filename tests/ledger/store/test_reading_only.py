"""Whoever only reads writes nothing; whoever writes has a log and is on the disk."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from tallyard.ledger.store.backup import backup
from tallyard.ledger.store.engine import engine_of, reads, writes
from tallyard.ledger.store.faults import ReadOnlyError, StoreError
from tallyard.ledger.store.migrating import migrate, require_newest, version
from tallyard.ledger.store.store import Store
from tallyard.ledger.store.verifying import verify
from tests.ledger.ledgers import BEGIN, NOVEMBER, H, freeze_of
from tests.ledger.store.unprivileged import folder, nobody


@pytest.fixture
def begun() -> Iterator[Path]:
    """A store with the two grants, in a folder that everybody can reach."""
    with folder() as made:
        engine = engine_of(made / "ledger.db")
        migrate(engine)
        Store(engine, lambda: NOVEMBER).do(BEGIN)
        engine.dispose()
        yield made / "ledger.db"


def _mode(file: Path) -> str:
    with closing(sqlite3.connect(file)) as raw:
        return str(raw.execute("PRAGMA journal_mode").fetchone()[0])


def test_readers_leave_other_databases_and_empty_files_as_they_are(tmp_path: Path) -> None:
    other, empty = tmp_path / "other.db", tmp_path / "empty.db"
    with closing(sqlite3.connect(other)) as raw:
        raw.execute("CREATE TABLE songs (name)")
    empty.touch()
    before = other.read_bytes()
    for file in (other, empty):
        engine = engine_of(file)
        for look in (require_newest, migrate) if file == other else (require_newest,):
            with pytest.raises(StoreError):
                look(engine)
        engine.dispose()
    assert (other.read_bytes(), empty.read_bytes()) == (before, b"")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["empty.db", "other.db"]


def test_a_writer_has_a_log_and_is_on_the_disk_also_where_another_took_it_away(
    begun: Path,
) -> None:
    with closing(sqlite3.connect(begun)) as raw:
        raw.execute("PRAGMA journal_mode = DELETE")
    engine = engine_of(begun)
    with reads(engine) as connection:
        assert connection.execute(text("PRAGMA journal_mode")).scalar_one() == "delete"
        assert connection.execute(text("PRAGMA synchronous")).scalar_one() == 2
    with writes(engine) as connection:
        assert connection.execute(text("PRAGMA journal_mode")).scalar_one() == "wal"
        assert connection.execute(text("PRAGMA synchronous")).scalar_one() == 2
    engine.dispose()
    assert _mode(begun) == "wal"


@pytest.mark.parametrize("is_folder_closed", [True, False])
@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_a_store_that_may_not_be_written_is_read(
    begun: Path, tmp_path: Path, mode: str, *, is_folder_closed: bool
) -> None:
    with closing(sqlite3.connect(begun)) as raw:
        raw.execute(f"PRAGMA journal_mode = {mode}")
    begun.chmod(0o444)
    begun.parent.chmod(0o555 if is_folder_closed else 0o777)
    engine = engine_of(begun)
    with nobody():
        assert version(engine) == "0004"
        assert not verify(engine).faults
        with reads(engine) as connection:
            assert connection.execute(text("SELECT seq FROM head")).scalar_one() == 2
        with pytest.raises(ReadOnlyError, match="may not be written"):
            Store(engine, lambda: NOVEMBER).do([freeze_of("k", "train", H)])
    assert backup(engine, tmp_path / "copy.jsonl") == 2
    engine.dispose()


def test_what_stands_in_the_log_is_read_too_where_nothing_may_be_written(begun: Path) -> None:
    writer = engine_of(begun)
    Store(writer, lambda: NOVEMBER).do([freeze_of("k", "train", H)])
    assert Path(f"{begun}-wal").stat().st_size
    for each in begun.parent.iterdir():
        each.chmod(0o444)
    begun.parent.chmod(0o555)
    engine = engine_of(begun)
    with nobody():
        assert verify(engine).transactions == 3
    engine.dispose()
    writer.dispose()


def test_an_address_may_ask_for_reading_only(begun: Path) -> None:
    engine = engine_of(f"sqlite:///{begun}?mode=ro")
    assert not verify(engine).faults
    with pytest.raises(ReadOnlyError):
        Store(engine, lambda: NOVEMBER).do([freeze_of("k", "train", H)])
    engine.dispose()
