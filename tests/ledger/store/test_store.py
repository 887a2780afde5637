"""One writer at a time, each command once, and nothing lost on the way."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from tallyard.ledger.accounts import Account
from tallyard.ledger.books import Books
from tallyard.ledger.commands import Adjust, AnyCommand, Freeze, Refund, Settle
from tallyard.ledger.decide import decide
from tallyard.ledger.refusals import NotEnough, OverCap, Reason, Refused
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
from tallyard.ledger.store.store import Done, Outcome, Store
from tallyard.ledger.store.verifying import verify
from tallyard.ledger.transactions import Transaction
from tests.ledger.ledgers import BEGIN, NOVEMBER, H, freeze_of, grant_of


def begun(engine: Engine) -> Store:
    """A store with the two grants."""
    store = Store(engine, lambda: NOVEMBER)
    assert all(isinstance(outcome, Done) for outcome in store.do(BEGIN))
    return store


def _available(store: Store, account: Account = Account("nlp")) -> int:  # noqa: B008
    with store.books() as books:
        return books.available(account, NOVEMBER)


def test_the_same_key_is_done_once_also_after_a_restart(engine: Engine) -> None:
    store = begun(engine)
    freeze = freeze_of("k", "train", 24 * H)
    (first,) = store.do([freeze])
    for again in (store, Store(engine, lambda: NOVEMBER + 60)):
        (outcome,) = again.do([freeze])
        assert isinstance(outcome, Done)
        assert outcome.is_repeat
        assert isinstance(first, Done)
        assert outcome.transaction == first.transaction
    assert _available(store) == 76 * H


def test_the_same_key_with_another_amount_is_refused(engine: Engine) -> None:
    store = begun(engine)
    store.do([freeze_of("k", "train", 24 * H)])
    other = freeze_of("k", "train", 25 * H)
    for again in (store, Store(engine, lambda: NOVEMBER)):
        assert again.do([other]) == [Refused(Reason.KEY_REUSED, "k", 3)]


def test_the_same_key_twice_in_one_group_is_done_once(engine: Engine) -> None:
    store = begun(engine)
    freeze = freeze_of("k", "train", 24 * H)
    first, second, other = store.do([freeze, freeze, freeze_of("k", "train", H)])
    assert isinstance(first, Done)
    assert second == Done(first.transaction, is_repeat=True)
    assert other == Refused(Reason.KEY_REUSED, "k", 3)


def test_ten_at_once_with_one_key_are_one_freeze(engine: Engine) -> None:
    """Each from a store of its own, as from ten processes."""
    begun(engine)
    gate = threading.Barrier(10)
    freeze = freeze_of("k", "train", 24 * H)

    def one(_: int) -> Done:
        store = Store(engine_of(_address(engine)), lambda: NOVEMBER)
        gate.wait()
        (outcome,) = store.do([freeze])
        store.engine.dispose()
        assert isinstance(outcome, Done)
        return outcome

    with ThreadPoolExecutor(10) as threads:
        outcomes = list(threads.map(one, range(10)))
    assert sorted(outcome.is_repeat for outcome in outcomes) == [False] + [True] * 9
    assert len({outcome.transaction.seq for outcome in outcomes}) == 1
    assert not verify(engine).faults


def _address(engine: Engine) -> str:
    return engine.url.render_as_string(hide_password=False)


def test_a_refusal_keeps_nobody_else_and_leaves_its_key_free(engine: Engine) -> None:
    store = begun(engine)
    too_much, fits = freeze_of("a", "big", 31 * H), freeze_of("b", "small", 10 * H)
    refusal, done = store.do([too_much, fits])
    assert isinstance(refusal, OverCap)
    assert isinstance(done, Done)
    (outcome,) = store.do([freeze_of("a", "big", 20 * H)])
    assert isinstance(outcome, Done)


@pytest.mark.parametrize(
    "poison",
    [
        freeze_of("x" * 201, "j", H),
        freeze_of("", "j", H),
        freeze_of("k", "j" * 201, H),
        freeze_of("k", "j", H, project="p" * 64),
        freeze_of("k", "j", H, queue="q" * 64),
        freeze_of("k", "j", H, user=""),
        freeze_of("k", "a\x00b", H),
        freeze_of("k", "a\ud800b", H),
        freeze_of("k", "a\nb", H),
        freeze_of("k", "j", 2**63),
        freeze_of("k", "j", -(2**70)),
        grant_of("k", "nlp", H, {"u" * 64: 1}, grant="x"),
        grant_of("k", "nlp", H, {}, grant="x" * 101),
        grant_of("k", "nlp", H, {}, grant="x", ends=2**64),
    ],
)
def test_what_no_store_can_keep_takes_nobody_with_it(engine: Engine, poison: AnyCommand) -> None:
    store = begun(engine)
    before, refusal, after = store.do([freeze_of("a", "one", H), poison, freeze_of("b", "two", H)])
    assert isinstance(before, Done)
    assert isinstance(after, Done)
    assert isinstance(refusal, Refused)
    assert refusal.reason in {Reason.TEXT, Reason.AMOUNT}


def test_each_of_a_group_sees_those_before_it(engine: Engine) -> None:
    store = begun(engine)
    outcomes = store.do([freeze_of(f"k{n}", f"j{n}", 60 * H, cap=100) for n in range(2)])
    assert isinstance(outcomes[0], Done)
    assert outcomes[1] == NotEnough(Account("nlp", "li.wei"), 60 * H, 40 * H)


def test_two_writers_see_what_the_other_did(engine: Engine) -> None:
    one, other = begun(engine), Store(engine, lambda: NOVEMBER)
    for n, store in enumerate((one, other, one, one, other)):
        (outcome,) = store.do([freeze_of(f"k{n}", f"j{n}", 6 * H)])
        assert isinstance(outcome, Done)
    (over,) = other.do([freeze_of("k", "j", 1)])
    assert isinstance(over, OverCap)
    (settled,) = other.do([Settle(key="s", freeze="j0", amount=6 * H)])
    assert isinstance(settled, Done)
    (again,) = one.do([Settle(key="s2", freeze="j0", amount=6 * H)])
    assert again == Refused(Reason.RESOLVED, "j0", 6 * H, 6 * H)
    assert not verify(engine).faults


def test_a_freeze_that_was_resolved_long_ago_can_be_refunded(engine: Engine) -> None:
    store, other = begun(engine), Store(engine, lambda: NOVEMBER)
    store.do([freeze_of("k", "train", 24 * H), Settle(key="s", freeze="train", amount=20 * H)])
    refund = Refund(key="r", freeze="train", amount=5 * H, reason="node failure")
    for which in (other, Store(engine, lambda: NOVEMBER)):
        (outcome,) = which.do([refund])
        assert isinstance(outcome, Done)
    (too_much,) = store.do([Refund(key="r2", freeze="train", amount=16 * H, reason="again")])
    assert too_much == Refused(Reason.MORE_THAN_CHARGED, "train", 16 * H, 15 * H)
    assert _available(store) == 85 * H
    assert not verify(engine).faults


def test_a_clock_that_is_behind_the_journal_stands_still(engine: Engine) -> None:
    begun(engine)
    late = Store(engine, lambda: NOVEMBER - 3600)
    (outcome,) = late.do([freeze_of("k", "train", H)])
    assert isinstance(outcome, Done)
    assert outcome.transaction.at == NOVEMBER


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
    assert _available(store) == 100 * H
    (outcome,) = store.do([freeze_of("k", "train", 24 * H)])
    assert isinstance(outcome, Done)
    assert not outcome.is_repeat
    assert not verify(engine).faults


def test_many_threads_share_the_way_to_the_disk(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = begun(engine)
    groups: list[int] = []
    do = store.do

    def counted(commands: Sequence[AnyCommand]) -> list[Outcome]:
        groups.append(len(commands))
        return do(commands)

    monkeypatch.setattr(store, "do", counted)
    desk = Desk(store)
    with ThreadPoolExecutor(32) as threads:
        outcomes = list(
            threads.map(lambda n: desk.do(freeze_of(f"k{n}", f"j{n}", H // 10)), range(400))
        )
    fits = [outcome for outcome in outcomes if isinstance(outcome, Done)]
    assert len(fits) == 300
    assert all(isinstance(o, OverCap) for o in outcomes if not isinstance(o, Done))
    assert sum(groups) == 400
    assert len(groups) < 400
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


def test_what_is_answered_is_on_the_disk_whatever_the_servers_default(engine: Engine) -> None:
    if is_sqlite(engine):
        wanted = {"PRAGMA synchronous": 2, "PRAGMA journal_mode": "wal", "PRAGMA foreign_keys": 1}
    else:
        with writes(engine) as connection:
            connection.execute(text("ALTER ROLE postgres SET synchronous_commit = off"))
            isolation = "default_transaction_isolation = 'repeatable read'"
            connection.execute(text(f"ALTER ROLE postgres SET {isolation}"))
        engine.dispose()
        wanted = {
            "SHOW synchronous_commit": "on",
            "SHOW fsync": "on",
            # Whoever waited for the head sees what was written meanwhile.
            "SHOW transaction_isolation": "read committed",
        }
    with writes(engine) as connection:
        for statement, value in wanted.items():
            assert connection.execute(text(statement)).scalar_one() == value


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
def test_who_is_cut_off_while_it_writes_lets_the_others_go_on(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(engine)
    monkeypatch.setattr("tallyard.ledger.store.engine.WAIT_SECONDS_MAX", 1)
    stuck = engine_of(_address(engine))

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
    slow = engine_of(_address(engine))
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

    monkeypatch.setattr("tallyard.ledger.store.store.decide", wrong)
    with pytest.raises(UnsoundError, match="does not add up"):
        store.do([freeze_of("k", "train", H)])
    monkeypatch.undo()
    assert _available(store) == 100 * H
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
        reader = engine_of(f"{_address(engine)}&options=-c%20default_transaction_read_only%3Don")
    with pytest.raises(ReadOnlyError, match="may not be written"):
        Store(reader, lambda: NOVEMBER).do([freeze_of("k", "train", H)])
    reader.dispose()
    assert _available(store) == 100 * H


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


@pytest.mark.parametrize(
    "wrong",
    [
        freeze_of("w", "wrong", 1.5),  # type: ignore[arg-type]
        freeze_of("w", "wrong", True),
        freeze_of("w", "wrong", H, user=None),  # type: ignore[arg-type]
        freeze_of("w", "wrong", H, cap="30"),  # type: ignore[arg-type]
    ],
)
def test_a_value_of_a_wrong_type_is_refused_alone(engine: Engine, wrong: AnyCommand) -> None:
    store = begun(engine)
    refused, done = store.do([wrong, freeze_of("k", "train", H)])
    assert refused == Refused(Reason.TYPE, "Freeze")
    assert isinstance(done, Done)
    assert not verify(engine).faults


def test_a_balance_stays_within_what_a_database_holds(engine: Engine) -> None:
    store = begun(engine)
    outcomes = store.do(
        [
            Adjust(key=f"a{n}", project="nlp", grant="2026-11", amount=10**17, reason="asked")
            for n in range(100)
        ]
    )
    refused = [outcome for outcome in outcomes if isinstance(outcome, Refused)]
    assert 0 < len(refused) < 100
    assert {outcome.reason for outcome in refused} == {Reason.AMOUNT}
    assert isinstance(store.do([freeze_of("k", "train", H)])[0], Done)
    assert not verify(engine).faults
