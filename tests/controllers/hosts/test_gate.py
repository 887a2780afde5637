"""The gate's loop against a stand-in for the API server that keeps versions as the real one does."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from lab.nodes import node_objects
from tallyard import labels
from tallyard.cluster.client import Connection
from tallyard.cluster.faults import ClusterError, Fault
from tallyard.cluster.kinds import Event, Node
from tallyard.cluster.watch import Changed, Listed
from tallyard.controllers.hosts import gate as gate_module
from tallyard.controllers.hosts.gate import WORK_SECONDS_MAX, Gate
from tallyard.controllers.metrics import Metrics
from tallyard.render.controllers import SpecFile, spec_manifest
from tallyard.spec.model import Platform
from tests.running_lab import OVERLAY

NOW = datetime(2026, 12, 1, 8, 0, tzinfo=UTC)
BASE = OVERLAY.with_name("platform.yaml")


@dataclass
class _Cluster:
    """Nodes by name, and what was written."""

    nodes: dict[str, dict[str, Any]]
    written: list[str] = field(default_factory=list)
    events: list[Mapping[str, Any]] = field(default_factory=list)
    fault: Fault | None = None
    refused: frozenset[str] = frozenset()
    failing: frozenset[str] = frozenset()

    def merge(
        self, kind: type, name: str, change: Mapping[str, Any], namespace: str | None = None
    ) -> Mapping[str, Any]:
        assert kind is Node
        assert namespace is None
        if self.fault:
            raise ClusterError(self.fault, "here", detail="down", name=name)
        if name in self.refused:
            raise ClusterError(Fault.REFUSED, "here", detail="a webhook says no")
        if name in self.failing:
            raise ClusterError(Fault.SERVER_FAILED, "here", detail="a webhook does not answer")
        node = self.nodes[name]
        if node["metadata"]["resourceVersion"] != change["metadata"]["resourceVersion"]:
            raise ClusterError(Fault.CONFLICT, "here", name=name)
        self.touch(name, **change.get("spec", {}))
        held = change["metadata"]["annotations"][labels.HELD]
        node = self.nodes[name]
        node["metadata"]["annotations"] = {
            k: v
            for k, v in {**node["metadata"]["annotations"], labels.HELD: held}.items()
            if v is not None
        }
        self.written.append(name)
        return copy.deepcopy(node)

    def create(self, kind: type, item: Mapping[str, Any]) -> Mapping[str, Any]:
        assert kind is Event
        if "Event" in self.refused:
            raise ClusterError(Fault.FORBIDDEN, "here", detail="no")
        self.events.append(item)
        return item

    def touch(self, name: str, **spec: Any) -> None:
        """Change a node, as anybody may."""
        node = copy.deepcopy(self.nodes[name])
        node["metadata"]["resourceVersion"] = str(int(node["metadata"]["resourceVersion"]) + 1)
        node["spec"] = {k: v for k, v in {**node["spec"], **spec}.items() if v is not None}
        self.nodes[name] = node

    def listed(self) -> Listed:
        return Listed(tuple(copy.deepcopy(node) for node in self.nodes.values()))

    def held(self) -> set[str]:
        return {
            name
            for name, node in self.nodes.items()
            if any(t["key"] == labels.UNVERIFIED_TAINT for t in node["spec"].get("taints", []))
        }


@dataclass
class _Replica:
    cluster: _Cluster
    leads: bool = True
    metrics: Metrics = field(default_factory=Metrics)

    def __post_init__(self) -> None:
        self.gate = Gate(lambda: self.leads, self.metrics, lambda: NOW)

    def work(self) -> None:
        self.gate.work(lambda: cast("Connection", self.cluster))


def _config(overlay: str | None = None) -> Mapping[str, Any]:
    files = (
        SpecFile("local.yaml", overlay or OVERLAY.read_text()),
        SpecFile("platform.yaml", BASE.read_text()),
    )
    return spec_manifest(*files).object


@pytest.fixture
def cluster(platform: Platform) -> _Cluster:
    nodes = {n["metadata"]["name"]: n for n in node_objects(platform, is_gated=True)}
    for number, node in enumerate(nodes.values()):
        node["metadata"] |= {"resourceVersion": str(number), "uid": f"u{number}"}
    return _Cluster(nodes)


@pytest.fixture
def replica(cluster: _Cluster) -> _Replica:
    replica = _Replica(cluster)
    replica.gate.see_nodes(cluster.listed())
    replica.gate.see_spec(Listed((_config(),)))
    return replica


def test_all_hosts_that_are_right_are_opened_once(cluster: _Cluster, replica: _Replica) -> None:
    assert len(cluster.held()) == 14
    replica.work()
    assert cluster.held() == set()
    assert len(cluster.written) == len(cluster.events) == 14
    replica.gate.see_nodes(cluster.listed())
    replica.work()
    assert len(cluster.written) == len(cluster.events) == 14


def test_nothing_is_written_before_a_spec_was_seen(cluster: _Cluster) -> None:
    replica = _Replica(cluster)
    replica.gate.see_nodes(cluster.listed())
    replica.work()
    replica.gate.see_spec(Listed(()))
    replica.work()
    assert cluster.written == []
    assert replica.gate.platform is None


def test_a_replica_that_does_not_lead_looks_on_and_takes_over_where_the_other_stopped(
    cluster: _Cluster, replica: _Replica
) -> None:
    replica.leads = False
    replica.work()
    assert cluster.written == []
    assert replica.metrics.registry.get_sample_value("tallyard_hosts", {"state": "released"}) == 16
    replica.leads = True
    replica.gate.begin_to_lead()
    replica.work()
    assert cluster.held() == set()


def test_a_replica_that_loses_the_lease_in_the_middle_writes_no_further(
    cluster: _Cluster,
) -> None:
    turns = iter([True] * 3)
    gate = Gate(lambda: next(turns, False), Metrics(), lambda: NOW)
    gate.see_nodes(cluster.listed())
    gate.see_spec(Listed((_config(),)))
    gate.work(lambda: cast("Connection", cluster))
    assert len(cluster.written) == 3


def test_a_lapse_of_the_lease_that_nobody_notices_loses_neither_a_host_nor_an_event(
    cluster: _Cluster,
) -> None:
    """It runs out after the fifth host and is renewed before anybody looks again."""
    now = 0.0

    def is_leading() -> bool:
        return not 8.0 <= now < 9.0

    class Slow(_Cluster):
        def merge(self, *arguments: Any, **options: Any) -> Mapping[str, Any]:
            nonlocal now
            written = super().merge(*arguments, **options)
            now += 1.6
            return written

    slow = Slow(cluster.nodes)
    gate = Gate(is_leading, Metrics(), lambda: NOW, lambda: now)
    gate.see_nodes(slow.listed())
    gate.see_spec(Listed((_config(),)))
    gate.work(lambda: cast("Connection", slow))
    assert (len(slow.written), len(slow.events)) == (5, 0)
    now = 9.0
    gate.work(lambda: cast("Connection", slow))
    while gate.is_behind:
        gate.work(lambda: cast("Connection", slow))
    assert slow.held() == set()
    assert len(slow.written) == len(slow.events) == 14


def test_what_another_replica_has_done_meanwhile_is_not_done_again(
    cluster: _Cluster, replica: _Replica
) -> None:
    replica.leads = False
    replica.work()
    other = _Replica(cluster)
    other.gate.see_nodes(cluster.listed())
    other.gate.see_spec(Listed((_config(),)))
    other.work()
    for node in cluster.nodes.values():
        replica.gate.see_nodes(Changed(copy.deepcopy(node), is_gone=False))
    replica.leads = True
    replica.work()
    assert len(cluster.written) == len(cluster.events) == 14


def test_a_round_is_bounded_in_writes_and_in_events_and_the_next_one_goes_on(
    cluster: _Cluster, replica: _Replica, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate_module, "WRITES_MAX", 5)
    monkeypatch.setattr(gate_module, "TELLS_MAX", 3)
    done = []
    for _ in range(6):
        replica.work()
        done.append((len(cluster.written), len(cluster.events), replica.gate.is_behind))
    assert done == [
        *((5, 3, True), (10, 6, True), (14, 9, True)),
        *((14, 12, True), (14, 14, False), (14, 14, False)),
    ]
    assert cluster.held() == set()


def test_a_round_against_a_slow_server_ends_in_time(cluster: _Cluster) -> None:
    ticks = iter(range(0, 1000, 4))
    gate = Gate(lambda: True, Metrics(), lambda: NOW, lambda: float(next(ticks)))
    gate.see_nodes(cluster.listed())
    gate.see_spec(Listed((_config(),)))
    gate.work(lambda: cast("Connection", cluster))
    assert 0 < len(cluster.written) * 4 <= WORK_SECONDS_MAX
    assert gate.is_behind
    for _ in range(20):
        gate.work(lambda: cast("Connection", cluster))
    assert cluster.held() == set()
    assert not gate.is_behind


def test_a_taint_that_somebody_adds_meanwhile_is_not_lost(
    cluster: _Cluster, replica: _Replica
) -> None:
    other = {"key": "corp.example/repair", "effect": labels.NO_SCHEDULE}
    cluster.touch("a100-00", taints=[*cluster.nodes["a100-00"]["spec"]["taints"], other])
    replica.work()
    assert "a100-00" in cluster.held()
    assert "a100-01" not in cluster.held()
    replica.gate.see_nodes(Changed(copy.deepcopy(cluster.nodes["a100-00"]), is_gone=False))
    replica.work()
    assert "a100-00" not in cluster.held()
    assert other in cluster.nodes["a100-00"]["spec"]["taints"]


def test_what_could_not_be_written_is_written_by_the_next_round(
    cluster: _Cluster, replica: _Replica
) -> None:
    cluster.fault = Fault.UNREACHABLE
    with pytest.raises(ClusterError):
        replica.work()
    assert cluster.written == []
    cluster.fault = None
    replica.work()
    assert cluster.held() == set()


def test_a_host_that_the_server_refuses_keeps_no_other_waiting(
    cluster: _Cluster, replica: _Replica
) -> None:
    cluster.refused = frozenset({"a100-00", "Event"})
    replica.work()
    assert cluster.held() == {"a100-00"}
    failed = {"request": "write"}
    value = replica.metrics.registry.get_sample_value
    assert value("tallyard_controllers_failures_total", failed) == 14
    cluster.refused = frozenset()
    replica.gate.see_nodes(cluster.listed())
    replica.work()
    assert cluster.held() == set()


def test_an_overloaded_server_ends_the_round_and_nothing_waits_for_the_next_list(
    cluster: _Cluster, replica: _Replica
) -> None:
    cluster.fault = Fault.SERVER_FAILED
    with pytest.raises(ClusterError):
        replica.work()
    cluster.fault = None
    replica.work()
    assert cluster.held() == set()


def test_a_host_at_which_the_server_always_fails_goes_last(
    cluster: _Cluster, replica: _Replica
) -> None:
    """A webhook that does not answer looks as if the whole server did not."""
    cluster.failing = frozenset({"a100-00"})
    for _ in range(3):
        with pytest.raises(ClusterError):
            replica.work()
    assert cluster.held() == {"a100-00"}
    cluster.failing = frozenset()
    replica.work()
    assert cluster.held() == set()


def test_hosts_are_closed_before_others_are_opened(cluster: _Cluster, replica: _Replica) -> None:
    replica.work()
    cluster.written.clear()
    ours = {"key": labels.UNVERIFIED_TAINT, "effect": labels.NO_SCHEDULE}
    cluster.touch("a100-00", taints=[*cluster.nodes["a100-00"]["spec"]["taints"], ours])
    cluster.touch("rtx-03")
    cluster.nodes["rtx-03"]["metadata"]["labels"][labels.NODE_POOL] = "inference"
    replica.gate.see_nodes(cluster.listed())
    replica.work()
    assert cluster.written == ["rtx-03", "a100-00"]


def test_a_host_that_leaves_is_missing_and_a_stranger_that_leaves_is_forgotten(
    cluster: _Cluster, replica: _Replica
) -> None:
    stranger = {
        "metadata": {
            "name": "x",
            "uid": "x",
            "resourceVersion": "1",
            "labels": {"gpu.model": "y"},
            "annotations": {},
        },
        "spec": {},
    }
    cluster.nodes["x"] = stranger
    replica.gate.see_nodes(Changed(stranger, is_gone=False))
    replica.work()

    def count(state: str) -> float | None:
        return replica.metrics.registry.get_sample_value("tallyard_hosts", {"state": state})

    assert (count("not-in-spec"), count("missing")) == (1, 0)
    replica.gate.see_nodes(Changed(stranger, is_gone=True))
    replica.gate.see_nodes(Changed(cluster.nodes["a100-00"], is_gone=True))
    replica.work()
    assert (count("not-in-spec"), count("missing")) == (0, 1)
    assert replica.metrics.registry.get_sample_value("tallyard_host_held", {"host": "x"}) is None


def test_a_spec_that_cannot_be_loaded_is_told_once_and_the_last_one_stays(
    cluster: _Cluster, replica: _Replica
) -> None:
    replica.work()
    cluster.events.clear()
    wrong = _config(OVERLAY.read_text().replace("hosts:", "host:", 1))
    before = replica.gate.platform
    for _ in range(2):
        replica.gate.see_spec(Listed(({**wrong, "metadata": {**wrong["metadata"], "uid": "c"}},)))
        replica.work()
    assert replica.gate.platform is before
    (event,) = cluster.events
    assert event["reason"] == "SpecRefused"
    assert event["metadata"]["namespace"] == labels.SYSTEM_NAMESPACE
    assert replica.metrics.registry.get_sample_value("tallyard_spec_loaded") == 0
    replica.gate.see_spec(Listed((_config(),)))
    assert replica.metrics.registry.get_sample_value("tallyard_spec_loaded") == 1


def test_a_spec_that_was_gone_and_is_back_is_in_force_again(replica: _Replica) -> None:
    replica.gate.see_spec(Changed(_config(), is_gone=True))
    assert replica.metrics.registry.get_sample_value("tallyard_spec_loaded") == 0
    replica.gate.see_spec(Listed((_config(),)))
    assert replica.metrics.registry.get_sample_value("tallyard_spec_loaded") == 1
