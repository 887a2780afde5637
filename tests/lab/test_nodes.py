"""Simulated hosts are those of the spec, no more and no less."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, cast

import pytest

from lab.api import Api
from lab.nodes import FAKE, is_as_wanted, is_ready, node_objects, reconcile
from tallyard import labels
from tallyard.spec.model import Platform
from tests.running_lab import RunningLab


@pytest.fixture
def wanted(platform: Platform) -> dict[str, dict[str, Any]]:
    return {node["metadata"]["name"]: node for node in node_objects(platform)}


class _Cluster:
    """The part of an API server that hosts need; it keeps what it is given."""

    def __init__(self, nodes: dict[str, dict[str, Any]]) -> None:
        self.all = deepcopy(nodes)

    def nodes(self, annotation: str) -> dict[str, dict[str, Any]]:
        return {
            name: node
            for name, node in self.all.items()
            if annotation in node["metadata"].get("annotations", {})
        }

    def apply_node(self, manifest: dict[str, Any]) -> None:
        self.all[manifest["metadata"]["name"]] = deepcopy(manifest)

    def delete_node(self, name: str) -> None:
        del self.all[name]


def _reconcile(cluster: _Cluster, wanted: dict[str, dict[str, Any]]) -> tuple[int, int]:
    return reconcile(cast("Api", cluster), wanted.values())


def test_a_host_with_cards_offers_them_under_its_pool_and_keeps_others_off(
    wanted: dict[str, dict[str, Any]],
) -> None:
    node = wanted["bi-00"]
    assert node["metadata"]["labels"] == {
        "kubernetes.io/hostname": "bi-00",
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        labels.NODE_POOL: "domestic",
        labels.NODE_MODEL: "BI-V150",
        labels.NODE_BLOCK: "b1",
        labels.NODE_RACK: "r5",
        labels.GPU_VENDOR: "iluvatar",
        labels.GPU_MODEL: "BI-V150",
        labels.GPU_MEMORY: "64Gi",
    }
    assert node["spec"]["taints"] == [
        {"key": labels.POOL_TAINT, "value": "domestic", "effect": "NoSchedule"}
    ]
    assert node["status"]["allocatable"]["iluvatar.ai/gpu"] == "8"
    assert node["status"]["allocatable"] == node["status"]["capacity"]


def test_a_host_without_cards_is_open_and_sells_none(wanted: dict[str, dict[str, Any]]) -> None:
    node = wanted["cpu-00"]
    assert "taints" not in node["spec"]
    assert labels.GPU_MODEL not in node["metadata"]["labels"]
    assert set(node["status"]["allocatable"]) == {"cpu", "memory", "ephemeral-storage", "pods"}


def test_hosts_that_are_right_are_not_touched(wanted: dict[str, dict[str, Any]]) -> None:
    assert _reconcile(_Cluster(wanted), wanted) == (0, 0)


def test_hosts_that_left_the_spec_go_and_hosts_of_others_stay(
    wanted: dict[str, dict[str, Any]],
) -> None:
    real = {"metadata": {"name": "real"}}
    cluster = _Cluster({**wanted, "real": real})
    fewer = {name: node for name, node in wanted.items() if name != "a100-03"}
    assert _reconcile(cluster, fewer) == (0, 1)
    assert set(cluster.all) == {*fewer, "real"}


def test_a_host_that_changed_is_repaired(wanted: dict[str, dict[str, Any]]) -> None:
    cluster = _Cluster(wanted)
    cluster.all["a100-00"]["metadata"]["labels"][labels.NODE_POOL] = "inference"
    del cluster.all["a100-01"]["status"]["allocatable"]["nvidia.com/gpu"]
    cluster.all["a100-02"]["spec"]["taints"] = []
    assert _reconcile(cluster, wanted) == (3, 0)
    assert cluster.all == wanted


def test_what_the_cluster_itself_adds_is_no_change(wanted: dict[str, dict[str, Any]]) -> None:
    node = deepcopy(wanted["a100-00"])
    node["metadata"]["labels"]["beta.kubernetes.io/os"] = "linux"
    node["status"]["allocatable"]["hugepages-2Mi"] = "0"
    node["spec"]["taints"].append({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"})
    assert is_as_wanted(node, wanted["a100-00"])


def test_hosts_with_cards_join_closed_where_a_gate_will_open_them(platform: Platform) -> None:
    gated = {n["metadata"]["name"]: n for n in node_objects(platform, is_gated=True)}
    keys = [taint["key"] for taint in gated["bi-00"]["spec"]["taints"]]
    assert keys == [labels.POOL_TAINT, labels.UNVERIFIED_TAINT]
    assert "taints" not in gated["cpu-00"]["spec"]


def test_a_host_that_was_opened_stays_open_and_one_that_changes_joins_anew(
    platform: Platform, wanted: dict[str, dict[str, Any]]
) -> None:
    gated = {n["metadata"]["name"]: n for n in node_objects(platform, is_gated=True)}
    cluster = _Cluster(wanted)  # all open
    assert _reconcile(cluster, gated) == (0, 0)
    cluster.all["a100-00"]["metadata"]["labels"][labels.NODE_RACK] = "r9"
    cluster.all["a100-01"]["spec"]["taints"].append(
        {"key": labels.UNVERIFIED_TAINT, "effect": "NoSchedule", "timeAdded": "now"}
    )
    assert _reconcile(cluster, gated) == (1, 0)
    assert cluster.all["a100-00"] == gated["a100-00"]


def test_the_hosts_of_the_spec_are_there_ready_and_with_their_cards(
    shared_lab: RunningLab, wanted: dict[str, dict[str, Any]]
) -> None:
    present = shared_lab.api.nodes(FAKE)
    assert present.keys() == wanted.keys()
    for name, node in present.items():
        assert is_as_wanted(node, wanted[name]), name
        assert is_ready(node), name
