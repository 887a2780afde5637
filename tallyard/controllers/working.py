"""A thread that takes what was seen and works on it, round after round.

Each job has one of its own, so that one that waits (for a ledger that does not answer, say) holds
up no other. A failure of the API server or the ledger ends a round, and the next one begins where
it stopped; anything else ends the thread, and with it the process.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Protocol

from tallyard.cluster.client import Connection, Kind
from tallyard.cluster.faults import ClusterError
from tallyard.cluster.watch import Seen
from tallyard.controllers.election import REQUEST_SECONDS_MAX
from tallyard.controllers.following import AGAIN_SECONDS, News
from tallyard.controllers.metrics import Metrics
from tallyard.controllers.opening import Open
from tallyard.ledger.store.faults import StoreError

# One that has not come round for this long hangs and is to be started anew. What a job does in
# one round is bounded well below that.
ROUND_SECONDS_MAX = 60.0
# How long a round waits for news; by then a lease that was won or a write that failed is seen.
_NEWS_SECONDS_MAX = 0.5

# By kind, what of a job takes what was seen of it.
type Sees = Mapping[Kind, Callable[[Seen], None]]

_LOG = logging.getLogger(__name__)


class Job(Protocol):
    """What a worker works on; all of it is called from the worker's thread."""

    @property
    def is_behind(self) -> bool:
        """Return whether the last round left something to do."""

    def begin_to_lead(self) -> None:
        """Take over from another replica."""

    def work(self, connect: Callable[[], Connection]) -> None:
        """Do what is to be done now, within bounds."""


class Worker:
    """One job's thread."""

    def __init__(
        self,
        name: str,
        job: Job,
        sees: Sees,
        open_: Open,
        metrics: Metrics,
    ) -> None:
        """Prepare.

        Args:
            name: The thread's.
            job: What it works on.
            sees: By kind, what of the job takes what was seen of it.
            open_: Opens connections.
            metrics: Where failures are counted.
        """
        self._job = job
        self._sees = sees
        self._open = open_
        self._metrics = metrics
        self._news: queue.Queue[News] = queue.Queue()
        self._won = threading.Event()
        self._over = threading.Event()
        self._failed = ""
        self._round_at = time.monotonic()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def hear(self, news: News) -> None:
        """Take news for the next round; from any thread."""
        if news.kind in self._sees:
            self._news.put(news)

    def lead(self) -> None:
        """Take over in the next round; from any thread."""
        self._won.set()

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after the round that goes on."""
        self._over.set()
        self._thread.join(ROUND_SECONDS_MAX)

    def goes_on(self) -> bool:
        """Return whether it has not ended, however long a round takes."""
        return self._thread.is_alive()

    def is_alive(self) -> bool:
        """Return whether it comes round."""
        is_late = time.monotonic() - self._round_at > ROUND_SECONDS_MAX
        return self.goes_on() and not is_late

    def _run(self) -> None:
        with ExitStack() as connections:
            while not self._over.is_set():
                self._round(connections)

    def _round(self, connections: ExitStack) -> None:
        """Take all news that there are, then work on them once."""
        self._round_at = time.monotonic()
        self._take()
        if self._won.is_set():
            self._won.clear()
            self._job.begin_to_lead()

        def connect() -> Connection:
            # One connection for many writes, and a new one after each failure.
            if not opened_now:
                opened_now.append(connections.enter_context(self._open(REQUEST_SECONDS_MAX)))
            return opened_now[0]

        opened_now: list[Connection] = []
        try:
            self._job.work(connect)
            self._failed = ""
        except (ClusterError, StoreError) as error:
            kind = "ledger" if isinstance(error, StoreError) else "write"
            self._metrics.failures.labels(kind).inc()
            if (told := str(error)) != self._failed:  # once, and not every second
                _LOG.warning("%s: %s", self._thread.name, told)
            self._failed = told
            self._over.wait(AGAIN_SECONDS)
        finally:
            connections.close()

    def _take(self) -> None:
        try:
            # Who has not done all of the last round's work waits for nothing.
            wait = 0.0 if self._job.is_behind else _NEWS_SECONDS_MAX
            news = self._news.get(block=wait > 0, timeout=wait)
            while True:
                self._sees[news.kind](news.seen)
                news = self._news.get_nowait()
        except queue.Empty:
            return
