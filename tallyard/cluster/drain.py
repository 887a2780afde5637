"""What keeps the platform from being removed: queues that take work, work that runs, leftovers.

A queue that is held and drained (Kueue's `HoldAndDrain`) admits nothing and evicts what it has
admitted: a Job is suspended and waits, pods of a service are made anew and wait. Nothing that a
person has submitted is deleted here. Reading is `look`, the one thing that is written `hold`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lightkube.generic_resource import GenericGlobalResource, create_api_info

from tallyard import labels
from tallyard.cluster.client import ALL_NAMESPACES, Connection, Kind, explained
from tallyard.cluster.conditions import Object, is_true
from tallyard.cluster.faults import ClusterError, Fault
from tallyard.cluster.kinds import ClusterQueue, ConfigMap, Namespace, ResourceFlavor, Workload

HOLD_AND_DRAIN = "HoldAndDrain"
_OURS = {labels.MANAGED_BY: labels.FIELD_MANAGER}


class Topology(GenericGlobalResource):
    """Kueue's Topology."""

    _api_info = create_api_info(labels.KUEUE_GROUP, labels.KUEUE_VERSION, "Topology", "topologies")


# What stays in the cluster when the spec no longer asks for it; see `tallyard.render.fates`.
KEPT: Mapping[str, Kind] = {
    "Namespace": Namespace,
    "ResourceFlavor": ResourceFlavor,
    "Topology": Topology,
}

type Name = tuple[str, str]


@dataclass(frozen=True)
class Standing:
    """What is seen of the platform's end.

    Attributes:
        queues: The names of all ClusterQueues of ours.
        open: Those of them that are not held and drained.
        holding: How many workloads hold quota, by namespace.
        waiting: How many wait for it, by namespace.
        leftovers: What an earlier spec has left and no `pulumi destroy` would find, as the pairs
            of kind and name.
        foreign: The names of all ClusterQueues that are somebody else's; their work is not
            counted and not stopped.
        spec: The files of the spec that was deployed, by name; None where there is none.
    """

    queues: tuple[str, ...]
    open: tuple[str, ...]
    holding: Mapping[str, int]
    waiting: Mapping[str, int]
    leftovers: tuple[Name, ...]
    foreign: tuple[str, ...] = ()
    spec: Mapping[str, str] | None = None

    @property
    def is_drained(self) -> bool:
        """Return whether no queue takes work and none has any."""
        return not self.open and not self.holding

    @property
    def removal(self) -> tuple[str, ...]:
        """Return the commands that remove the leftovers, in the order in which they go."""
        # A topology goes when no flavor uses it, a flavor when no work does.
        kinds = {kind: [n for k, n in self.leftovers if k == kind] for kind in KEPT}
        return tuple(
            f"kubectl delete {kind.lower()} {' '.join(names)}"
            for kind, names in kinds.items()
            if names
        )


def look(connection: Connection, wanted: Collection[Name]) -> Standing:
    """Read what stands of the platform.

    Args:
        connection: The cluster.
        wanted: The kinds and names of what the spec asks for, see
            `tallyard.render.kept.kept_objects`; what else is there of ours is a leftover.

    Raises:
        ClusterError: When the server cannot be asked.
    """
    everyones = _listed(connection, ClusterQueue)
    queues = [each for each in everyones if _is_ours(each)]
    foreign = {_name(each) for each in everyones if not _is_ours(each)}
    workloads = [
        each
        for each in _listed(connection, Workload, namespace=ALL_NAMESPACES)
        if _queue_of(each) not in foreign
    ]
    return Standing(
        queues=tuple(_name(queue) for queue in queues),
        open=tuple(_name(q) for q in queues if q["spec"].get("stopPolicy") != HOLD_AND_DRAIN),
        holding=_counted(each for each in workloads if _holds_quota(each)),
        waiting=_counted(w for w in workloads if not _holds_quota(w) and not _is_over(w)),
        leftovers=tuple(
            (kind, _name(item))
            for kind, type_ in KEPT.items()
            for item in _ours(connection, type_)
            if (kind, _name(item)) not in wanted and not _is_the_systems(item)
        ),
        foreign=tuple(sorted(foreign)),
        spec=_deployed_spec(connection),
    )


def hold(connection: Connection, queue: str, *, is_dry: bool = False) -> None:
    """Let a ClusterQueue admit nothing more, and take back what it has admitted.

    A dry run changes nothing, and is refused where the real one would be.

    By a field manager of its own: applied as Pulumi's, one field would take all others away.
    `pulumi up --refresh --run-program` gives the field back to Pulumi, and with it opens the queue again.

    Raises:
        ClusterError: When the server refuses or cannot be asked.
    """
    change = {
        "apiVersion": labels.KUEUE_API,
        "kind": "ClusterQueue",
        "metadata": {"name": queue},
        "spec": {"stopPolicy": HOLD_AND_DRAIN},
    }
    # Every kind of `kinds.py` has it; lightkube declares it further down.
    made: Any = ClusterQueue
    with explained(connection.where, f"ClusterQueue {queue}", connection.client):
        connection.client.apply(
            made.from_dict(change),
            field_manager=labels.DRAIN_MANAGER,
            force=True,
            dry_run=is_dry,
        )


def _deployed_spec(connection: Connection) -> Mapping[str, str] | None:
    try:
        found = connection.get(ConfigMap, labels.SPEC_CONFIG, labels.SYSTEM_NAMESPACE)
    except ClusterError as error:
        if error.fault is Fault.NOT_FOUND:
            return None
        raise
    return dict(found.get("data") or {})


def _ours(connection: Connection, kind: Kind) -> tuple[Object, ...]:
    return _listed(connection, kind, labels=_OURS)


def _listed(connection: Connection, kind: Kind, **which: Any) -> tuple[Object, ...]:
    """Return the objects of a kind; none where the cluster does not know the kind any more."""
    try:
        return connection.list(kind, **which)
    except ClusterError as error:
        if error.fault is Fault.NO_SUCH_KIND:
            return ()
        raise


def _holds_quota(workload: Object) -> bool:
    return is_true(workload, "QuotaReserved") and not _is_over(workload)


def _is_ours(item: Object) -> bool:
    return _OURS.items() <= (item["metadata"].get("labels") or {}).items()


def _queue_of(workload: Object) -> str:
    """Return the ClusterQueue that has admitted it; empty while it waits."""
    admission = (workload.get("status") or {}).get("admission") or {}
    return str(admission.get("clusterQueue", ""))


def _is_over(workload: Object) -> bool:
    return is_true(workload, "Finished")


def _counted(workloads: Iterable[Object]) -> Mapping[str, int]:
    return dict(sorted(Counter(each["metadata"]["namespace"] for each in workloads).items()))


def _is_the_systems(item: Object) -> bool:
    return _name(item) in labels.SYSTEM_NAMESPACES


def _name(item: Object) -> str:
    return str(item["metadata"]["name"])
