"""Workloads as Kueue 0.17 stores them, as far as a test needs them."""

from __future__ import annotations

from typing import Any

from tallyard import labels

type Object = dict[str, Any]


def pod_set(
    name: str = "main", count: int = 1, *, selector: dict[str, str] | None = None, **asks: str
) -> Object:
    """Return pods that are alike; `gpu` stands for `nvidia.com/gpu`, `slice` for a slice of one."""
    names = {"gpu": "nvidia.com/gpu", "slice": "nvidia.com/gpu.shared"}
    requests = {names.get(resource, resource): amount for resource, amount in asks.items()}
    spec: Object = {"containers": [{"name": "c", "resources": {"requests": requests}}]}
    if selector:
        spec["nodeSelector"] = selector
    return {"name": name, "count": count, "template": {"spec": spec}}


def workload(*pod_sets: Object, queue: str = "training", **spec: Any) -> Object:
    """Return a Workload of a Job of li.wei's in nlp that was just made."""
    return {
        "apiVersion": labels.KUEUE_API,
        "kind": "Workload",
        "metadata": {
            "name": "job-train-7-1a2b3",
            "namespace": "nlp",
            "uid": "7d1f0c",
            "resourceVersion": "17",
            "creationTimestamp": "2026-11-02T08:00:00Z",
            "labels": {labels.PROJECT: "nlp", labels.USER: "li.wei"},
            "ownerReferences": [
                {"kind": "Job", "name": "train-7", "uid": "job-uid", "controller": True}
            ],
        },
        "spec": {
            "active": False,
            "queueName": queue,
            "podSets": [*(pod_sets or (pod_set(gpu="1", cpu="4", memory="4Gi"),))],
            "maximumExecutionTimeSeconds": 7200,
            **spec,
        },
        "status": {},
    }


def reserved(item: Object, *assignments: Object) -> Object:
    """Return it with quota: what was given to each of its pod sets."""
    admission = {"clusterQueue": "nlp-training", "podSetAssignments": [*assignments]}
    quota = {
        "type": "QuotaReserved",
        "status": "True",
        "lastTransitionTime": "2026-11-02T08:01:00Z",
    }
    return {**item, "status": {"admission": admission, "conditions": [quota]}}
