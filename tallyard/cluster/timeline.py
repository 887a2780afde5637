"""The life of one workload as a list of steps with times. Pure.

The API's times have whole seconds, so a delta of nothing means "within the same second".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from tallyard.cluster.conditions import (
    Object,
    became_true,
    condition,
    created,
    is_true,
    moment,
)

SUBMITTED = "submitted"
RESERVED = "reserved"
ADMITTED = "admitted"
BOUND = "bound"
RUNNING = "running"
EVICTED = "evicted"
FINISHED = "finished"
_ORDER = (SUBMITTED, RESERVED, ADMITTED, BOUND, RUNNING, EVICTED, FINISHED)


@dataclass(frozen=True)
class Step:
    """Something that happened.

    `since_previous` is None on the first step. `note` says where or how: the queue, the
    nodes, the reason of an end; it is Kubernetes' own word and not translated.
    """

    name: str
    at: datetime
    since_previous: timedelta | None = None
    note: str = ""


def timeline(workload: Object, pods: Iterable[Object]) -> tuple[Step, ...]:
    """Return what has happened so far, in the order of time.

    Args:
        workload: Kueue's Workload of a Job or a pod.
        pods: Its pods; a step of several pods counts when the last of them has taken it.
    """
    mine = tuple(pods)
    found = (*_workload_steps(workload), *_pod_steps(mine))
    steps = sorted(found, key=lambda step: (step.at, _ORDER.index(step.name)))
    first, *rest = steps
    return (
        first,
        *(
            replace(step, since_previous=step.at - before.at)
            for before, step in zip(steps, rest, strict=False)
        ),
    )


def _workload_steps(workload: Object) -> Iterator[Step]:
    made = created(workload)
    if made is None:
        raise ValueError("the workload has no creation time: it was never stored")
    yield Step(SUBMITTED, made, note=str(workload["spec"].get("queueName") or ""))
    queue = ((workload.get("status") or {}).get("admission") or {}).get("clusterQueue", "")
    for name, kind, note in (
        (RESERVED, "QuotaReserved", queue),
        (ADMITTED, "Admitted", ""),
        (EVICTED, "Evicted", _reason(workload, "Evicted")),
        (FINISHED, "Finished", _reason(workload, "Finished")),
    ):
        at = became_true(workload, kind)
        if at is not None:
            yield Step(name, at, note=note)


def _reason(workload: Object, kind: str) -> str:
    entry = condition(workload, kind)
    return str(entry.get("reason", "")) if entry else ""


def _pod_steps(pods: tuple[Object, ...]) -> Iterator[Step]:
    bound = [at for pod in pods if (at := became_true(pod, "PodScheduled"))]
    if pods and len(bound) == len(pods):
        yield Step(BOUND, max(bound), note=", ".join(nodes_of(pods)))
    running = [at for pod in pods if (at := started(pod))]
    if pods and len(running) == len(pods):
        yield Step(RUNNING, max(running))


def nodes_of(pods: Iterable[Object]) -> tuple[str, ...]:
    """Return the nodes of the pods, each once, in order."""
    return tuple(sorted({pod["spec"]["nodeName"] for pod in pods if pod["spec"].get("nodeName")}))


def started(pod: Object) -> datetime | None:
    """Return when the pod's first container began to run, or None."""
    status = pod.get("status") or {}
    times = [
        at
        for container in status.get("containerStatuses") or ()
        for state in (container.get("state") or {}).values()
        if isinstance(state, dict) and (at := moment(state.get("startedAt")))
    ]
    if times:
        return min(times)
    # A simulated pod may have no container states; ready says as much.
    return became_true(pod, "Ready") if is_true(pod, "Ready") else None
