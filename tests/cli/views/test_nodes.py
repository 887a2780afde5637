"""The rows of `tally node check`."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from lab.nodes import node_objects
from tallyard import labels
from tallyard.cli.views.nodes import HostRow, host_rows
from tallyard.controllers.hosts.survey import survey
from tallyard.controllers.hosts.verdict import State
from tallyard.spec.model import Platform

type Node = dict[str, Any]


@pytest.fixture
def nodes(platform: Platform) -> dict[str, Node]:
    """The hosts of the spec, all open."""
    return {node["metadata"]["name"]: copy.deepcopy(node) for node in node_objects(platform)}


def _rows(platform: Platform, nodes: dict[str, Node], lang: str = "en") -> dict[str, HostRow]:
    return {row.name: row for row in host_rows(survey(platform, nodes.values()), lang)}


def _close(node: Node) -> None:
    node["spec"].setdefault("taints", []).append(
        {"key": labels.UNVERIFIED_TAINT, "effect": labels.NO_SCHEDULE}
    )


def test_hosts_that_are_right_have_no_reason(platform: Platform, nodes: dict[str, Node]) -> None:
    rows = _rows(platform, nodes)
    assert all(row.is_right and not row.reason for row in rows.values())
    assert rows["a100-00"] == HostRow(
        "a100-00", "training", "A100-SXM4-40GB", State.RELEASED, is_open=True, reason=""
    )
    assert rows["cpu-00"].model == ""


def test_what_differs_and_is_closed_has_its_reason_alone(
    platform: Platform, nodes: dict[str, Node]
) -> None:
    nodes["a100-00"]["metadata"]["labels"][labels.NODE_RACK] = "r9"
    _close(nodes["a100-00"])
    row = _rows(platform, nodes)["a100-00"]
    assert (row.state, row.is_open) == (State.HELD, False)
    assert row.reason == f"the label {labels.NODE_RACK} is r9, the spec says r0"


@pytest.mark.parametrize(
    ("lang", "told"),
    [("en", "do the controllers run?"), ("zh", "控制器在运行吗？")],  # noqa: RUF001
)
def test_where_the_gate_has_not_acted_that_is_told(
    platform: Platform, nodes: dict[str, Node], lang: str, told: str
) -> None:
    nodes["a100-00"]["metadata"]["labels"][labels.NODE_RACK] = "r9"
    _close(nodes["a100-01"])
    rows = _rows(platform, nodes, lang)
    assert (rows["a100-00"].state, rows["a100-00"].is_open) == (State.HELD, True)
    assert "r9" in rows["a100-00"].reason
    assert (rows["a100-01"].state, rows["a100-01"].is_open) == (State.RELEASED, False)
    for name in ("a100-00", "a100-01"):
        assert rows[name].reason.endswith(told)
        assert not rows[name].is_right


def test_a_host_that_the_cluster_does_not_have_is_missing(
    platform: Platform, nodes: dict[str, Node]
) -> None:
    del nodes["a100-00"]
    row = _rows(platform, nodes)["a100-00"]
    assert (row.state, row.is_open) == (State.MISSING, None)
    assert row.reason == "the cluster has no node of this name"
    assert not row.is_right
