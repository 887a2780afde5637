"""Which hosts a pod's selector and affinity allow, by the labels that are known of them."""

from __future__ import annotations

from typing import Any

import pytest

from tallyard.cluster.node_selection import admits

LABELS = {"gpu.model": "A100", "gpu.memory": "40Gi", "cards": "8"}


def _term(*expressions: tuple[str, str, list[str]]) -> dict[str, Any]:
    return {"matchExpressions": [{"key": k, "operator": o, "values": v} for k, o, v in expressions]}


def _pod(*terms: dict[str, Any]) -> dict[str, Any]:
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [*terms]}}
    return {"affinity": {"nodeAffinity": required}}


@pytest.mark.parametrize(
    ("spec", "is_allowed"),
    [
        ({}, True),
        ({"nodeSelector": {"gpu.model": "A100"}}, True),
        ({"nodeSelector": {"gpu.model": "A800"}}, False),
        # Of what no flavor says nothing is known.
        ({"nodeSelector": {"disk": "nvme"}}, True),
        ({"nodeSelector": {"disk": "nvme", "gpu.memory": "80Gi"}}, False),
        (_pod(_term(("gpu.memory", "In", ["40Gi", "80Gi"]))), True),
        (_pod(_term(("gpu.memory", "In", ["80Gi"]))), False),
        (_pod(_term(("gpu.memory", "NotIn", ["40Gi"]))), False),
        (_pod(_term(("gpu.memory", "Exists", []))), True),
        (_pod(_term(("gpu.memory", "DoesNotExist", []))), False),
        (_pod(_term(("cards", "Gt", ["4"]))), True),
        (_pod(_term(("cards", "Lt", ["4"]))), False),
        (_pod(_term(("gpu.model", "Gt", ["4"]))), False),
        (_pod(_term(("disk", "In", ["nvme"]))), True),
        # All of a term, one of the terms.
        (_pod(_term(("gpu.model", "In", ["A100"]), ("gpu.memory", "In", ["80Gi"]))), False),
        (_pod(_term(("gpu.model", "In", ["A800"])), _term(("gpu.memory", "In", ["40Gi"]))), True),
        (_pod(), False),
        ({"affinity": {"nodeAffinity": {}}}, True),
        ({"affinity": {"podAffinity": {}}}, True),
        ({**_pod(_term(("gpu.model", "In", ["A100"]))), "nodeSelector": {"cards": "4"}}, False),
    ],
)
def test_what_a_pod_says_of_known_labels_decides(spec: dict[str, Any], is_allowed: bool) -> None:  # noqa: FBT001
    assert admits(spec, LABELS) is is_allowed
