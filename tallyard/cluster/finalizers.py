"""Workloads that are being deleted and that only our finalizers still keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tallyard import labels
from tallyard.cluster.client import ALL_NAMESPACES, Connection
from tallyard.cluster.faults import ClusterError, Fault
from tallyard.cluster.kinds import Workload


@dataclass(frozen=True)
class Kept:
    """One of them, as it was seen: `others` are the finalizers that are not ours."""

    namespace: str
    name: str
    version: str
    others: tuple[str, ...]


def kept(connection: Connection, namespace: str | None = None) -> tuple[Kept, ...]:
    """Return those that are being deleted and have a finalizer of ours.

    Args:
        connection: To the cluster.
        namespace: Only in this one; None for all.

    Raises:
        ClusterError: They cannot be read.
    """
    found = []
    for item in connection.list(Workload, namespace or ALL_NAMESPACES):
        meta = item["metadata"]
        all_ = tuple(meta.get("finalizers") or ())
        if "deletionTimestamp" in meta and not labels.FINALIZERS.isdisjoint(all_):
            others = tuple(each for each in all_ if each not in labels.FINALIZERS)
            place = str(meta["namespace"]), str(meta["name"])
            found.append(Kept(*place, str(meta["resourceVersion"]), others))
    return tuple(sorted(found, key=lambda each: (each.namespace, each.name)))


def release(connection: Connection, found: Sequence[Kept]) -> tuple[Kept, ...]:
    """Take our finalizers off, and return those that had changed meanwhile and keep them.

    Raises:
        ClusterError: The server takes nothing, or not from this person.
    """
    changed = []
    for each in found:
        fields = {"metadata": {"resourceVersion": each.version, "finalizers": [*each.others]}}
        try:
            connection.merge(Workload, each.name, fields, each.namespace)
        except ClusterError as error:
            if error.fault is Fault.CONFLICT:
                changed.append(each)
            elif error.fault is not Fault.NOT_FOUND:
                raise
    return tuple(changed)
