"""The host gate's loop: it takes what was seen of nodes and spec, and writes what follows.

Every replica looks and judges; only the one that holds the lease writes. Nothing is written
where nothing is to be changed. Without a spec nothing is released and nothing is held: what is
in the cluster stays as it is.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from datetime import UTC, datetime
from typing import Any

from tallyard import labels
from tallyard.cluster import events
from tallyard.cluster.client import Connection
from tallyard.cluster.events import Kind, Told
from tallyard.cluster.faults import ClusterError, Fault
from tallyard.cluster.kinds import Node
from tallyard.cluster.watch import Listed, Seen
from tallyard.controllers.hosts.plan import Action, Plan, plan_for
from tallyard.controllers.hosts.survey import hosts_by_name
from tallyard.controllers.hosts.verdict import State, verdict_of
from tallyard.controllers.metrics import Metrics
from tallyard.controllers.spec_source import read_spec
from tallyard.spec import model

_LOG = logging.getLogger(__name__)
# What the API server says about one object, while it may well take another.
_OF_ONE_OBJECT = frozenset({Fault.REFUSED, Fault.FORBIDDEN, Fault.NOT_FOUND})
# What one round does at most, so that the process comes round while the API server is slow: one
# request more may be under way when the time is up.
WRITES_MAX = 100
TELLS_MAX = 100
WORK_SECONDS_MAX = 20.0
# Events that wait while another replica leads or the server takes none; the oldest go first.
_WAITING_TELLS_MAX = 10_000
# Those that keep work off go before those that let it in.
_ORDER = {Action.HOLD: 0, Action.EXPLAIN: 1, Action.RELEASE: 2}


class Gate:
    """One thread's: the nodes and the spec as they were last seen, and what is to be judged."""

    def __init__(
        self,
        is_leading: Callable[[], bool],
        metrics: Metrics,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._is_leading = is_leading
        self._metrics = metrics
        self._now = now
        self._clock = clock
        self._nodes: dict[str, Mapping[str, Any]] = {}
        self._states: dict[str, State] = {}
        self._platform: model.Platform | None = None
        self._hosts: Mapping[str, model.Node] = {}
        self._spec_seen: object = None
        self._to_judge: set[str] = set()
        # Those that the server could not take go last, for it may be about them alone.
        self._put_off: set[str] = set()
        self._told: deque[tuple[Told, datetime]] = deque(maxlen=_WAITING_TELLS_MAX)
        self._refused: Told | None = None
        self._refusal_is_told = False
        self._is_behind = False

    @property
    def platform(self) -> model.Platform | None:
        """Return the spec that is followed; None before one could be loaded."""
        return self._platform

    @property
    def is_behind(self) -> bool:
        """Return whether the last round ended at its bound and left something to do."""
        return self._is_behind

    def see_nodes(self, seen: Seen) -> None:
        """Take what was seen of the nodes."""
        if isinstance(seen, Listed):
            self._put_off.clear()
            self._nodes = {str(node["metadata"]["name"]): node for node in seen.items}
            self.judge_all()
            return
        name = str(seen.item["metadata"]["name"])
        if seen.is_gone:
            self._nodes.pop(name, None)
        else:
            self._nodes[name] = seen.item
        self._to_judge.add(name)

    def see_spec(self, seen: Seen) -> None:
        """Take what was seen of the ConfigMap; the last good spec stays in force."""
        items = seen.items if isinstance(seen, Listed) else () if seen.is_gone else (seen.item,)
        if not items:
            self._spec_seen = None
            self._refuse(None, "the cluster has no spec")
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
        self._refusal_is_told = False

    def judge_all(self) -> None:
        """Let every host be judged anew."""
        self._to_judge |= self._nodes.keys() | self._hosts.keys() | self._states.keys()

    def work(self, connect: Callable[[], Connection]) -> None:
        """Judge what is new and, if this replica leads, write what follows from it.

        What it may not write now, as it does not lead, and what is beyond the bound of a round,
        is kept for the next call.

        Args:
            connect: Gives a connection; asked only where something is to be written.

        Raises:
            ClusterError: A request failed. What was not done is done by the next call.
        """
        until = self._clock() + WORK_SECONDS_MAX
        self._is_behind = False
        if self._platform is not None:
            self._write(self._judge(self._platform), connect, until)
        if self._refused and not self._refusal_is_told and self._is_leading():
            self._tell(self._refused, connect(), self._now())
            self._refusal_is_told = True
        for _ in self._turns(TELLS_MAX, until, self._told):
            told, at = self._told[0]
            self._tell(told, connect(), at)
            self._told.popleft()

    def _turns(self, most: int, until: float, left: Sized) -> Iterator[int]:
        """Yield as often as there is something left, this replica leads, and a round may."""
        for turn in range(most):
            if not left or not self._is_leading():
                return
            if self._clock() >= until:
                break
            yield turn
        self._is_behind |= bool(left)

    def _refuse(self, config: Mapping[str, Any] | None, fault: str) -> None:
        follows = "an earlier one is followed" if self._platform else "no host is released"
        message = f"the spec cannot be loaded, {follows}; `pulumi up` writes it anew: {fault}"
        _LOG.error("%s", message)
        self._metrics.spec_loaded.set(0)
        self._refused, self._refusal_is_told = None, False
        if config is not None:
            about = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": config["metadata"]}
            self._refused = Told(about, Kind.WARNING, "SpecRefused", message)

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
        return sorted(
            plans, key=lambda plan: (plan.name in self._put_off, _ORDER[plan.action], plan.name)
        )

    def _write(
        self, plans: Iterable[Plan], connect: Callable[[], Connection], until: float
    ) -> None:
        left = {plan.name: plan for plan in plans}
        try:
            for _ in self._turns(WRITES_MAX, until, left):
                name = next(iter(left))
                self._apply(left[name], connect())
                del left[name]
        finally:
            # Also where another replica leads: nobody may notice that this one does again, and
            # what the other has done is seen when it is judged anew.
            self._to_judge |= left.keys()

    def _apply(self, plan: Plan, connection: Connection) -> None:
        begun = time.monotonic()
        try:
            self._nodes[plan.name] = connection.merge(Node, plan.name, plan.change)
        except ClusterError as error:
            # It is another node by now, or none; what it has become is on its way to us.
            if error.fault not in {Fault.CONFLICT, Fault.NOT_FOUND}:
                self._put_off.add(plan.name)
                self._give_up(error, f"node {plan.name}")
            return
        self._metrics.writes.labels(plan.action.value).inc()
        self._told.append((plan.told, self._now()))
        took = time.monotonic() - begun
        _LOG.info("%s %s (%.2f s): %s", plan.action.value, plan.name, took, plan.told.message)

    def _tell(self, told: Told, connection: Connection, at: datetime) -> None:
        try:
            events.tell(connection, told, labels.CONTROLLERS, at)
        except ClusterError as error:
            self._give_up(error, f"Event {told.reason}")

    def _give_up(self, error: ClusterError, what: str) -> None:
        """Leave out what the server refuses, until the next list; others are not to wait for it.

        Raises:
            ClusterError: The server cannot be asked at all, or takes nothing at the moment.
        """
        if error.fault not in _OF_ONE_OBJECT:
            raise error
        self._metrics.failures.labels("write").inc()
        _LOG.error("%s cannot be written: %s", what, error)
