"""All freezes of a piece of work, and of no other, in both stores."""

from __future__ import annotations

from sqlalchemy import Engine

from tallyard.ledger.commands import Settle
from tallyard.ledger.store.store import Done, Store
from tallyard.ledger.work import Work, id_of
from tests.ledger.ledgers import H, freeze_of
from tests.ledger.store.stores import begun

TRAINS = Work("w-1", "nlp", "li.wei", "training", "train-7")
SERVES = Work("w_2", "nlp", "li.wei", "inference", "serve")
# Ids that only look as if they were its windows': `_` is any letter to a database.
OTHER = Work("wx2", "nlp", "li.wei", "inference", "other")


def _frozen(engine: Engine, *ids: str) -> Store:
    store = begun(engine)
    done = store.do([freeze_of(f"freeze-{each}", each, H) for each in ids])
    assert all(isinstance(each, Done) for each in done), done
    return store


def _ids(store: Store, work: Work) -> set[str]:
    return {record.id for record in store.freezes_of(work)}


def test_a_job_has_its_own_and_its_waits_resolved_ones_too(engine: Engine) -> None:
    store = _frozen(engine, TRAINS.job, TRAINS.wait, SERVES.window(0))
    (settled,) = store.do([Settle(key="s", freeze=TRAINS.wait, amount=H)])
    assert isinstance(settled, Done)
    assert _ids(store, TRAINS) == {TRAINS.job, TRAINS.wait}


def test_a_service_has_its_windows_and_no_others(engine: Engine) -> None:
    store = _frozen(engine, SERVES.window(0), SERVES.window(2), OTHER.window(0))
    assert _ids(store, SERVES) == {SERVES.window(0), SERVES.window(2)}


def test_what_was_never_frozen_has_none(engine: Engine) -> None:
    assert _ids(begun(engine), TRAINS) == set()


def test_a_freeze_says_whose_it_is_unless_it_is_no_works() -> None:
    assert {id_of(each) for each in (TRAINS.job, TRAINS.wait, TRAINS.window(12))} == {TRAINS.id}
    assert [id_of(each) for each in ("train-7", "w/other", "", "w/jobs")] == ["", "", "", ""]
