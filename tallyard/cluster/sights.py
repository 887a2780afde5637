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
    """A pod of a Workload as it was just seen; moments are the kubelet's, seconds since 1970.

    `project` and `user` are whose it is, as the admission policies have stamped it.
    """

    pod: str
    namespace: str
    workload: str
    project: str
    user: str
    pod_set: str
    runs: bool
    began: int | None
    ended: int | None
    is_disrupted: bool


def sight_of(pod: Object) -> Sight | None:
    """Return what is seen of a pod; None of one that belongs to no Workload.

    Kueue 0.17 names the Workload in an annotation of each pod and the pod set in a label, once it
    is admitted; pods that are one Workload together name it in a label from the begin.
    """
    metadata, status = pod["metadata"], pod.get("status") or {}
    own = metadata.get("labels") or {}
    annotated = (metadata.get("annotations") or {}).get(labels.WORKLOAD)
    workload = annotated or own.get(labels.POD_GROUP)
    if not workload:
        return None
    phase = status.get("phase")
    began = min(_moments(status, "startedAt"), default=None)
    ended = max(_moments(status, "finishedAt"), default=None)
    return Sight(
        pod=str(metadata["uid"]),
        namespace=str(metadata["namespace"]),
        workload=str(workload),
        project=str(own.get(labels.PROJECT, "")),
        user=str(own.get(labels.USER, "")),
        pod_set=str(own.get(labels.POD_SET, "")),
        runs=phase == _RUNNING and labels.POD_SET in own,
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
