"""What goes wrong with a store is told as what it is, and loses nothing."""

from __future__ import annotations

import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from tallyard.ledger.books import Books
from tallyard.ledger.commands import Freeze
from tallyard.ledger.decide import decide
from tallyard.ledger.store.desk import Desk
from tallyard.ledger.store.engine import engine_of, is_sqlite, reads, writes
from tallyard.ledger.store.faults import (
    CorruptError,
    FullError,
    ReadOnlyError,
    SchemaError,
    StoreError,
    UnavailableError,
    UnsoundError,
)
from tallyard.ledger.store.migrating import migrate, require_newest
from tallyard.ledger.store.store import Done, Store
from tallyard.ledger.store.verifying import verify
from tallyard.ledger.transactions import Transaction
from tests.ledger.ledgers import BEGIN, NOVEMBER, H, freeze_of
from tests.ledger.store.stores import address_of, available, begun


def test_what_failed_is_not_in_memory_either(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = begun(engine)

    def broken(*_: object) -> None:
        raise UnavailableError("the cable")

    with monkeypatch.context() as patch:
        patch.setattr("tallyard.ledger.store.writing.write", broken)
        with pytest.raises(UnavailableError, match="the cable"):
            store.do([freeze_of("k", "train", 24 * H)])
    assert available(store) == 100 * H
    (outcome,) = store.do([freeze_of("k", "train", 24 * H)])
    assert isinstance(outcome, Done)
    assert not outcome.is_repeat
    assert not verify(engine).faults


def test_each_of_a_group_hears_that_it_failed(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = begun(engine)

    def broken(_: object) -> None:
        raise UnavailableError("the cable")

    monkeypatch.setattr(store, "do", broken)
    desk = Desk(store)

    def one(n: int) -> str:
        with pytest.raises(StoreError) as caught:
            desk.do(freeze_of(f"k{n}", f"j{n}", H))
        return str(caught.value)

    with ThreadPoolExecutor(8) as threads:
        told = set(threads.map(one, range(40)))
    assert len(told) == 1
    assert "the cable" in told.pop()


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
def test_who_is_cut_off_while_it_writes_lets_the_others_go_on(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(engine)
    monkeypatch.setattr("tallyard.ledger.store.engine.WAIT_SECONDS_MAX", 1)
    stuck = engine_of(address_of(engine))

    def hold() -> None:
        with writes(stuck) as connection:
            connection.execute(text("SELECT * FROM head FOR UPDATE"))
            (outcome,) = Store(engine, lambda: NOVEMBER).do([freeze_of("k", "train", H)])
            assert isinstance(outcome, Done)
            connection.execute(text("SELECT 1"))

    with pytest.raises(UnavailableError):
        hold()
    stuck.dispose()


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
def test_who_reads_slowly_is_not_cut_off(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tallyard.ledger.store.engine.WAIT_SECONDS_MAX", 1)
    slow = engine_of(address_of(engine))
    with reads(slow) as connection:
        time.sleep(1.5)
        assert connection.execute(text("SELECT 1")).scalar_one() == 1
    slow.dispose()


def test_what_does_not_add_up_is_never_written(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault of the rules: a freeze that moves two levels and not three."""
    store = begun(engine)

    def wrong(books: Books, command: Freeze, at: int) -> Transaction:
        right = decide(books, command, at)
        assert isinstance(right, Transaction)
        return Transaction(right.seq, right.at, command, right.entries[:2])

    monkeypatch.setattr("tallyard.ledger.store.store.decide_sound", wrong)
    with pytest.raises(UnsoundError, match="does not add up"):
        store.do([freeze_of("k", "train", H)])
    monkeypatch.undo()
    # What was decided in memory and never written is not there any more.
    (outcome,) = store.do([freeze_of("k", "train", H)])
    assert isinstance(outcome, Done)
    assert available(store) == 99 * H
    assert not verify(engine).faults


def test_tables_of_another_version_are_refused(engine: Engine) -> None:
    require_newest(engine)
    migrate(engine, "0001")
    try:
        with pytest.raises(SchemaError, match=r"0001.*`tally ledger migrate`"):
            require_newest(engine)
    finally:
        migrate(engine)


def test_a_database_without_tables_is_told(tmp_path: Path) -> None:
    empty = engine_of(tmp_path / "empty.db")
    with pytest.raises(SchemaError, match="tally ledger migrate"):
        Store(empty, lambda: NOVEMBER).do(BEGIN)


def test_a_store_that_may_not_be_written_is_told(engine: Engine) -> None:
    store = begun(engine)
    if is_sqlite(engine):
        reader = engine_of(f"sqlite:///{engine.url.database}?mode=ro")
    else:
        reader = engine_of(f"{address_of(engine)}&options=-c%20default_transaction_read_only%3Don")
    with pytest.raises(ReadOnlyError, match="may not be written"):
        Store(reader, lambda: NOVEMBER).do([freeze_of("k", "train", H)])
    reader.dispose()
    assert available(store) == 100 * H


def test_a_store_that_is_not_there_is_told(tmp_path: Path) -> None:
    nowhere = engine_of(tmp_path / "no" / "such" / "folder.db")
    with pytest.raises(UnavailableError, match="is not there"):
        Store(nowhere, lambda: NOVEMBER).do(BEGIN)
    closed = engine_of("postgresql://nobody@127.0.0.1:1/none?connect_timeout=2")
    with pytest.raises(UnavailableError, match="is not there"):
        Store(closed, lambda: NOVEMBER).do(BEGIN)


@pytest.mark.parametrize("address", ["mysql://host/name", "://", "redis://x"])
def test_an_address_of_something_else_is_refused(address: str) -> None:
    with pytest.raises(StoreError):
        engine_of(address)


def test_a_full_disk_is_told_and_loses_nothing(tmp_path: Path) -> None:
    engine = engine_of(tmp_path / "small.db")
    migrate(engine)
    store = begun(engine)
    with writes(engine) as connection:
        pages = connection.execute(text("PRAGMA page_count")).scalar_one()
    engine.dispose()
    small = engine_of(tmp_path / "small.db")
    _limit_pages(small, pages + 4)
    store = Store(small, lambda: NOVEMBER)
    done = _until_it_is_full(store)
    assert done
    verdict = verify(engine)
    assert not verdict.faults
    assert verdict.transactions == len(BEGIN) + done
    # With room again it goes on where it was.
    (outcome,) = Store(engine, lambda: NOVEMBER).do([freeze_of(f"k{done}", f"j{done}", 1)])
    assert isinstance(outcome, Done)
    assert not outcome.is_repeat


def _until_it_is_full(store: Store) -> int:
    for n in range(10_000):
        try:
            store.do([freeze_of(f"k{n}", f"j{n}", 1)])
        except FullError:
            return n
    raise AssertionError


def _limit_pages(engine: Engine, pages: int) -> None:
    from sqlalchemy import event  # noqa: PLC0415

    def limit(connection: sqlite3.Connection, _: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {pages}").close()

    event.listen(engine, "connect", limit)


def test_a_torn_page_is_told(tmp_path: Path) -> None:
    file = tmp_path / "torn.db"
    engine = engine_of(file)
    migrate(engine)
    store = begun(engine)
    store.do([freeze_of(f"k{n}", f"j{n}", 1) for n in range(500)])
    with writes(engine) as connection:
        size = connection.execute(text("PRAGMA page_size")).scalar_one()
    with closing(sqlite3.connect(file)) as raw:
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    engine.dispose()
    content = bytearray(file.read_bytes())
    found = 0
    for page in range(1, len(content) // size):
        torn = content.copy()
        torn[page * size + size // 2 : (page + 1) * size] = bytes(size - size // 2)
        file.write_bytes(torn)
        damaged = engine_of(file)
        try:
            found += bool(verify(damaged).faults)
        except StoreError:
            found += 1
        damaged.dispose()
    # Of an index or a page that is half empty nothing may have been lost.
    assert found >= 0.9 * (len(content) // size - 1)


def test_a_journal_that_was_changed_is_not_gone_on_with(engine: Engine) -> None:
    begun(engine)
    other = Store(engine, lambda: NOVEMBER)
    with other.books():
        pass
    begun_seq = 2
    Store(engine, lambda: NOVEMBER).do([freeze_of("k", "train", H)])
    with writes(engine) as connection:
        connection.execute(
            text("UPDATE transactions SET digest = 'x' WHERE seq > :seq"), {"seq": begun_seq}
        )
    with pytest.raises(CorruptError, match="transaction 3 was changed"):
        other.do([freeze_of("k2", "train2", H)])
