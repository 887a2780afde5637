"""Which replica acts: the one that holds the lease, for as long as it can renew it.

Two never act at once. Who acts has renewed within `ACTS_SECONDS`, and nobody may take the lease
over before `LEASE_SECONDS` of silence; the difference is for a request that is under way. What
is written names the version that it was decided on besides, so that even a request that is late
changes nothing.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime

from tallyard.cluster.client import Connection
from tallyard.cluster.faults import ClusterError
from tallyard.cluster.lease import Claim, Sight, attempt, give_back

# After a replica is killed, the other one takes over within these and one round.
LEASE_SECONDS = 12
ACTS_SECONDS = 8.0
ROUND_SECONDS = 1.5
# One that waits longer for an answer has lost the lease by then.
REQUEST_SECONDS_MAX = 3.0

type Open = Callable[[float], AbstractContextManager[Connection]]

_LOG = logging.getLogger(__name__)


class Election:
    """Keeps trying, in a thread of its own; `is_leading` may be asked by every thread."""

    def __init__(
        self, open_: Open, claim: Claim, on_change: Callable[[bool], None] = lambda _: None
    ) -> None:
        """Prepare.

        Args:
            open_: opens a connection whose requests may take so many seconds.
            claim: the lease.
            on_change: hears from the election's thread when it is won or lost.
        """
        self._open = open_
        self._claim = claim
        self._on_change = on_change
        self._acts_until = 0.0
        self._was_leading = False
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="election", daemon=True)

    def start(self) -> None:
        """Begin to try."""
        self._thread.start()

    def is_alive(self) -> bool:
        """Return whether it still tries."""
        return self._thread.is_alive()

    def is_leading(self) -> bool:
        """Return whether this replica may act now; asked right before each write."""
        return time.monotonic() < self._acts_until

    def stop(self) -> None:
        """Act no more, and give the lease back so that the other replica need not wait."""
        self._over.set()
        was_leading = self.is_leading()
        self._acts_until = 0.0
        self._thread.join(2 * REQUEST_SECONDS_MAX)
        self._acts_until = 0.0
        if was_leading:
            try:
                with self._open(REQUEST_SECONDS_MAX) as connection:
                    give_back(connection, self._claim)
            except ClusterError as error:
                _LOG.warning("the lease could not be given back, it runs out by itself: %s", error)

    def _run(self) -> None:
        seen: Sight | None = None
        failed = ""
        while not self._over.is_set():
            try:
                with self._open(REQUEST_SECONDS_MAX) as connection:
                    while not self._over.is_set():
                        seen, failed = self._round(connection, seen), ""
                        self._told()
                        self._over.wait(ROUND_SECONDS)
            except ClusterError as error:
                if (told := str(error)) != failed:  # once, and not every second
                    _LOG.warning("the lease cannot be had: %s", told)
                failed = told
            self._told()
            self._over.wait(ROUND_SECONDS)

    def _round(self, connection: Connection, seen: Sight | None) -> Sight | None:
        # Before the request: from then on the others count the silence.
        begun = time.monotonic()
        holds, seen = attempt(connection, self._claim, seen, begun, datetime.now(UTC))
        if not self._over.is_set():
            self._acts_until = begun + ACTS_SECONDS if holds else 0.0
        return seen

    def _told(self) -> None:
        if (is_leading := self.is_leading()) != self._was_leading:
            self._was_leading = is_leading
            _LOG.info(
                "acting: the lease is ours" if is_leading else "not acting: the lease is not ours"
            )
            self._on_change(is_leading)
