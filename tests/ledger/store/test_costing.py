"""What work has cost, from its freezes, in both stores."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from tallyard.ledger.commands import Refund, Settle
from tallyard.ledger.store.costing import Cost, cost_of
from tallyard.ledger.store.store import Done, Store
from tallyard.ledger.work import Work
from tests.ledger.ledgers import H, freeze_of
from tests.ledger.store.stores import begun

TRAINS = Work("w-1", "nlp", "li.wei", "training", "train-7")
SERVES = Work("w_2", "nlp", "li.wei", "inference", "serve")
# Ids that only look as if they were its windows': `_` is any letter to a database.
OTHER = Work("wx2", "nlp", "li.wei", "inference", "other")


@pytest.fixture
def store(engine: Engine) -> Store:
    return begun(engine)


def _freeze(store: Store, freeze: str, amount: int) -> None:
    (done,) = store.do([freeze_of(f"freeze-{freeze}", freeze, amount)])
    assert isinstance(done, Done), done


def _settle(store: Store, freeze: str, amount: int) -> None:
    (done,) = store.do([Settle(key=f"settle-{freeze}", freeze=freeze, amount=amount)])
    assert isinstance(done, Done), done


def test_for_what_was_never_let_in_nothing_was_frozen(store: Store) -> None:
    assert cost_of(store.engine, TRAINS) is None


def test_a_jobs_cost_is_that_of_its_wait_and_its_run_without_what_was_given_back(
    store: Store,
) -> None:
    _freeze(store, TRAINS.job, 8 * H)
    _freeze(store, TRAINS.wait, 2 * H)
    assert cost_of(store.engine, TRAINS) == Cost(10 * H, 0, is_open=True)
    _settle(store, TRAINS.wait, H)
    open_ = cost_of(store.engine, TRAINS)
    assert open_ == Cost(10 * H, H, is_open=True)
    assert open_.returned == 0
    _settle(store, TRAINS.job, 6 * H)
    refund = Refund(key="r", freeze=TRAINS.job, amount=4 * H, reason="Preempted", by="tallyard")
    (done,) = store.do([refund])
    assert isinstance(done, Done), done
    settled = cost_of(store.engine, TRAINS)
    assert settled == Cost(10 * H, 3 * H, is_open=False)
    assert settled.returned == 7 * H


def test_a_services_cost_is_that_of_all_its_windows_and_of_no_others(store: Store) -> None:
    _freeze(store, SERVES.window(0), 2 * H)
    # One of them was owed, and was never frozen.
    _freeze(store, SERVES.window(2), 3 * H)
    _freeze(store, OTHER.window(0), 5 * H)
    _settle(store, SERVES.window(0), 2 * H)
    assert cost_of(store.engine, SERVES) == Cost(5 * H, 2 * H, is_open=True)
