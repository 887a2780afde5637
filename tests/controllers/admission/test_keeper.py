"""The keeper's loop with a real ledger, against a stand-in for the API server that keeps versions."""

from __future__ import annotations

import copy
from typing import Any, cast

import pytest

from tallyard import labels
from tallyard.cluster.client import Connection
from tallyard.cluster.faults import ClusterError
from tallyard.cluster.watch import Changed, Listed
from tallyard.ledger.accounts import Account
from tallyard.ledger.commands import Adjust
from tallyard.ledger.store.faults import StoreError
from tallyard.ledger.store.store import Done, Store
from tests.controllers.admission.keeping import (
    HOUR,
    JOB,
    SHARE_PERCENT,
    WAIT,
    Cluster,
    Object,
    Replica,
    moment,
)
from tests.ledger.ledgers import NOVEMBER, H


def _check(item: Object) -> tuple[str, str]:
    (entry,) = item["status"]["admissionChecks"]
    return entry["state"], entry["message"]


def test_it_is_frozen_then_ready_then_let_in(cluster: Cluster, replica: Replica) -> None:
    uid = cluster.add("train")
    replica.round()
    assert cluster.written == ["activate", "train: Ready", "train: let in"]
    assert replica.balances() == (JOB + WAIT, 0)
    assert _check(cluster.items[uid]) == ("Ready", "25.00 core-hours are frozen")
    replica.round(1)
    replica.round(30)
    assert len(cluster.written) == 3


@pytest.mark.parametrize("is_done_first", [False, True])
@pytest.mark.parametrize("fails_at", [1, 2, 3, 4])
def test_a_crash_at_any_write_ends_as_if_there_was_none(
    cluster: Cluster, store: Store, now: list[int], fails_at: int, *, is_done_first: bool
) -> None:
    uid = cluster.add("train")
    cluster.fails_at, cluster.is_done_first = fails_at, is_done_first
    replica = Replica(cluster, store, now)

    def survive() -> None:
        """Work; where the process dies of it, begin anew with what the ledger has."""
        nonlocal replica
        try:
            replica.round(1)
        except ClusterError:
            pods = replica.pods
            replica = Replica(cluster, Store(store.engine, lambda: now[0]), now, pods=pods)
            replica.round(1)

    survive()
    survive()
    assert replica.balances() == (JOB + WAIT, 0)
    begun = now[0]
    replica.pod("train", "Running", begun)
    survive()
    replica.pod("train", "Succeeded", begun, begun + 30)
    now[0] += 40
    admitted = {"type": "Admitted", "status": "True", "lastTransitionTime": moment(begun)}
    finished = {"type": "Finished", "status": "True", "lastTransitionTime": moment(begun + 30)}
    cluster.touch(cluster.items[uid], conditions=[admitted, finished])
    survive()
    survive()
    # 30 seconds of the card, and its wait, which began with the freeze in the first round.
    waited = begun - (NOVEMBER + 10 * HOUR + 1)
    assert replica.balances() == (0, 12_000 * (30 + waited))
    assert cluster.items[uid]["metadata"]["finalizers"] == ["kueue.x-k8s.io/resource-in-use"]
    keys = [t.transaction.command.key for t in _repeats(replica, uid)]
    assert len(keys) == 3


def _repeats(replica: Replica, uid: str) -> list[Done]:
    """Return what the ledger says of the keys that the work's life must have used, each once."""
    from tallyard.ledger.store import reading  # noqa: PLC0415
    from tallyard.ledger.store.engine import reads  # noqa: PLC0415

    keys = [f"freeze/{uid}", f"settle/{uid}/job", f"settle/{uid}/wait"]
    with reads(replica.store.engine) as connection:
        found = reading.by_keys(connection, keys)
    return [Done(transaction) for transaction in found.values()]


def test_an_empty_account_waits_with_the_sentence_and_a_top_up_lets_it_in(
    cluster: Cluster, replica: Replica
) -> None:
    replica.round()
    _leave(replica, 20 * H)
    uid = cluster.add("train")
    replica.round(1)
    state, message = _check(cluster.items[uid])
    assert state == "Pending"
    assert message.startswith(
        "insufficient core-hours to freeze: need 25.00 (24.00 for 1 x RTX-4090 x 2h00m @ 12.00/h, "
        "1.00 for up to 5m of wait), available 20.00 in the share of li.wei in project nlp"
    )
    assert not cluster.items[uid]["spec"]["active"]
    written = len(cluster.written)
    for _ in range(5):
        replica.round(1)
    assert len(cluster.written) == written
    _leave(replica, 25 * H)
    replica.round(2)
    assert cluster.written[-2:] == ["train: Ready", "train: let in"]


def _leave(replica: Replica, amount: int) -> None:
    """Give the project so much that li.wei's share of it is this, as an administrator would."""
    with replica.store.books() as books:
        lot = books.lots[Account("nlp")]["2026-11"]
        by, seq = amount * 100 // SHARE_PERCENT - lot.in_force, books.seq
    command = Adjust(key=f"by hand {seq}", project="nlp", grant="2026-11", amount=by, reason="test")
    (outcome,) = replica.store.do([command])
    assert isinstance(outcome, Done), outcome


