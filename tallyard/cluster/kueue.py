"""What Kueue knows: queues, flavors and workloads, read together. Decides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tallyard.cluster.client import Connection, Kind
from tallyard.cluster.conditions import Object
from tallyard.cluster.faults import ClusterError, Fault
from tallyard.cluster.kinds import ClusterQueue, LocalQueue, ResourceFlavor, Workload
from tallyard.cluster.projects import keys_by_id
from tallyard.cluster.scope import Namespaces, read


@dataclass(frozen=True)
class Queues:
    """The queues of a scope with all that stands behind them.

    `cluster_queues` and `flavors` are by name; they are empty where the caller may not read
    them, and the figures that come from them are then unknown.
    """

    local_queues: tuple[Object, ...]
    cluster_queues: Mapping[str, Object]
    flavors: Mapping[str, Object]
    workloads: tuple[Object, ...]

    @cached_property
    def _keys(self) -> Mapping[str, str]:
        return keys_by_id(self.cluster_queues.values())

    def project_key(self, identity: str) -> str:
        """Return what people call the project of this id; the id where that is not known."""
        return self._keys.get(identity, identity)


def read_queues(connection: Connection, scope: Namespaces) -> Queues:
    """Read the queues and workloads of a scope.

    Raises:
        ClusterError: When the server cannot be asked, or refuses the scope itself.
    """
    return Queues(
        local_queues=read(connection, LocalQueue, scope),
        cluster_queues=_by_name(connection, ClusterQueue),
        flavors=_by_name(connection, ResourceFlavor),
        workloads=read(connection, Workload, scope),
    )


def _by_name(connection: Connection, kind: Kind) -> Mapping[str, Mapping[str, Any]]:
    try:
        found = connection.list(kind)
    except ClusterError as error:
        if error.fault is Fault.FORBIDDEN:
            return {}
        raise
    return {item["metadata"]["name"]: item for item in found}
