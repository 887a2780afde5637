"""The host gate's loop: it takes what was seen of nodes and spec, and writes what follows.

Every replica looks and judges; only the one that holds the lease writes. Nothing is written
where nothing is to be changed. Without a spec nothing is released and nothing is held: what is
in the cluster stays as it is.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from tallyard import labels
from tallyard.cluster import events
from tallyard.cluster.client import Connection
from tallyard.cluster.events import Kind, Told
from tallyard.cluster.faults import ClusterError, Fault
from tallyard.cluster.kinds import Node
from tallyard.cluster.watch import Changed, Listed
from tallyard.controllers.hosts.plan import Action, Plan, plan_for
from tallyard.controllers.hosts.survey import hosts_by_name
from tallyard.controllers.hosts.verdict import State, verdict_of
from tallyard.controllers.metrics import Metrics
from tallyard.controllers.spec_source import read_spec
from tallyard.spec import model

_LOG = logging.getLogger(__name__)
# What the API server says about one object, while it may well take another.
_OF_ONE_OBJECT = frozenset({Fault.REFUSED, Fault.FORBIDDEN, Fault.NOT_FOUND})
# Those that keep work off go before those that let it in.
_ORDER = {Action.HOLD: 0, Action.EXPLAIN: 1, Action.RELEASE: 2}


class Gate:
    """One thread's: the nodes and the spec as they were last seen, and what is to be judged."""

    def __init__(
        self,
        is_leading: Callable[[], bool],
        metrics: Metrics,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._is_leading = is_leading
        self._metrics = metrics
        self._now = now
        self._nodes: dict[str, Mapping[str, Any]] = {}
        self._states: dict[str, State] = {}
        self._platform: model.Platform | None = None
        self._hosts: Mapping[str, model.Node] = {}
        self._spec_seen: object = None
        self._to_judge: set[str] = set()
        self._told: list[Told] = []
        self._refused: Told | None = None

    @property
    def platform(self) -> model.Platform | None:
        """Return the spec that is followed; None before one could be loaded."""
        return self._platform

    def see_nodes(self, seen: Listed | Changed) -> None:
        """Take what was seen of the nodes."""
        if isinstance(seen, Listed):
            self._nodes = {str(node["metadata"]["name"]): node for node in seen.items}
            self.judge_all()
            return
        name = str(seen.item["metadata"]["name"])
        if seen.is_gone:
            self._nodes.pop(name, None)
        else:
            self._nodes[name] = seen.item
        self._to_judge.add(name)

    def see_spec(self, seen: Listed | Changed) -> None:
        """Take what was seen of the ConfigMap; the last good spec stays in force."""
        items = seen.items if isinstance(seen, Listed) else () if seen.is_gone else (seen.item,)
        if not items:
            self._spec_seen = None
            self._refuse(None, "the cluster has no spec; `pulumi up` writes it")
            return
        config = items[0]
        content = (config.get("data"), config["metadata"].get("annotations"))
        if content == self._spec_seen:
            return
        self._spec_seen = content
        read = read_spec(config, self._now())
        if read.platform is None:
            self._refuse(config, read.fault)
            return
        _LOG.info("the spec has %d hosts", len(read.platform.nodes))
        self._metrics.spec_loaded.set(1)
        self._platform, self._refused = read.platform, None
        self._hosts = hosts_by_name(read.platform)
        self.judge_all()

    def begin_to_lead(self) -> None:
        """Take over from another replica, of which nobody knows how far it came."""
        self.judge_all()
        if self._refused:
            self._told.append(self._refused)

    def judge_all(self) -> None:
        """Let every host be judged anew."""
        self._to_judge |= self._nodes.keys() | self._hosts.keys() | self._states.keys()

    def work(self, connect: Callable[[], Connection]) -> None:
        """Judge what is new and, if this replica leads, write what follows from it.

        Args:
            connect: Gives a connection; asked only where something is to be written.

        Raises:
            ClusterError: A request failed. What was not done is done by the next call.
        """
        if self._platform is not None:
            self._write(self._judge(self._platform), connect)
        while self._told and self._is_leading():
            self._tell(self._told[0], connect())
            self._told.pop(0)
        if not self._is_leading():
            self._told.clear()

    def _refuse(self, config: Mapping[str, Any] | None, fault: str) -> None:
        follows = "an earlier one is followed" if self._platform else "no host is released"
        _LOG.error("the spec cannot be loaded, %s: %s", follows, fault)
        self._metrics.spec_loaded.set(0)
        if config is not None:
            about = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": config["metadata"]}
            message = f"the spec cannot be loaded, {follows}: {fault}"
            self._refused = Told(about, Kind.WARNING, "SpecRefused", message)
            self._told.append(self._refused)

    def _judge(self, platform: model.Platform) -> list[Plan]:
        plans = []
        for name in self._to_judge:
            node = self._nodes.get(name)
            if node is None:
                self._states.pop(name, None)
                if name in self._hosts:
                    self._states[name] = State.MISSING
                continue
            verdict = verdict_of(platform, self._hosts, node)
            self._states[name] = verdict.state
            if plan := plan_for(node, verdict):
                plans.append(plan)
        if self._to_judge:
            self._metrics.show_hosts(self._states)
        self._to_judge.clear()
        return sorted(plans, key=lambda plan: (_ORDER[plan.action], plan.name))

    def _write(self, plans: Iterable[Plan], connect: Callable[[], Connection]) -> None:
        left = {plan.name: plan for plan in plans}
        try:
            while left:
                if not self._is_leading():
                    return  # whoever leads does it; all are judged anew when that is we
                name = next(iter(left))
                self._apply(left[name], connect())
                del left[name]
        finally:
            self._to_judge |= left.keys() if self._is_leading() else set()

    def _apply(self, plan: Plan, connection: Connection) -> None:
        begun = time.monotonic()
        try:
            self._nodes[plan.name] = connection.merge(Node, plan.name, plan.change)
        except ClusterError as error:
            # It is another node by now, or none; what it has become is on its way to us.
            if error.fault not in {Fault.CONFLICT, Fault.NOT_FOUND}:
                self._give_up(error, f"node {plan.name}")
            return
        self._metrics.writes.labels(plan.action.value).inc()
        self._told.append(plan.told)
        took = time.monotonic() - begun
        _LOG.info("%s %s (%.2f s): %s", plan.action.value, plan.name, took, plan.told.message)

    def _tell(self, told: Told, connection: Connection) -> None:
        try:
            events.tell(connection, told, labels.CONTROLLERS, self._now())
        except ClusterError as error:
            self._give_up(error, f"Event {told.reason}")

    def _give_up(self, error: ClusterError, what: str) -> None:
        """Leave out what the server refuses, until the next list; others are not to wait for it.

        Raises:
            ClusterError: The server cannot be asked at all.
        """
        if error.fault not in _OF_ONE_OBJECT:
            raise error
        self._metrics.failures.labels("write").inc()
        _LOG.error("%s cannot be written: %s", what, error)
