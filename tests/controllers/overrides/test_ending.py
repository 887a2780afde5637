"""The loop that takes back what an override gave, against a stand-in for the API server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from tallyard.cluster.client import Connection
from tallyard.cluster.faults import ClusterError, Fault
from tallyard.cluster.watch import Listed
from tallyard.controllers.metrics import Metrics
from tallyard.controllers.overrides.ending import Ending
from tallyard.controllers.spec_source import read_spec
from tallyard.render.controllers import SpecFile, spec_manifest
from tallyard.render.platform import render
from tallyard.spec.in_force import platform_at
from tests.running_lab import OVERLAY

BASE = OVERLAY.with_name("platform.yaml")
BEGIN = datetime(2026, 12, 1, tzinfo=UTC)
# The whole day, as the spec counts days: in Shanghai.
END = datetime(2026, 12, 5, 16, 0, tzinfo=UTC)
OVERRIDE = """\
    overrides:
      - cards: {training: {A800-SXM4-80GB: 24}}
        until: 2026-12-05
        reason: release
"""


@dataclass
class Cluster:
    """The objects of a platform, and what was written."""

    objects: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    written: list[str] = field(default_factory=list)
    events: list[Mapping[str, Any]] = field(default_factory=list)
    fault: Fault | None = None

    def get(self, kind: type, name: str) -> Mapping[str, Any]:
        """Return an object."""
        if self.fault:
            raise ClusterError(self.fault, "here", name=name, detail="away")
        return self.objects[kind.__name__, name]

    def merge(self, kind: type, name: str, change: Mapping[str, Any]) -> Mapping[str, Any]:
        """Change an object."""
        found = self.objects[kind.__name__, name]
        if found["metadata"]["resourceVersion"] != change["metadata"]["resourceVersion"]:
            raise ClusterError(Fault.CONFLICT, "here", name=name)
        found["spec"] |= change["spec"]
        self.written.append(name)
        return found

    def create(self, _kind: type, item: Mapping[str, Any]) -> Mapping[str, Any]:
        """Take an Event."""
        self.events.append(item)
        return item


@dataclass
class Case:
    """The loop with a clock that the test moves."""

    cluster: Cluster
    now: datetime = BEGIN
    leads: bool = True
    metrics: Metrics = field(default_factory=Metrics)

    def __post_init__(self) -> None:
        self.ending = Ending(lambda: self.leads, self.metrics, lambda: self.now)

    def work(self, after: timedelta = timedelta()) -> None:
        """Work, some time later."""
        self.now += after
        self.ending.work(lambda: cast("Connection", self.cluster))


@pytest.fixture
def config() -> Mapping[str, Any]:
    """The shipped spec with an override of nlp."""
    base = BASE.read_text().replace(
        "  nlp:\n    tier: gold\n", "  nlp:\n    tier: gold\n" + OVERRIDE
    )
    files = SpecFile("local.yaml", OVERLAY.read_text()), SpecFile(BASE.name, base)
    return spec_manifest(*files).object


@pytest.fixture
def case(config: Mapping[str, Any]) -> Case:
    """A cluster as `up` has made it while the override held."""
    platform = read_spec(config, BEGIN).platform
    assert platform is not None
    objects = {
        (each.kind, each.name): {
            "metadata": {"name": each.name, "resourceVersion": "1"},
            "spec": dict(each.object["spec"]),
        }
        for each in render(platform_at(platform, BEGIN))
        if each.kind in {"ClusterQueue", "Cohort", "ProjectTable"}
    }
    found = Case(Cluster(objects))
    found.ending.see_spec(Listed((config,)))
    return found


def test_it_takes_back_what_has_ended_once_and_says_so_once(case: Case) -> None:
    case.work()
    case.work(END - BEGIN - timedelta(seconds=1))
    assert (case.cluster.written, case.cluster.events) == ([], [])
    case.work(timedelta(seconds=1))
    assert "nlp-training" in case.cluster.written
    (event,) = case.cluster.events
    assert event["reason"] == "OverrideEnded"
    assert "nlp, until 2026-12-06 00:00 CST: release" in event["message"]
    count = len(case.cluster.written)
    for _ in range(3):
        case.work(timedelta(seconds=20))
    assert len(case.cluster.written) == count
    assert len(case.cluster.events) == 1
    returned = case.metrics.registry.get_sample_value(
        "tallyard_overrides_returned_total", {"kind": "ClusterQueue"}
    )
    assert returned == sum(name.startswith("nlp-") for name in case.cluster.written)


def test_who_does_not_lead_writes_nothing_and_takes_over(case: Case) -> None:
    case.leads = False
    case.work(END - BEGIN)
    assert case.cluster.written == []
    case.leads = True
    case.ending.begin_to_lead()
    case.work()
    assert "nlp-training" in case.cluster.written


def test_one_that_somebody_is_writing_is_looked_at_again(case: Case) -> None:
    queue = case.cluster.objects["ClusterQueue", "nlp-training"]
    real = case.cluster.get

    def late(kind: type, name: str) -> Mapping[str, Any]:
        found = real(kind, name)
        return {**found, "metadata": {**found["metadata"], "resourceVersion": "0"}}

    case.cluster.get = late  # type: ignore[method-assign]
    case.work(END - BEGIN)
    assert case.cluster.written == []
    case.cluster.get = real  # type: ignore[method-assign]
    case.work(timedelta(seconds=20))
    assert "nlp-training" in case.cluster.written
    assert queue["spec"]


def test_while_the_api_server_is_away_nothing_is_forgotten(case: Case) -> None:
    case.cluster.fault = Fault.TIMEOUT
    with pytest.raises(ClusterError):
        case.work(END - BEGIN)
    case.cluster.fault = None
    case.work()
    assert "nlp-training" in case.cluster.written


def test_without_a_spec_nothing_is_asked() -> None:
    case = Case(Cluster())
    case.work(END - BEGIN)
    assert case.cluster.written == []
