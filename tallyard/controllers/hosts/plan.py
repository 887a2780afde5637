"""What is to be written for a host, and what people are told of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tallyard import labels
from tallyard.cluster.events import Kind, Told
from tallyard.controllers.hosts.reasons import sentence
from tallyard.controllers.hosts.verdict import (
    Object,
    State,
    Verdict,
    is_kept_off,
    labels_of,
    taints_of,
    taints_wanted,
)

# Longer than any real sentence; the API server bounds all annotations of a node together.
_SENTENCE_LENGTH_MAX = 4_000


class Action(StrEnum):
    """What happens to a host; `EXPLAIN` changes the reasons alone."""

    HOLD = "hold"
    RELEASE = "release"
    EXPLAIN = "explain"


@dataclass(frozen=True)
class Plan:
    """A change of one node, of exactly the version that was judged, and the Event for it."""

    name: str
    action: Action
    change: Mapping[str, Any]
    told: Told


def plan_for(node: Object, verdict: Verdict) -> Plan | None:
    """Return what to write, or None where all is as it should be."""
    if verdict.state is State.IGNORED:
        return None
    meta, taints = node["metadata"], taints_of(node)
    wanted = taints_wanted(taints, is_held=verdict.is_tainted)
    why = sentence(verdict.reasons)[:_SENTENCE_LENGTH_MAX] or None
    before = (meta.get("annotations") or {}).get(labels.HELD)
    if wanted == taints and why == before:
        return None
    change: dict[str, Any] = {
        "metadata": {
            # Somebody else's taint that came in between is not lost: then nothing is written.
            "resourceVersion": meta["resourceVersion"],
            "annotations": {labels.HELD: why},
        }
    }
    if wanted != taints:
        change["spec"] = {"taints": [dict(taint) for taint in wanted] or None}
    action = _action(taints, verdict, is_new=wanted != taints)
    return Plan(meta["name"], action, change, _told(node, verdict, why))


def _action(taints: tuple[Mapping[str, Any], ...], verdict: Verdict, *, is_new: bool) -> Action:
    if not is_new:
        return Action.EXPLAIN
    return Action.HOLD if verdict.is_tainted and not is_kept_off(taints) else Action.RELEASE


def _told(node: Object, verdict: Verdict, why: str | None) -> Told:
    about = {"apiVersion": "v1", "kind": "Node", "metadata": node["metadata"]}
    if why is None:
        pool = labels_of(node).get(labels.NODE_POOL, "")
        return Told(
            about,
            Kind.NORMAL,
            "HostReleased",
            f"open for work of pool {pool}: it is as in the spec",
        )
    reason = "HostNotInSpec" if verdict.state is State.FOREIGN else "HostHeld"
    return Told(about, Kind.WARNING, reason, f"kept from new work: {why}")
