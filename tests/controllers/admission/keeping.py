"""A keeper with a real ledger, and a stand-in for the API server that keeps versions."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

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
from tallyard.cluster.watch import Listed
from tallyard.controllers.admission.keeper import Keeper
from tallyard.controllers.metrics import Metrics
from tallyard.ledger.accounts import Account
from tallyard.ledger.store.store import Store
from tallyard.render.controllers import SpecFile, spec_manifest
from tests.controllers.admission.workloads import pod_set, workload
from tests.ledger.ledgers import H
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
