"""What is gone without a word is settled, and what is not decided is told."""

from __future__ import annotations

import pytest

from tallyard.ledger.store.faults import StoreError
from tests.controllers.admission.keeping import (
    JOB,
    MINUTE,
    WAIT,
    Cluster,
    Replica,
    moment,
)
from tests.ledger.ledgers import H


def _metric(replica: Replica, name: str) -> float:
    return replica.metrics.registry.get_sample_value(name) or 0.0


def test_work_whose_finalizer_was_taken_off_is_settled_by_what_was_seen_of_it(
    cluster: Cluster, replica: Replica
) -> None:
    uid = cluster.add("train")
    replica.round()
    begun = replica.now[0] + 5
    replica.pod("train", "Running", begun)
    replica.round(5)
    replica.round(30)
    del cluster.items[uid]
    replica.pods.clear()
    for _ in range(3):
        replica.round(10)
    # It may only just not have been seen yet.
    assert replica.balances() == (JOB + WAIT, 0)
    replica.round(20)
    # Until the first look at which it was not there any more.
    assert replica.balances() == (0, 12_000 * (30 + 10))
    assert _metric(replica, "tallyard_admission_orphans_total") == 1
    for _ in range(5):
        replica.round(20)
    assert replica.balances() == (0, 12_000 * (30 + 10))
    assert _metric(replica, "tallyard_admission_orphans_total") == 1


def test_a_service_whose_finalizer_was_taken_off_pays_its_windows_and_owes_none_twice(
    cluster: Cluster, replica: Replica
) -> None:
    uid = cluster.add("serve", limit=None)
    replica.round()
    replica.pod("serve", "Running", replica.now[0])
    for _ in range(7):
        replica.round(10 * MINUTE)
    charged = replica.balances()[1]
    assert charged == 12 * H
    del cluster.items[uid]
    replica.pods.clear()
    replica.round(10)
    replica.round(40)
    assert replica.balances() == (0, 12_000 * (70 * MINUTE + 10))
    with replica.store.books() as books:
        assert not any(books.owed.values())


def test_what_is_there_and_cannot_be_read_is_no_orphan(
    cluster: Cluster, replica: Replica, caplog: pytest.LogCaptureFixture
) -> None:
    uid = cluster.add("train")
    replica.round()
    cluster.items[uid]["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"] = {
        "requests": {"cpu": "many"}
    }
    cluster.touch(cluster.items[uid])
    for _ in range(4):
        replica.round(30)
    assert replica.balances() == (JOB + WAIT, 0)
    assert "Workload nlp/train" in caplog.text


def test_it_is_told_how_long_the_oldest_waits_for_a_decision(
    cluster: Cluster, replica: Replica, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "tallyard_admission_undecided_seconds"
    replica.round()
    assert _metric(replica, name) == 0
    uid = cluster.add("train")
    cluster.items[uid]["metadata"]["creationTimestamp"] = moment(replica.now[0])

    def down(_: object) -> None:
        raise StoreError("down")

    with monkeypatch.context() as broken:
        broken.setattr(replica.store, "do", down)
        with pytest.raises(StoreError):
            replica.round(90)
        assert _metric(replica, name) == 90
    replica.round(1)
    replica.round(1)
    assert _metric(replica, name) == 0
