"""What the controllers tell about themselves, each metric defined once."""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge

from tallyard.controllers.hosts.verdict import State


class Metrics:
    """All metrics of one process, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()

        def gauge(name: str, says: str, *by: str) -> Gauge:
            return Gauge(name, says, by, registry=registry)

        def counter(name: str, says: str, *by: str) -> Counter:
            return Counter(name, says, by, registry=registry)

        self.leading = gauge(
            "tallyard_controllers_leading",
            "1 in the replica that acts, 0 in the other.",
        )
        self.spec_loaded = gauge(
            "tallyard_spec_loaded",
            "1 while the spec in the cluster is the one that is followed, 0 while it cannot be "
            "loaded and an earlier one, or none, is.",
        )
        self.hosts = gauge(
            "tallyard_hosts",
            "Hosts by their state: released, held, missing, not-in-spec.",
            "state",
        )
        self.held = gauge(
            "tallyard_host_held",
            "1 for each host that is kept from new work.",
            "host",
        )
        self.writes = counter(
            "tallyard_host_gate_writes",
            "Hosts written to, by what was done.",
            "action",
        )
        self.returned = counter(
            "tallyard_overrides_returned",
            "Objects from which what an override gave was taken back, by kind.",
            "kind",
        )
        self.steps = counter(
            "tallyard_admission_steps",
            "What was written into Workloads, by what it was: Say, LetIn, Stop, LetGo.",
            "step",
        )
        self.undecided = gauge(
            "tallyard_admission_undecided_seconds",
            "How long ago the oldest Workload was made of which it is not decided yet whether its "
            "cost can be frozen; 0 where there is none. Alert on a minute.",
        )
        self.orphans = counter(
            "tallyard_admission_orphans",
            "Work with a freeze whose Workload was gone, settled by what was seen of it.",
        )
        self.failures = counter(
            "tallyard_controllers_failures",
            "Requests to the API server that failed, by what they were for.",
            "request",
        )
        self.listed = gauge(
            "tallyard_controllers_listed_timestamp_seconds",
            "When all objects of a kind were last read.",
            "kind",
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
