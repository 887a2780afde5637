"""One writer at a time, each command once, and nothing lost on the way."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine, text

from tallyard.ledger.accounts import Account
from tallyard.ledger.commands import Adjust, AnyCommand, Refund, Settle
from tallyard.ledger.refusals import NotEnough, OverCap, Reason, Refused
from tallyard.ledger.store.desk import Desk
from tallyard.ledger.store.engine import engine_of, is_sqlite, writes
from tallyard.ledger.store.store import Done, Outcome, Store
from tallyard.ledger.store.verifying import verify
from tests.ledger.ledgers import NOVEMBER, H, freeze_of, grant_of
from tests.ledger.store.stores import address_of, available, begun


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
    assert available(store) == 76 * H


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
        store = Store(engine_of(address_of(engine)), lambda: NOVEMBER)
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
    assert available(store) == 85 * H
    assert not verify(engine).faults


def test_a_clock_that_is_behind_the_journal_stands_still(engine: Engine) -> None:
    begun(engine)
    late = Store(engine, lambda: NOVEMBER - 3600)
    (outcome,) = late.do([freeze_of("k", "train", H)])
    assert isinstance(outcome, Done)
    assert outcome.transaction.at == NOVEMBER


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