def test_numbers_that_change_are_written_anew_but_not_each_second(
    cluster: Cluster, replica: Replica
) -> None:
    replica.round()
    _leave(replica, 20 * H)
    cluster.add("train")
    replica.round(1)
    written = len(cluster.written)
    for number in range(20):
        _leave(replica, 19 * H - number * H // 10)
        replica.round(1)
    assert len(cluster.written) == written
    _leave(replica, 10 * H)
    replica.round(30)
    assert len(cluster.written) == written + 1


def test_a_job_is_charged_while_its_pod_runs_and_let_go_when_that_is_on_record(
    cluster: Cluster, replica: Replica, now: list[int]
) -> None:
    uid = cluster.add("train")
    replica.round()
    begun = now[0] + 2
    replica.pod("train", "Running", begun)
    replica.round(5)
    item = cluster.items[uid]
    item["metadata"]["deletionTimestamp"] = moment(now[0])
    cluster.touch(item)
    # Its pod is still there: nothing is settled, and it is not let go.
    replica.round(60)
    assert replica.balances() == (JOB + WAIT, 0)
    replica.pod("train", "Failed", begun, begun + 61)
    replica.round(1)
    assert replica.balances() == (0, 12_000 * 61 + 12_000 * 66)
    assert cluster.written[-1] == "train: let go"
    del cluster.items[uid]
    replica.pods.clear()
    replica.round(1)
    replica.round(60)
    assert cluster.written[-1] == "train: let go"


def test_who_does_not_lead_looks_on(cluster: Cluster, replica: Replica) -> None:
    cluster.add("train")
    replica.leads = False
    replica.round()
    assert cluster.written == []
    assert replica.balances() == (0, 0)
    replica.leads = True
    replica.keeper.begin_to_lead()
    replica.round()
    assert cluster.written[-1] == "train: let in"


def test_one_that_somebody_stops_is_settled_and_never_let_in_again(
    cluster: Cluster, replica: Replica
) -> None:
    uid = cluster.add("train")
    replica.round()
    item = cluster.items[uid]
    item["spec"]["active"] = False
    cluster.touch(item)
    written = len(cluster.written)
    for _ in range(3):
        replica.round(30)
    assert replica.balances()[0] == 0
    assert len(cluster.written) == written
    item["spec"]["active"] = True
    cluster.touch(item)
    replica.round(1)
    assert cluster.written[-1] == "train: stop"


def test_a_statefulsets_workload_is_its_pods_users(cluster: Cluster, replica: Replica) -> None:
    uid = cluster.add("notebook", limit=None)
    cluster.items[uid]["metadata"]["labels"] = {}
    replica.round()
    state, message = _check(cluster.items[uid])
    assert state == "Pending"
    assert "tell an administrator" in message
    replica.pod("notebook", "Pending", replica.now[0])
    group = {labels.POD_GROUP: "notebook", labels.PROJECT: "nlp", labels.USER: "li.wei"}
    replica.pods["notebook"]["metadata"] |= {"annotations": {}, "labels": group}
    replica.round(1)
    assert cluster.written[-2:] == ["notebook: Ready", "notebook: let in"]
    assert replica.balances() == (12 * H, 0)


def test_while_the_ledger_is_away_nothing_is_let_in_and_nothing_stopped(
    cluster: Cluster, replica: Replica, monkeypatch: pytest.MonkeyPatch
) -> None:
    replica.round()
    runs = cluster.add("runs")
    replica.round(1)

    def away(*_: Any) -> Any:
        raise StoreError("away")

    with monkeypatch.context() as patched:
        patched.setattr(Store, "do", away)
        cluster.add("train")
        written = len(cluster.written)
        with pytest.raises(StoreError):
            replica.round(1)
        assert len(cluster.written) == written
        assert cluster.items[runs]["spec"]["active"]
    replica.round(1)
    assert cluster.written[-2:] == ["train: Ready", "train: let in"]


def test_one_that_somebody_has_changed_meanwhile_is_decided_again(
    cluster: Cluster, replica: Replica
) -> None:
    uid = cluster.add("train")
    replica.keeper.see_workloads(cluster.listed())
    replica.keeper.see_pods(Listed(()))
    cluster.touch(cluster.items[uid])
    replica.keeper.work(lambda: cast("Connection", cluster))
    assert cluster.written == ["activate"]
    # Nothing is said twice to the ledger, and all of it to the API server.
    replica.keeper.see_workloads(Changed(copy.deepcopy(cluster.items[uid]), is_gone=False))
    replica.keeper.work(lambda: cast("Connection", cluster))
    assert cluster.written[1:] == ["train: Ready", "train: let in"]
    assert replica.balances() == (JOB + WAIT, 0)


def test_one_that_cannot_be_read_holds_up_nobody(cluster: Cluster, replica: Replica) -> None:
    odd = cluster.items[cluster.add("odd")]
    odd["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"] = {
        "requests": {"cpu": "many"}
    }
    cluster.add("train")
    replica.round()
    assert cluster.written == ["activate", "train: Ready", "train: let in"]


def test_many_at_once_are_frozen_in_one_transaction_and_in_the_order_in_which_they_came(
    cluster: Cluster, replica: Replica
) -> None:
    replica.round()
    _leave(replica, 60 * H)
    for number in range(5):
        uid = cluster.add(f"train-{number}")
        made = f"2026-11-02T08:00:{59 - number:02}Z"
        cluster.items[uid]["metadata"]["creationTimestamp"] = made
    replica.round(1)
    let_in = [told for told in cluster.written if told.endswith("let in")]
    assert let_in == ["train-4: let in", "train-3: let in"]
    assert _check(cluster.items["uid-train-0"])[0] == "Pending"
