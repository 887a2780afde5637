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
from datetime import UTC, datetime

from tallyard.cluster.client import Connection
from tallyard.cluster.faults import ClusterError
from tallyard.cluster.lease import Claim, Sight, attempt, give_back
from tallyard.controllers.opening import Open

# After a replica is killed, the other one takes over within these and one round.
LEASE_SECONDS = 12
ACTS_SECONDS = 8.0
ROUND_SECONDS = 1.5
# Who acts waits no longer for an answer, to the lease or to a write: what was begun at the last
# moment is over before another one may act.
REQUEST_SECONDS_MAX = 3.0

_LOG = logging.getLogger(__name__)


class Election:
    """Keeps trying, in a thread of its own; `is_leading` may be asked by every thread."""

    def __init__(
        self,
        open_: Open,
        claim: Claim,
        on_change: Callable[[bool], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare.

        Args:
            open_: opens connections.
            claim: the lease.
            on_change: hears from the election's thread when it is won or lost. A time in
                which it was nobody's is told afterwards, however short it was.
            clock: monotonic seconds.
        """
        self._open = open_
        self._claim = claim
        self._on_change = on_change
        self._clock = clock
        self._seen: Sight | None = None
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
        return self._clock() < self._acts_until

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
        failed = ""
        while not self._over.is_set():
            try:
                with self._open(REQUEST_SECONDS_MAX) as connection:
                    while not self._over.is_set():
                        self.renew(connection)
                        failed = ""
                        self._over.wait(ROUND_SECONDS)
            except ClusterError as error:
                if (told := str(error)) != failed:  # once, and not every second
                    _LOG.warning("the lease cannot be had: %s", told)
                failed = told
            self._tell()
            self._over.wait(ROUND_SECONDS)

    def renew(self, connection: Connection) -> None:
        """Try once to win or to keep it; in one thread at a time.

        Raises:
            ClusterError: The server cannot be asked or refuses.
        """
        # Before the request: from then on the others count the silence.
        begun = self._clock()
        holds, self._seen = attempt(connection, self._claim, self._seen, begun, datetime.now(UTC))
        # It may have run out while the answer was awaited; once it is renewed nobody could tell.
        self._tell()
        if not self._over.is_set():
            self._acts_until = begun + ACTS_SECONDS if holds else 0.0
        self._tell()

    def _tell(self) -> None:
        if (is_leading := self.is_leading()) != self._was_leading:
            self._was_leading = is_leading
            _LOG.info(
                "acting: the lease is ours" if is_leading else "not acting: the lease is not ours"
            )
            self._on_change(is_leading)
