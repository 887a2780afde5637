"""The keeper's loop with a real ledger, against a stand-in for the API server that keeps versions."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

from tallyard import labels
from tallyard.cluster.client import Connection
from tallyard.cluster.faults import ClusterError, Fault
from tallyard.cluster.kinds import (
    AdmissionCheckStatus,
    CoreHoursStatus,
    ProjectTableStatus,
    Workload,
    WorkloadStatus,
)
from tallyard.cluster.watch import Changed, Listed
from tallyard.controllers.admission.keeper import Keeper
from tallyard.controllers.metrics import Metrics
from tallyard.ledger.accounts import Account
from tallyard.ledger.commands import Adjust
from tallyard.ledger.store.engine import engine_of
from tallyard.ledger.store.faults import StoreError
from tallyard.ledger.store.migrating import migrate
from tallyard.ledger.store.store import Done, Store
from tallyard.ledger.store.verifying import verify
from tallyard.render.controllers import SpecFile, spec_manifest
from tests.controllers.admission.workloads import pod_set, workload
from tests.ledger.ledgers import NOVEMBER, H
from tests.running_lab import OVERLAY

BASE = OVERLAY.with_name("platform.yaml")
HOUR, MINUTE = 3600, 60
# What li.wei may use of nlp's grant, by the shipped spec.
SHARE_PERCENT = 40
# One 4090 with all that it includes, for two hours, and five minutes of wait.
JOB, WAIT = 24 * H, H

type Object = dict[str, Any]


@dataclass
class Cluster:
    """Workloads by uid as an API server keeps them, and what was written, in order."""

    items: dict[str, Object] = field(default_factory=dict)
    written: list[str] = field(default_factory=list)
    # What was told of each project, in order, and of which nothing can be told.
    figures: dict[str, list[Mapping[str, str]]] = field(default_factory=dict)
    without_figures: set[str] = field(default_factory=set)
    caps: list[Mapping[str, int]] = field(default_factory=list)
    # The write that fails, counted from 0, and whether it was done all the same.
    fails_at: int | None = None
    is_done_first: bool = False

    def add(self, name: str, *, limit: int | None = 7200, **changes: Any) -> str:
        """Make a Workload as the admission policies leave it and return its uid."""
        item = workload(pod_set(gpu="1", cpu="4", memory="4Gi"), queue="inference")
        uid = f"uid-{name}"
        item["metadata"] |= {"name": name, "uid": uid, "resourceVersion": "1"}
        item["metadata"]["finalizers"] = ["kueue.x-k8s.io/resource-in-use", labels.HOLD_FINALIZER]
        item["spec"] |= {"maximumExecutionTimeSeconds": limit, "active": False} | changes
        self.items[uid] = item
        return uid

    def apply_status(self, kind: type, item: Mapping[str, Any], by: str) -> Mapping[str, Any]:
        """Write a status, as lightkube would."""
        if kind is AdmissionCheckStatus:
            return self._write("activate", item, lambda: None)
        if kind is ProjectTableStatus:
            self.caps.append(item["status"]["caps"])
            return item
        if kind is CoreHoursStatus:
            namespace = item["metadata"]["namespace"]
            if namespace in self.without_figures:
                raise ClusterError(Fault.NOT_FOUND, "here", name=namespace)
            self.figures.setdefault(namespace, []).append(item["status"])
            return item
        assert kind is WorkloadStatus
        found = self._of(item)
        (entry,) = item["status"]["admissionChecks"]
        assert by == "tallyard-core-hours"

        def apply() -> None:
            found["status"]["admissionChecks"] = [entry]

        return self._write(f"{item['metadata']['name']}: {entry['state']}", found, apply)

    def merge(
        self, kind: type, name: str, change: Mapping[str, Any], namespace: str | None = None
    ) -> Mapping[str, Any]:
        """Change some fields, as lightkube would."""
        assert kind is Workload
        found = self._of({"metadata": {"name": name, "namespace": namespace, **change["metadata"]}})
        active = change.get("spec", {}).get("active")

        def apply() -> None:
            if "finalizers" in change["metadata"]:
                found["metadata"]["finalizers"] = change["metadata"]["finalizers"]
            if active is not None:
                found["spec"]["active"] = active

        told = {None: "let go", True: "let in", False: "stop"}[active]
        return self._write(f"{name}: {told}", found, apply)

    def _of(self, item: Mapping[str, Any]) -> Object:
        meta = item["metadata"]
        found = next(
            (each for each in self.items.values() if each["metadata"]["name"] == meta["name"]), None
        )
        if found is None:
            raise ClusterError(Fault.NOT_FOUND, "here", name=meta["name"])
        if found["metadata"]["resourceVersion"] != meta["resourceVersion"]:
            raise ClusterError(Fault.CONFLICT, "here", name=meta["name"])
        return found

    def _write(self, told: str, found: Any, apply: Any) -> Mapping[str, Any]:
        fails = self.fails_at == len(self.written)
        if fails and not self.is_done_first:
            self.fails_at = None
            raise ClusterError(Fault.SERVER_FAILED, "here", detail="down")
        apply()
        self.touch(found)
        self.written.append(told)
        if fails:
            self.fails_at = None
            raise ClusterError(Fault.TIMEOUT, "here", detail="no answer")
        return cast("Mapping[str, Any]", copy.deepcopy(found))

    def touch(self, found: Any, **status: Any) -> None:
        """Make it another version, with other fields of its status."""
        version = found["metadata"].get("resourceVersion")
        if version:
            found["metadata"]["resourceVersion"] = str(int(version) + 1)
            found["status"] |= status

    def listed(self) -> Listed:
        """Return what a list would."""
        return Listed(tuple(copy.deepcopy(item) for item in self.items.values()))


@dataclass
class Replica:
    """A keeper, with a clock that the test moves."""

    cluster: Cluster
    store: Store
    now: list[int]
    leads: bool = True
    metrics: Metrics = field(default_factory=Metrics)
    pods: dict[str, Object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.keeper = Keeper(self.store, lambda: self.leads, self.metrics, self._moment)
        # A project that has little left is not to be held by the cap of its queues.
        base = BASE.read_text().replace("cap: 30%", "cap: 100%")
        files = SpecFile("local.yaml", OVERLAY.read_text()), SpecFile(BASE.name, base)
        self.keeper.see_spec(Listed((spec_manifest(*files).object,)))

    def _moment(self) -> datetime:
        return datetime.fromtimestamp(self.now[0], UTC)

    def round(self, seconds: int = 0) -> None:
        """See all that there is, and work, some seconds later."""
        self.now[0] += seconds
        self.keeper.see_workloads(self.cluster.listed())
        self.keeper.see_pods(Listed(tuple(copy.deepcopy(pod) for pod in self.pods.values())))
        self.keeper.work(lambda: cast("Connection", self.cluster))

    def pod(self, name: str, phase: str, began: int, ended: int | None = None) -> None:
        """Let a pod of a Workload be in a phase."""
        state = {"startedAt": moment(began)} | ({"finishedAt": moment(ended)} if ended else {})
        self.pods[name] = {
            "metadata": {
                "uid": f"pod-{name}",
                "name": name,
                "namespace": "nlp",
                "annotations": {labels.WORKLOAD: name},
                "labels": {labels.POD_SET: "main"},
            },
            "status": {
                "phase": phase,
                "containerStatuses": [
                    {"state": {"terminated" if ended else "running": state}},
                ],
            },
        }

    def balances(self, account: Account = Account("nlp", "li.wei")) -> tuple[int, int]:  # noqa: B008
        """Return what an account has frozen and was charged."""
        with self.store.books() as books:
            lots = books.lots.get(account, {}).values()
            return sum(lot.frozen for lot in lots), sum(lot.charged for lot in lots)


def moment(at: int) -> str:
    """Return a moment as the API writes it."""
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")


@pytest.fixture
def cluster() -> Cluster:
    """One without Workloads."""
    return Cluster()


@pytest.fixture
def now() -> list[int]:
    """The clock of all replicas."""
    return [NOVEMBER + 10 * HOUR]


@pytest.fixture
def store(tmp_path: Path, now: list[int]) -> Iterator[Store]:
    """A ledger in which nothing was ever done."""
    engine = engine_of(tmp_path / "ledger.db")
    migrate(engine)
    yield Store(engine, lambda: now[0])
    verdict = verify(engine)
    assert not verdict.faults
    engine.dispose()


@pytest.fixture
def replica(cluster: Cluster, store: Store, now: list[int]) -> Replica:
    """One that leads."""
    return Replica(cluster, store, now)


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


def test_a_project_is_told_what_it_has_and_only_when_that_has_changed(
    cluster: Cluster, replica: Replica
) -> None:
    replica.round()
    (granted,) = {each["granted"] for each in cluster.figures["nlp"]}
    nothing = {"used": "0.00", "frozen": "0.00", "owed": "0.00", "burnRate": "0.00"}
    assert cluster.figures["nlp"] == [nothing | {"granted": granted, "available": granted}]
    replica.round(20)
    assert len(cluster.figures["nlp"]) == 1

    cluster.add("train")
    replica.round(1)
    begun = replica.now[0]
    replica.pod("train", "Running", begun)
    replica.round(20)
    assert cluster.figures["nlp"][1:] == [
        nothing
        | {
            "granted": granted,
            "frozen": "25.00",
            "available": f"{float(granted) - 25:.2f}",
            "burnRate": "12.00",
        }
    ]
    assert len(cluster.figures["vision"]) == 1


def test_the_policies_are_told_what_a_queue_may_freeze_after_a_top_up(
    cluster: Cluster, replica: Replica
) -> None:
    replica.round()
    # The whole grant: the spec of these tests has no cap to speak of.
    assert cluster.caps == [{"nlp": 600_000, "vision": 30_000}]
    more = Adjust(key="more", project="nlp", grant="2026-11", amount=H + 1, reason="test")
    assert isinstance(replica.store.do([more])[0], Done)
    replica.round(20)
    assert cluster.caps[1:] == [{"nlp": 600_002, "vision": 30_000}]
    replica.round(20)
    assert len(cluster.caps) == 2


def test_a_project_of_which_nothing_can_be_told_yet_holds_up_nobody(
    cluster: Cluster, replica: Replica
) -> None:
    cluster.without_figures = {"nlp"}
    cluster.add("train")
    replica.round()
    assert "train: let in" in cluster.written
    assert set(cluster.figures) == {"vision"}
    cluster.without_figures = set()
    replica.round(20)
    assert len(cluster.figures["nlp"]) == 1


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
