"""What people run, read together: Jobs, pods, and the Workloads that Kueue made for them.

Kueue makes one Workload for a Job and one for each pod of a Deployment. What belongs to
what is decided here, once and purely (`group`); the rest of the module only reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tallyard import labels
from tallyard.cluster.client import Connection
from tallyard.cluster.conditions import Object, owner
from tallyard.cluster.kinds import Event, Job, Pod
from tallyard.cluster.kueue import Queues, read_queues
from tallyard.cluster.scope import Namespaces, read

_JOB_NAME = "batch.kubernetes.io/job-name"
_REVISION = "pod-template-hash"


@dataclass(frozen=True)
class Work:
    """One thing a person submitted: its kind and name, its Workloads and its pods.

    `manifest` is the Job itself where there is one; other kinds are known by their pods and
    Workloads only, and the jobs of a JobSet are a part of it.
    """

    kind: str
    name: str
    namespace: str
    manifest: Object | None
    workloads: tuple[Object, ...]
    pods: tuple[Object, ...]


@dataclass(frozen=True)
class Submitted:
    """All work of a scope and the queues it stands in."""

    work: tuple[Work, ...]
    queues: Queues


def read_jobs(connection: Connection, scope: Namespaces) -> Submitted:
    """Read all work of a scope.

    Raises:
        ClusterError: When the server cannot be asked, or refuses the scope.
    """
    queues = read_queues(connection, scope)
    jobs = read(connection, Job, scope)
    pods = read(connection, Pod, scope)
    return Submitted(group(jobs, queues.workloads, pods), queues)


def read_events(connection: Connection, work: Work) -> tuple[Object, ...]:
    """Return the events of one piece of work, its workloads and its pods.

    Those of an earlier one of the same name are left out: its uid was another.
    """
    parts = [("Workload", item) for item in work.workloads] + [("Pod", item) for item in work.pods]
    if work.manifest is not None:
        parts.append((work.kind, work.manifest))
    uids = {(kind, item["metadata"]["name"]): item["metadata"].get("uid") for kind, item in parts}
    # Of a Deployment we have no manifest, so its uid is not known.
    uids.setdefault((work.kind, work.name), None)
    return tuple(
        event
        for event in connection.list(Event, namespace=work.namespace)
        if _is_about(event["involvedObject"], uids)
    )


def _is_about(about: Object, uids: Mapping[tuple[str, str], str | None]) -> bool:
    key = (about.get("kind", ""), about.get("name", ""))
    return key in uids and uids[key] in {None, about.get("uid")}


def group(
    jobs: Iterable[Object], workloads: Iterable[Object], pods: Iterable[Object]
) -> tuple[Work, ...]:
    """Return each piece of work with what belongs to it, oldest first."""
    pods_by_name = {_key(pod): pod for pod in pods}
    members: dict[tuple[str, str, str], _Members] = {}
    for job in jobs:
        if (owner(job) or ("", ""))[0] == "JobSet":
            continue
        namespace, name = _key(job)
        members[namespace, "Job", name] = _Members(job, [], [])
    for pod in pods_by_name.values():
        _member(members, (pod["metadata"]["namespace"], *_root_of_pod(pod))).pods.append(pod)
    for workload in workloads:
        root = _root_of_workload(workload, pods_by_name)
        _member(members, (workload["metadata"]["namespace"], *root)).workloads.append(workload)
    work = (
        Work(kind, name, namespace, m.manifest, tuple(m.workloads), tuple(m.pods))
        for (namespace, kind, name), m in members.items()
    )
    return tuple(sorted(work, key=lambda item: (submitted_at(item), item.namespace, item.name)))


def submitted_at(work: Work) -> str:
    """Return the time of the API at which the first of it was made."""
    parts = (*((work.manifest,) if work.manifest else ()), *work.workloads, *work.pods)
    return min(str(part["metadata"].get("creationTimestamp", "")) for part in parts)


@dataclass(frozen=True)
class _Members:
    manifest: Object | None
    workloads: list[Object]
    pods: list[Object]


def _member(members: dict[tuple[str, str, str], _Members], key: tuple[str, str, str]) -> _Members:
    return members.setdefault(key, _Members(None, [], []))


def _key(item: Object) -> tuple[str, str]:
    return item["metadata"]["namespace"], item["metadata"]["name"]


def _root_of_workload(workload: Object, pods: Mapping[tuple[str, str], Object]) -> tuple[str, str]:
    owned_by = owner(workload)
    if owned_by is None:
        return "Workload", workload["metadata"]["name"]
    kind, name = owned_by
    pod = pods.get((workload["metadata"]["namespace"], name)) if kind == "Pod" else None
    return _root_of_pod(pod) if pod is not None else owned_by


def _root_of_pod(pod: Object) -> tuple[str, str]:
    pod_labels: Mapping[str, str] = pod["metadata"].get("labels") or {}
    owned_by = owner(pod)
    if labels.JOBSET_NAME in pod_labels:
        return "JobSet", pod_labels[labels.JOBSET_NAME]
    if _JOB_NAME in pod_labels:
        return "Job", pod_labels[_JOB_NAME]
    if owned_by is None:
        return "Pod", pod["metadata"]["name"]
    kind, name = owned_by
    if kind == "ReplicaSet" and _REVISION in pod_labels:
        return "Deployment", name.removesuffix(f"-{pod_labels[_REVISION]}")
    return owned_by
