"""Work as tests submit it, whole in itself, and what became of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from tallyard import labels
from tests.running_lab import RunningLab

WAIT_SECONDS_MAX = 90.0
# A service of fifty pods leaves as many records, which Kueue lets go one by one.
REMOVED_SECONDS_MAX = 240.0
CARD = "nvidia.com/gpu"
IMAGE = "registry.example.com/x:1"
START_DELAY = "sim.tallyard.dev/start-delay"
RUN = "sim.tallyard.dev/run"
JOB_NAME = "batch.kubernetes.io/job-name"
# What Pod Security `restricted` wants to be said.
_POD_CONTEXT = {
    "runAsNonRoot": True,
    "runAsUser": 1000,
    "seccompProfile": {"type": "RuntimeDefault"},
}
_CONTEXT = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


def container(cards: int, resource: str = CARD) -> dict[str, Any]:
    """Return a container that asks for cards and little else."""
    small = {"cpu": "1", "memory": "1Gi"}
    limits = {**small, resource: cards} if cards else small
    return {
        "name": "main",
        "image": IMAGE,
        "securityContext": _CONTEXT,
        "resources": {"requests": small, "limits": limits},
    }


def job(
    name: str,
    queue: str,
    cards: int = 1,
    *,
    namespace: str,
    pods: int = 1,
    model: str = "",
    priority: str = "training",
    run: str = "1h",
    resource: str = CARD,
    annotations: Mapping[str, str] | None = None,
    max_seconds: int | None = None,
) -> dict[str, Any]:
    """Return a Job of `pods` pods at once, each with `cards` cards."""
    limit = {} if max_seconds is None else {labels.MAX_EXEC_TIME: str(max_seconds)}
    spec: dict[str, Any] = {
        "restartPolicy": "Never",
        "priorityClassName": priority,
        "securityContext": _POD_CONTEXT,
        "containers": [container(cards, resource)],
    }
    if model:
        spec["nodeSelector"] = {labels.GPU_MODEL: model}
    told = {RUN: run, **(annotations or {})}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {labels.QUEUE_NAME: queue, labels.PRIORITY_CLASS: priority, **limit},
        },
        "spec": {
            "parallelism": pods,
            "completions": pods,
            "backoffLimit": 0,
            "template": {"metadata": {"annotations": told}, "spec": spec},
        },
    }


def service(
    name: str, queue: str, *, namespace: str, replicas: int, cards: int = 1, resource: str = CARD
) -> dict[str, Any]:
    """Return a Deployment whose pods have `cards` cards each."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {labels.QUEUE_NAME: queue, labels.PRIORITY_CLASS: "inference"},
        },
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {
                    "priorityClassName": "inference",
                    "securityContext": _POD_CONTEXT,
                    "containers": [container(cards, resource)],
                },
            },
        },
    }


def submit(lab: RunningLab, *objects: dict[str, Any], user: str = "admin") -> None:
    """Create objects as somebody."""
    made = lab.kubectl("create", "-f", "-", objects=list(objects), user=user)
    assert made.returncode == 0, made.stderr


def remove(lab: RunningLab, *objects: dict[str, Any]) -> None:
    """Delete objects and wait until nothing of them holds any quota."""
    lab.kubectl("delete", "-f", "-", "--ignore-not-found", objects=list(objects))
    # A service's pods have its name and more; each has a record of its own.
    names = tuple(item["metadata"]["name"] for item in objects)

    def is_gone(namespace: str) -> bool:
        return not any(owner_of(each).startswith(names) for each in workloads(lab, namespace))

    for namespace in {item["metadata"]["namespace"] for item in objects}:
        wait(partial(is_gone, namespace), REMOVED_SECONDS_MAX)


@contextmanager
def cordoned(lab: RunningLab, host: str) -> Iterator[None]:
    """Let a host take no new pods meanwhile."""
    assert lab.kubectl("cordon", host).returncode == 0
    try:
        yield
    finally:
        assert lab.kubectl("uncordon", host).returncode == 0


def pods_of(lab: RunningLab, name: str, namespace: str) -> list[dict[str, Any]]:
    """Return the pods of a Job or a service that are not being deleted."""
    items: list[dict[str, Any]] = lab.get("pods", "-n", namespace)["items"]
    return [
        pod
        for pod in items
        if name in {pod["metadata"].get("labels", {}).get(key) for key in (JOB_NAME, "app")}
        and "deletionTimestamp" not in pod["metadata"]
    ]


def running(lab: RunningLab, name: str, namespace: str) -> list[dict[str, Any]]:
    """Return those of its pods that run."""
    return [p for p in pods_of(lab, name, namespace) if p["status"].get("phase") == "Running"]


def hosts_of(lab: RunningLab, name: str, namespace: str) -> list[str]:
    """Return the hosts of its pods, one for each pod that has one."""
    pods = pods_of(lab, name, namespace)
    return sorted(p["spec"]["nodeName"] for p in pods if p["spec"].get("nodeName"))


def workloads(lab: RunningLab, namespace: str) -> list[dict[str, Any]]:
    """Return Kueue's records in a namespace."""
    items: list[dict[str, Any]] = lab.get("workloads.kueue.x-k8s.io", "-n", namespace)["items"]
    return items


def workload(lab: RunningLab, name: str, namespace: str) -> dict[str, Any]:
    """Return the record of a Job; empty while there is none."""
    found = (each for each in workloads(lab, namespace) if owner_of(each) == name)
    return next(found, {})


def owner_of(record: Mapping[str, Any]) -> str:
    """Return the name of the Job or pod that a record stands for."""
    owners = record["metadata"].get("ownerReferences") or [{"name": ""}]
    return str(owners[0]["name"])


def condition(record: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return a condition of a record; empty where there is none."""
    found = record.get("status", {}).get("conditions", [])
    return next((each for each in found if each["type"] == kind), {})


def is_true(record: Mapping[str, Any], kind: str) -> bool:
    """Say whether a condition holds."""
    return condition(record, kind).get("status") == "True"


def reserved(lab: RunningLab, queue: str, resource: str = CARD) -> int:
    """Return how many cards a ClusterQueue holds."""
    status = lab.get("clusterqueue", queue).get("status", {})
    return sum(
        int(each["total"])
        for flavor in status.get("flavorsReservation", [])
        for each in flavor["resources"]
        if each["name"] == resource
    )


def wait(is_so: Callable[[], bool], seconds_max: float = WAIT_SECONDS_MAX) -> float:
    """Wait until something is so; return the seconds that it took."""
    begin = time.monotonic()
    while not is_so():
        assert time.monotonic() - begin < seconds_max
        time.sleep(0.3)
    return time.monotonic() - begin


def stays(is_so: Callable[[], bool], seconds: float) -> bool:
    """Say whether something is so all the time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not is_so():
            return False
        time.sleep(0.3)
    return True
