"""Kueue's feature gates that we set, each with the version it was seen in and why.

Gates that are not listed have their version's default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class FeatureGate:
    """One gate. `seen_in` is the version in which the reason was found to hold."""

    is_on: bool
    seen_in: str
    reason: str


KUEUE_FEATURE_GATES: Mapping[str, FeatureGate] = {
    "TASReplaceNodeOnNodeTaints": FeatureGate(
        is_on=False,
        seen_in="0.17.0",
        # pkg/controller/tas/node_controller.go, classifyTaints over Workload.spec.podSets.
        reason=(
            "It compares a host's taints with the tolerations of the user's template only and "
            "does not count those of the flavor. On tainted pools every job is then evicted as "
            "NodeFailures when its pods end, and a pod that is not bound yet is marked failed."
        ),
    ),
}
