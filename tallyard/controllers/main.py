"""The controllers' process: what it starts, in order, and how it ends. No rule lives here."""

from __future__ import annotations

import argparse
import logging
import queue
import signal
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from tallyard import labels
from tallyard.cluster.client import Connection
from tallyard.cluster.faults import ClusterError
from tallyard.cluster.kinds import ConfigMap, Node
from tallyard.cluster.lease import Claim
from tallyard.controllers.election import LEASE_SECONDS, REQUEST_SECONDS_MAX, Election
from tallyard.controllers.following import (
    AGAIN_SECONDS,
    RELIST_SECONDS,
    Followed,
    Follower,
    News,
)
from tallyard.controllers.hosts.gate import Gate
from tallyard.controllers.metrics import Metrics
from tallyard.controllers.opening import opener
from tallyard.controllers.serving import Server

# A loop that has not come round for this long hangs and is to be started anew. What one round
# does is bounded well below that (`hosts/gate.py`).
_ROUND_SECONDS_MAX = 60.0
# How long a round waits for news; by then a lease that was won or a write that failed is seen.
_NEWS_SECONDS_MAX = 0.5
# What was read longer ago than this is not fit to act on, whatever the API server says.
_STALE_SECONDS = 3 * RELIST_SECONDS
_FAILED = 1

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Options:
    """The command line. `kubeconfig` is None within the cluster, `port` 0 for any."""

    kubeconfig: str | None
    identity: str
    bind: str
    port: int


def main(arguments: Sequence[str]) -> int:
    """Run until SIGTERM or SIGINT and return the exit code."""
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s"
    )
    # One line for each request would bury what matters.
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    options = parse(arguments)
    over = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: over.set())
    try:
        Process(options).run(over)
    except (ClusterError, OSError) as error:
        _LOG.error("error: the controllers cannot start: %s", error)
        return _FAILED
    return 0


def parse(arguments: Sequence[str]) -> Options:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tallyard.controllers", description=__doc__)
    parser.add_argument("--kubeconfig", help="a kubeconfig; without it the pod's service account")
    parser.add_argument("--identity", required=True, help="this replica's own name in the lease")
    parser.add_argument("--bind", default="0.0.0.0", help="the address to serve on")  # noqa: S104
    parser.add_argument(
        "--port", type=int, required=True, help="the port of health and metrics, 0 for any"
    )
    found = parser.parse_args(arguments)
    return Options(found.kubeconfig, found.identity, found.bind, found.port)


class Process:
    """All parts of the process, wired."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._open = opener(options.kubeconfig)
        self.metrics = Metrics()
        self._news: queue.Queue[News] = queue.Queue()
        claim = Claim(labels.SYSTEM_NAMESPACE, labels.CONTROLLERS, options.identity, LEASE_SECONDS)
        self._won = threading.Event()
        self._election = Election(self._open, claim, self._on_change)
        self.metrics.leading.set_function(self._election.is_leading)
        self._gate = Gate(self._election.is_leading, self.metrics)
        self._followers = tuple(
            Follower(self._open, followed, self._news, self.metrics)
            for followed in (
                Followed(ConfigMap, labels.SYSTEM_NAMESPACE, labels.SPEC_CONFIG),
                Followed(Node),
            )
        )
        self._round_at = time.monotonic()

    def run(self, over: threading.Event) -> None:
        """Work until `over` is set, then give the lease back.

        Raises:
            ClusterError: The kubeconfig cannot be used.
            OSError: The port is another program's.
        """
        with self._open(REQUEST_SECONDS_MAX):
            pass  # a kubeconfig that cannot be used is told now, and not every second
        checks = {"/healthz": self._is_alive, "/readyz": self._is_ready}
        address = (self._options.bind, self._options.port)
        server = Server(address, self.metrics.registry, checks)
        _LOG.info("serving on port %d as %s", server.port, self._options.identity)
        for follower in self._followers:
            follower.start()
        self._election.start()
        try:
            with ExitStack() as connections:
                while not over.is_set():
                    self._round(connections)
        finally:
            self._election.stop()
            server.stop()
            _LOG.info("ended")

    def _round(self, connections: ExitStack) -> None:
        """Take all news that there are, then work on them once."""
        self._round_at = time.monotonic()
        self._take()
        if self._won.is_set():
            self._won.clear()
            self._gate.begin_to_lead()

        def connect() -> Connection:
            # One connection for many writes, and a new one after each failure.
            if not opened_now:
                opened_now.append(connections.enter_context(self._open(REQUEST_SECONDS_MAX)))
            return opened_now[0]

        opened_now: list[Connection] = []
        try:
            self._gate.work(connect)
        except ClusterError as error:
            self.metrics.failures.labels("write").inc()
            _LOG.warning("a host could not be written: %s", error)
            time.sleep(AGAIN_SECONDS)
        finally:
            connections.close()

    def _take(self) -> None:
        try:
            # Who has not done all of the last round's work waits for nothing.
            wait = 0.0 if self._gate.is_behind else _NEWS_SECONDS_MAX
            news = self._news.get(block=wait > 0, timeout=wait)
            while True:
                see = self._gate.see_spec if news.kind is ConfigMap else self._gate.see_nodes
                see(news.seen)
                news = self._news.get_nowait()
        except queue.Empty:
            return

    def _on_change(self, is_leading: bool) -> None:  # noqa: FBT001 - it is what is told
        if is_leading:
            self._won.set()

    def _is_alive(self) -> bool:
        comes_round = time.monotonic() - self._round_at < _ROUND_SECONDS_MAX
        follows = all(follower.is_alive() for follower in self._followers)
        return comes_round and follows and self._election.is_alive()

    def _is_ready(self) -> bool:
        ages = [each.seconds_since_list(time.monotonic()) for each in self._followers]
        return self._is_alive() and all(age is not None and age < _STALE_SECONDS for age in ages)
