"""What the controllers tell about themselves, each metric defined once."""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge

from tallyard.controllers.hosts.verdict import State


class Metrics:
    """All metrics of one process, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.leading = Gauge(
            "tallyard_controllers_leading",
            "1 in the replica that acts, 0 in the other.",
            registry=self.registry,
        )
        self.spec_loaded = Gauge(
            "tallyard_spec_loaded",
            "1 while the spec in the cluster is the one that is followed, 0 while it cannot be "
            "loaded and an earlier one, or none, is.",
            registry=self.registry,
        )
        self.hosts = Gauge(
            "tallyard_hosts",
            "Hosts by their state: released, held, missing, not-in-spec.",
            ["state"],
            registry=self.registry,
        )
        self.held = Gauge(
            "tallyard_host_held",
            "1 for each host that is kept from new work.",
            ["host"],
            registry=self.registry,
        )
        self.writes = Counter(
            "tallyard_host_gate_writes",
            "Hosts written to, by what was done.",
            ["action"],
            registry=self.registry,
        )
        self.returned = Counter(
            "tallyard_overrides_returned",
            "Objects from which what an override gave was taken back, by kind.",
            ["kind"],
            registry=self.registry,
        )
        self.steps = Counter(
            "tallyard_admission_steps",
            "What was written into Workloads, by what it was: Say, LetIn, Stop, LetGo.",
            ["step"],
            registry=self.registry,
        )
        self.undecided = Gauge(
            "tallyard_admission_undecided_seconds",
            "How long ago the oldest Workload was made of which it is not decided yet whether its "
            "cost can be frozen; 0 where there is none. Alert on a minute.",
            registry=self.registry,
        )
        self.orphans = Counter(
            "tallyard_admission_orphans",
            "Work with a freeze whose Workload was gone, settled by what was seen of it.",
            registry=self.registry,
        )
        self.failures = Counter(
            "tallyard_controllers_failures",
            "Requests to the API server that failed, by what they were for.",
            ["request"],
            registry=self.registry,
        )
        self.listed = Gauge(
            "tallyard_controllers_listed_timestamp_seconds",
            "When all objects of a kind were last read.",
            ["kind"],
            registry=self.registry,
        )

    def show_hosts(self, states: Mapping[str, State]) -> None:
        """Set the figures of the hosts, by name."""
        shown = (State.RELEASED, State.HELD, State.MISSING, State.FOREIGN)
        for state in shown:
            self.hosts.labels(state.value).set(sum(each is state for each in states.values()))
        self.held.clear()
        for name, state in states.items():
            if state in {State.HELD, State.FOREIGN}:
                self.held.labels(name).set(1)
