"""The simulated hosts: one Node object for each host of the spec."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from lab.api import Api
from lab.errors import LabError
from tallyard import labels
from tallyard.render.capacity import PODS_PER_HOST
from tallyard.render.flavors import card_resource
from tallyard.spec.model import Accelerator, Node, Platform

# KWOK plays the kubelet of nodes that carry this.
FAKE = "kwok.x-k8s.io/node"
# Roomy on purpose: the lab is not about disks.
EPHEMERAL_STORAGE = "2Ti"
# KWOK takes a second for all of them. When it has asked for its stages before the API server knew
# what a Stage is, it asks again after ever longer times, up to a minute on a slow machine.
READY_SECONDS_MAX = 180.0
_POLL_SECONDS = 0.1


def node_objects(platform: Platform, *, is_gated: bool = False) -> list[dict[str, Any]]:
    """Return the Node objects of all hosts, in the spec's order.

    Args:
        platform: the spec.
        is_gated: whether hosts with cards join closed, as a kubelet's `registerWithTaints`
            would have them, until the host gate opens them. In a bare control plane nobody
            would, and they join open.
    """
    return [_node(platform, node, is_gated=is_gated) for node in platform.nodes]


def reconcile(api: Api, wanted: Iterable[dict[str, Any]]) -> tuple[int, int]:
    """Make the simulated hosts those that are wanted; others of the cluster are not touched.

    Returns:
        How many were created or changed, and how many were removed.
    """
    targets = {manifest["metadata"]["name"]: manifest for manifest in wanted}
    present = api.nodes(FAKE)
    stale = present.keys() - targets.keys()
    for name in sorted(stale):
        api.delete_node(name)
    changed = [m for n, m in targets.items() if not is_as_wanted(present.get(n), m)]
    for manifest in changed:
        api.apply_node(manifest)
    return len(changed), len(stale)


def wait_ready(api: Api) -> None:
    """Wait until KWOK has taken up all simulated hosts.

    Raises:
        LabError: it did not in time.
    """
    deadline = time.monotonic() + READY_SECONDS_MAX
    while missing := [name for name, node in api.nodes(FAKE).items() if not is_ready(node)]:
        if time.monotonic() > deadline:
            raise LabError(
                f"{len(missing)} simulated hosts are not ready",
                why=f"after {READY_SECONDS_MAX:.0f} s KWOK has not taken up {missing[0]}",
                advice="See its log by `tally lab logs kwok`, then run `up` again",
            )
        time.sleep(_POLL_SECONDS)


def is_ready(node: dict[str, Any]) -> bool:
    """Say whether a node reports that it can run pods."""
    conditions = node.get("status", {}).get("conditions", [])
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def is_as_wanted(present: dict[str, Any] | None, wanted: dict[str, Any]) -> bool:
    """Say whether a node has all that is wanted of it, and no taint beyond that but the
    cluster's own ones. The gate's taint is the gate's: a host that it has opened stays open."""
    if present is None:
        return False
    metadata, status = present["metadata"], present.get("status", {})
    taints = [
        {k: v for k, v in taint.items() if k != "timeAdded"}
        for taint in present.get("spec", {}).get("taints", [])
        if not taint["key"].startswith("node.kubernetes.io/")
        and taint["key"] != labels.UNVERIFIED_TAINT
    ]
    wanted_taints = [
        taint
        for taint in wanted["spec"].get("taints", [])
        if taint["key"] != labels.UNVERIFIED_TAINT
    ]
    return (
        metadata.get("labels", {}).items() >= wanted["metadata"]["labels"].items()
        and taints == wanted_taints
        and all(
            status.get(part, {}).items() >= wanted["status"][part].items()
            for part in ("capacity", "allocatable")
        )
    )


def _node(platform: Platform, node: Node, *, is_gated: bool) -> dict[str, Any]:
    accelerator = platform.accelerators[node.model] if node.model else None
    resources = {
        "cpu": str(node.cpu),
        "memory": node.memory,
        "ephemeral-storage": EPHEMERAL_STORAGE,
        "pods": str(PODS_PER_HOST),
    }
    if accelerator:
        resource = card_resource(platform, node.pool, accelerator.name)
        resources[resource] = str(node.cards * platform.pools[node.pool].slices)
    spec: dict[str, Any] = {}
    if accelerator:
        spec["taints"] = [
            {"key": labels.POOL_TAINT, "value": node.pool, "effect": labels.NO_SCHEDULE}
        ]
        if is_gated:
            spec["taints"].append({"key": labels.UNVERIFIED_TAINT, "effect": labels.NO_SCHEDULE})
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": node.name,
            "labels": _labels(node, accelerator),
            "annotations": {FAKE: "fake"},
        },
        "spec": spec,
        "status": {"capacity": resources, "allocatable": resources},
    }


def _labels(node: Node, accelerator: Accelerator | None) -> dict[str, str]:
    of_host = {
        labels.NODE_HOSTNAME: node.name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        labels.NODE_POOL: node.pool,
        labels.NODE_BLOCK: node.block,
        labels.NODE_RACK: node.rack,
    }
    if accelerator is None:
        return of_host
    return of_host | {
        labels.NODE_MODEL: accelerator.name,
        labels.GPU_VENDOR: accelerator.vendor,
        labels.GPU_MODEL: accelerator.name,
        labels.GPU_MEMORY: accelerator.memory,
    }
