"""The loop that takes back what an override gave, once it has ended.

What runs goes on: Kueue takes no quota from work that it has admitted. Without a lease, a spec or
an end that has passed, nothing is read and nothing written.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType

from tallyard import labels
from tallyard.cluster import events
from tallyard.cluster.client import Connection, Kind
from tallyard.cluster.faults import ClusterError, Fault
from tallyard.cluster.kinds import ClusterQueue, Cohort, ProjectTable
from tallyard.cluster.watch import Listed, Seen
from tallyard.controllers.metrics import Metrics
from tallyard.controllers.overrides.plan import Return, ended, returns
from tallyard.controllers.spec_source import SpecInForce
from tallyard.spec.model import Platform

_LOG = logging.getLogger(__name__)
_KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "ClusterQueue": ClusterQueue,
        "Cohort": Cohort,
        labels.PROJECT_TABLE_KIND: ProjectTable,
    }
)
# `pulumi up` may be writing what an override gave while it ends; it is looked for until then.
_LOOK_SECONDS, _AFTER_SECONDS = 10.0, 900.0


class Ending:
    """One thread's: the spec as it was last seen, and what of it is to be looked at."""

    def __init__(
        self,
        is_leading: Callable[[], bool],
        metrics: Metrics,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._is_leading = is_leading
        self._metrics = metrics
        self._now = now
        self._spec = SpecInForce()
        self._config: Mapping[str, object] | None = None
        self._platform: Platform | None = None
        self._pending: tuple[Return, ...] = ()
        self._begun_at = self._looked_at = datetime.min.replace(tzinfo=UTC)
        self._told: set[str] = set()

    @property
    def is_behind(self) -> bool:
        """Return that nothing waits: a round does all that there is."""
        return False

    def see_spec(self, seen: Seen) -> None:
        """Take what was seen of the ConfigMap; the last good spec stays in force."""
        if self._spec.see(seen, self._now()):
            self._platform = None
        items = seen.items if isinstance(seen, Listed) else () if seen.is_gone else (seen.item,)
        self._config = next(iter(items), self._config)

    def begin_to_lead(self) -> None:
        """Take over from another replica, of which nobody knows how far it came."""
        self._platform = None

    def work(self, connect: Callable[[], Connection]) -> None:
        """Take back what has ended, if this replica leads.

        Args:
            connect: Gives a connection; asked only where there is something to look at.

        Raises:
            ClusterError: A request failed. What was not done is done by the next call.
        """
        now = self._now()
        platform = self._spec.at(now)
        if platform is None or not self._is_leading():
            return
        if platform is not self._platform:
            self._platform, self._pending = platform, returns(platform, now)
            self._begun_at, self._looked_at = now, datetime.min.replace(tzinfo=UTC)
        is_early = (now - self._looked_at).total_seconds() < _LOOK_SECONDS
        is_late = (now - self._begun_at).total_seconds() > _AFTER_SECONDS
        if not self._pending or is_early or is_late:
            return
        for each in self._pending:
            if not self._is_leading():
                return
            self._take_back(each, connect())
        self._report(platform, now, connect)
        self._looked_at = now

    def _take_back(self, each: Return, connection: Connection) -> None:
        kind = _KINDS[each.kind]
        try:
            change = each.change(connection.get(kind, each.name))
            if change is None:
                return
            connection.merge(kind, each.name, change)
        except ClusterError as error:
            # Somebody else is writing it; it is looked at again.
            if error.fault not in {Fault.CONFLICT, Fault.NOT_FOUND}:
                raise
            return
        self._metrics.returned.labels(each.kind).inc()
        _LOG.info("%s %s: what an override gave has ended", each.kind, each.name)

    def _report(self, platform: Platform, now: datetime, connect: Callable[[], Connection]) -> None:
        """Tell of each override once that it can be taken out of the spec."""
        for each in ended(platform, now):
            if each in self._told or self._config is None:
                continue
            about = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": self._config["metadata"]}
            message = (
                f"the override of {each} has ended: its quota is back at the tier's, what runs "
                "goes on; take the entry out of the spec"
            )
            told = events.Told(about, events.Kind.NORMAL, "OverrideEnded", message)
            events.tell(connect(), told, labels.CONTROLLERS, now)
            self._told.add(each)
