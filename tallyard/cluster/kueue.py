"""What Kueue knows: queues, flavors and workloads, read together. Decides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from tallyard.cluster.client import Connection, Kind
from tallyard.cluster.conditions import Object, condition
from tallyard.cluster.drain import HOLD_AND_DRAIN
from tallyard.cluster.faults import ClusterError, Fault
from tallyard.cluster.kinds import ClusterQueue, Cohort, LocalQueue, Node, ResourceFlavor, Workload
from tallyard.cluster.projects import keys_by_id
from tallyard.cluster.scope import Namespaces, read

_HOLDING = frozenset({"Hold", HOLD_AND_DRAIN})


@dataclass(frozen=True)
class Queues:
    """The queues of a scope with all that stands behind them.

    `cluster_queues` and `flavors` are by name; they are empty where the caller may not read
    them, and the figures that come from them are then unknown. `cohorts` (by name) and `nodes`
    are None then; the nodes are only read where a workload waits for room on them.
    """

    local_queues: tuple[Object, ...]
    cluster_queues: Mapping[str, Object]
    flavors: Mapping[str, Object]
    workloads: tuple[Object, ...]
    cohorts: Mapping[str, Object] | None = None
    nodes: tuple[Object, ...] | None = None

    @cached_property
    def _keys(self) -> Mapping[str, str]:
        return keys_by_id(self.cluster_queues.values())

    def project_key(self, identity: str) -> str:
        """Return what people call the project of this id; the id where that is not known."""
        return self._keys.get(identity, identity)

    def stop_policy(self, cluster_queue: str) -> str:
        """Return how an administrator holds a queue; empty where it is open, or may not be read."""
        found = self.cluster_queues.get(cluster_queue) or {"spec": {}}
        policy = str(found["spec"].get("stopPolicy") or "")
        return policy if policy in _HOLDING else ""


def read_queues(connection: Connection, scope: Namespaces) -> Queues:
    """Read the queues and workloads of a scope.

    Raises:
        ClusterError: When the server cannot be asked, or refuses the scope itself.
    """
    local_queues = read(connection, LocalQueue, scope)
    workloads = read(connection, Workload, scope)
    return Queues(
        local_queues=local_queues,
        cluster_queues=_by_name(connection, ClusterQueue) or {},
        flavors=_by_name(connection, ResourceFlavor) or {},
        workloads=workloads,
        cohorts=_by_name(connection, Cohort),
        nodes=_if_allowed(connection, Node) if any(map(_lacks_room, workloads)) else None,
    )


def _lacks_room(workload: Object) -> bool:
    """Say whether Kueue found quota for a workload and no place: it speaks of the topology."""
    reserved = condition(workload, "QuotaReserved") or {}
    return reserved.get("status") == "False" and "topology" in str(reserved.get("message", ""))


def _by_name(connection: Connection, kind: Kind) -> Mapping[str, Object] | None:
    found = _if_allowed(connection, kind)
    return None if found is None else {item["metadata"]["name"]: item for item in found}


def _if_allowed(connection: Connection, kind: Kind) -> tuple[Object, ...] | None:
    try:
        return connection.list(kind)
    except ClusterError as error:
        if error.fault is Fault.FORBIDDEN:
            return None
        raise
