"""A pod of a Workload as it is seen: whether it runs, since when, and how it ended. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tallyard import labels
from tallyard.cluster.conditions import Object, is_true, moment

_RUNNING, _OVER = "Running", ("Succeeded", "Failed")
# The pod's condition when not its program but a drain, a scheduler or a lost host ended it.
DISRUPTED = "DisruptionTarget"


@dataclass(frozen=True)
class Sight:
    """A pod of a Workload as it was just seen; moments are the kubelet's, seconds since 1970."""

    pod: str
    namespace: str
    workload: str
    pod_set: str
    runs: bool
    began: int | None
    ended: int | None
    is_disrupted: bool


def sight_of(pod: Object) -> Sight | None:
    """Return what is seen of a pod; None of one that belongs to no Workload.

    Kueue 0.17 names the Workload in an annotation of each pod and the pod set in a label.
    """
    metadata, status = pod["metadata"], pod.get("status") or {}
    workload = (metadata.get("annotations") or {}).get(labels.WORKLOAD)
    pod_set = (metadata.get("labels") or {}).get(labels.POD_SET)
    if not workload or not pod_set:
        return None
    phase = status.get("phase")
    began = min(_moments(status, "startedAt"), default=None)
    ended = max(_moments(status, "finishedAt"), default=None)
    return Sight(
        pod=str(metadata["uid"]),
        namespace=str(metadata["namespace"]),
        workload=str(workload),
        pod_set=str(pod_set),
        runs=phase == _RUNNING,
        began=began,
        ended=ended if phase in _OVER else None,
        is_disrupted=is_true(pod, DISRUPTED),
    )


def _moments(status: Mapping[str, Any], name: str) -> Iterator[int]:
    """Yield when containers began or ended, as the kubelet says; the last time of each."""
    for container in status.get("containerStatuses") or ():
        for state in (container.get("state") or {}).values():
            at = moment((state or {}).get(name))
            if at is not None:
                yield int(at.timestamp())
