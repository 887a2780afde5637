"""Follows one kind of object for ever, in a thread, and hands on what it sees.

It never gives up: after a failure it begins again with a whole list. So a change is seen at
once, and one that was missed while the API server was away with the next list.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from tallyard.cluster.client import Kind
from tallyard.cluster.faults import ClusterError
from tallyard.cluster.watch import Listed, Seen, stretch
from tallyard.controllers.metrics import Metrics
from tallyard.controllers.opening import Open

# A list is followed by the next one after no more than this, and the time of the list itself;
# with what the writes take it is within the 60 seconds that a wrong host may stay open.
RELIST_SECONDS = 30.0
# How long the API server is left alone after it has failed.
AGAIN_SECONDS = 1.0
# How long one page of a list may take.
_PAGE_SECONDS_MAX = 10.0

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Followed:
    """What to follow. `namespace` and `name` are None for all of a cluster-wide kind.

    `having` is a label that an object has to carry, whatever its value.
    """

    kind: Kind
    namespace: str | None = None
    name: str | None = None
    having: str | None = None


@dataclass(frozen=True)
class News:
    """Something that was seen of one kind."""

    kind: Kind
    seen: Seen


class Follower:
    """One thread that follows one kind."""

    def __init__(
        self,
        open_: Open,
        followed: Followed,
        tell: Callable[[News], None],
        metrics: Metrics,
    ) -> None:
        self._open = open_
        self._followed = followed
        self._tell = tell
        self._metrics = metrics
        self._listed_at: float | None = None
        self._failed = ""
        name = f"follow-{followed.kind.__name__}"
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin; the thread ends with the process."""
        self._thread.start()

    def is_alive(self) -> bool:
        """Return whether it still follows."""
        return self._thread.is_alive()

    def seconds_since_list(self, now: float) -> float | None:
        """Return how long ago all was read (monotonic); None before the first time."""
        return None if self._listed_at is None else now - self._listed_at

    def _run(self) -> None:
        while True:
            try:
                self._follow()
            except ClusterError as error:
                self._metrics.failures.labels(f"follow {self._followed.kind.__name__}").inc()
                if (told := str(error)) != self._failed:  # once, and not every second
                    _LOG.warning("%s: %s", self._followed.kind.__name__, told)
                self._failed = told
                time.sleep(AGAIN_SECONDS)

    def _follow(self) -> None:
        kind = self._followed.kind
        with self._open(_PAGE_SECONDS_MAX) as connection:
            for seen in stretch(
                connection,
                kind,
                seconds_max=RELIST_SECONDS,
                namespace=self._followed.namespace,
                name=self._followed.name,
                having=self._followed.having,
            ):
                self._tell(News(kind, seen))
                if isinstance(seen, Listed):
                    self._listed_at, self._failed = time.monotonic(), ""
                    self._metrics.listed.labels(kind.__name__).set_to_current_time()
