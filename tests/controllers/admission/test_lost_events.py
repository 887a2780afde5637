"""Events that are lost, doubled or out of order: nothing runs unpaid, and the next list mends it."""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from tallyard import labels
from tallyard.cluster.faults import ClusterError, Fault
from tallyard.cluster.watch import Changed, Listed
from tallyard.ledger.commands import Freeze
from tallyard.ledger.store import reading
from tallyard.ledger.store.engine import reads
from tallyard.ledger.store.store import Store
from tests.controllers.admission.keeping import Cluster, Replica, moment

RATE, WAIT_SECONDS_MAX = 12_000, 300
WORKS, STEPS = 5, 60
type Object = dict[str, Any]


@dataclass
class World:
    """What happens, and what of it is told when."""

    cluster: Cluster
    replica: Replica
    chance: random.Random
    # Each with what takes it: a version of a Workload or a pod, or that it is gone.
    told: list[tuple[Any, Changed]] = field(default_factory=list)
    ran: Counter[str] = field(default_factory=Counter)
    began: dict[str, int] = field(default_factory=dict)

    def step(self) -> None:
        """Let something happen, tell some of all that has happened, and let the keeper work."""
        self.replica.now[0] += self.chance.randint(1, 5)
        uid = f"uid-{self.chance.randrange(WORKS)}"
        item = self.cluster.items.get(uid)
        if item is None:
            if uid not in self.ran:
                self.ran[uid] = 0
                self.cluster.add(uid.removeprefix("uid-"))
        elif uid in self.began:
            self.end(uid, item)
        elif item["spec"]["active"] and "conditions" not in item["status"]:
            self.begin(uid, item)
        elif self.chance.random() < 0.1:
            self.delete(item)
        self.leave()
        for uid in self.cluster.items:
            self.tell(uid, is_gone=False)
        some = [each for each in self.told if self.chance.random() < 0.5]
        again = self.chance.choices(self.told, k=3) if self.told else []
        mixed = some + again
        self.chance.shuffle(mixed)
        for see, change in mixed:
            see(change)
        if len(self.told) > 40:
            del self.told[:20]
        self.work()

    def work(self) -> None:
        """Let the keeper do what it thinks is to be done."""
        try:
            self.replica.keeper.work(lambda: self.cluster)  # type: ignore[arg-type, return-value]
        except ClusterError as error:
            if error.fault not in {Fault.CONFLICT, Fault.NOT_FOUND}:
                raise

    def begin(self, uid: str, item: Object) -> None:
        """Admit one, and let its pod run."""
        at = self.replica.now[0]
        self.began[uid] = at
        admitted = _condition("Admitted", at)
        self.cluster.touch(item, conditions=[_condition("QuotaReserved", at), admitted])
        self.replica.pod(item["metadata"]["name"], "Running", at)

    def end(self, uid: str, item: Object) -> None:
        """Let a pod succeed."""
        at, began = self.replica.now[0], self.began.pop(uid)
        self.ran[uid] = at - began
        conditions = [*item["status"]["conditions"], _condition("Finished", at)]
        self.cluster.touch(item, conditions=conditions)
        self.replica.pod(item["metadata"]["name"], "Succeeded", began, at)

    def delete(self, item: Object) -> None:
        """Ask for a Workload to be deleted."""
        item["metadata"].setdefault("deletionTimestamp", "2026-11-01T10:00:00Z")
        self.cluster.touch(item)

    def leave(self) -> None:
        """Remove what is being deleted and that we let go, with its pod."""
        ours = {labels.HOLD_FINALIZER, labels.SETTLE_FINALIZER}
        for uid, item in [*self.cluster.items.items()]:
            meta = item["metadata"]
            if "deletionTimestamp" in meta and ours.isdisjoint(meta["finalizers"]):
                self.tell(uid, is_gone=True)
                del self.cluster.items[uid]
                self.replica.pods.pop(meta["name"], None)

    def tell(self, uid: str, *, is_gone: bool) -> None:
        """Have a version of a Workload and its pod told, sooner or later or never."""
        item, keeper = copy.deepcopy(self.cluster.items[uid]), self.replica.keeper
        self.told.append((keeper.see_workloads, Changed(item, is_gone)))
        if pod := self.replica.pods.get(item["metadata"]["name"]):
            self.told.append((keeper.see_pods, Changed(copy.deepcopy(pod), is_gone)))


def _condition(kind: str, at: int) -> Mapping[str, str]:
    return {"type": kind, "status": "True", "lastTransitionTime": moment(at)}


@pytest.mark.parametrize("seed", range(30))
def test_the_next_list_mends_whatever_was_not_told(
    cluster: Cluster, store: Store, now: list[int], seed: int
) -> None:
    world = World(cluster, Replica(cluster, store, now), random.Random(seed))  # noqa: S311
    _refuse_to_let_in_what_is_not_frozen(cluster, store)
    world.replica.keeper.see_workloads(Listed(()))
    world.replica.keeper.see_pods(Listed(()))
    for _ in range(STEPS):
        world.step()
    for uid, item in [*cluster.items.items()]:
        if uid in world.began:
            world.end(uid, item)
        world.delete(item)
    for _ in range(4):
        world.replica.round(5)
        world.leave()
    assert not cluster.items
    world.replica.round(40)
    world.replica.round(40)

    with reads(store.engine) as connection:
        frozen = Counter(
            each.command.key
            for each, _ in reading.journal(connection)
            if isinstance(each.command, Freeze)
        )
    assert set(frozen.values()) <= {1}
    ids = [f"{uid}/{part}" for uid in world.ran for part in ("job", "wait")]
    freezes = store.freezes(ids)
    assert not [each.id for each in freezes.values() if each.is_open]
    for uid, ran in world.ran.items():
        if job := freezes.get(f"{uid}/job"):
            assert job.charged <= RATE * ran, uid
    assert sum(each.charged for each in freezes.values()) > 0
    assert sum(f"{uid}/job" in freezes for uid in world.ran) >= WORKS - 2


def _refuse_to_let_in_what_is_not_frozen(cluster: Cluster, store: Store) -> None:
    merge = cluster.merge

    def merging(
        kind: type, name: str, change: Mapping[str, Any], namespace: str | None = None
    ) -> Any:
        if change.get("spec", {}).get("active"):
            freeze = f"uid-{name}/job"
            assert freeze in store.freezes({freeze}), f"{name} is let in unpaid"
        return merge(kind, name, change, namespace)

    cluster.merge = merging  # type: ignore[method-assign]
