"""The controllers' process: what it starts, in order, and how it ends. No rule lives here."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tallyard import labels
from tallyard.cluster.client import ALL_NAMESPACES
from tallyard.cluster.faults import ClusterError
from tallyard.cluster.kinds import ConfigMap, Node, Pod, Workload
from tallyard.cluster.lease import Claim
from tallyard.controllers.admission.keeper import Keeper
from tallyard.controllers.election import LEASE_SECONDS, REQUEST_SECONDS_MAX, Election
from tallyard.controllers.following import RELIST_SECONDS, Followed, Follower, News
from tallyard.controllers.hosts.gate import Gate
from tallyard.controllers.metrics import Metrics
from tallyard.controllers.opening import opener
from tallyard.controllers.overrides.ending import Ending
from tallyard.controllers.people import api as people
from tallyard.controllers.people.api import Accounts
from tallyard.controllers.serving import Server, health
from tallyard.controllers.working import Sees, Worker
from tallyard.ledger.clock import Clock
from tallyard.ledger.store.engine import engine_of
from tallyard.ledger.store.faults import StoreError
from tallyard.ledger.store.store import Store

# What was read longer ago than this is not fit to act on, whatever the API server says.
_STALE_SECONDS = 3 * RELIST_SECONDS
# A part that has ended is seen within this.
_LOOK_SECONDS = 1.0
_FAILED = 1

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Options:
    """The command line. `kubeconfig` is None within the cluster, `port` 0 for any.

    Without a `ledger` nothing is metered, and without `accounts_port` nobody is answered. `accounts_tls`
    is None for plain HTTP.
    """

    kubeconfig: str | None
    ledger: str | None
    identity: str
    bind: str
    port: int
    accounts_port: int | None = None
    accounts_tls: Path | None = None


def main(arguments: Sequence[str]) -> int:
    """Run until SIGTERM or SIGINT and return the exit code."""
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s"
    )
    # One line for each request would bury what matters.
    for chatty in ("httpx2", "alembic"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    options = parse(arguments)
    over = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: over.set())
    try:
        return 0 if Process(options).run(over) else _FAILED
    except (ClusterError, StoreError, OSError) as error:
        _LOG.error("error: the controllers cannot start: %s", error)
        return _FAILED


def parse(arguments: Sequence[str]) -> Options:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tallyard.controllers", description=__doc__)
    parser.add_argument("--kubeconfig", help="a kubeconfig; without it the pod's service account")
    parser.add_argument(
        "--ledger", help="the ledger's file, or its PostgreSQL address (the password in PGPASSWORD)"
    )
    parser.add_argument("--identity", required=True, help="this replica's own name in the lease")
    parser.add_argument("--bind", default="0.0.0.0", help="the address to serve on")  # noqa: S104
    parser.add_argument(
        "--port", type=int, required=True, help="the port of health and metrics, 0 for any"
    )
    parser.add_argument(
        "--accounts-port",
        type=int,
        help="the port on which people ask for their account, 0 for any",
    )
    parser.add_argument(
        "--accounts-tls", type=Path, help="a folder with tls.crt and tls.key; else plain HTTP"
    )
    return Options(**vars(parser.parse_args(arguments)))


class Process:
    """All parts of the process, wired."""

    def __init__(self, options: Options) -> None:
        """Prepare.

        Raises:
            StoreError: The address names no ledger.
        """
        self._options = options
        self._open = opener(options.kubeconfig)
        self.metrics = Metrics()
        claim = Claim(labels.SYSTEM_NAMESPACE, labels.CONTROLLERS, options.identity, LEASE_SECONDS)
        self._election = Election(self._open, claim, self._on_change)
        self.metrics.leading.set_function(self._election.is_leading)
        self._accounts: Accounts | None = None
        self._workers = tuple(self._jobs())
        self._followers = tuple(
            Follower(self._open, followed, self._tell, self.metrics)
            for followed in self._followed()
        )

    def run(self, over: threading.Event) -> bool:
        """Work until `over` is set, then give the lease back.

        Returns:
            Whether all went on until then; else a part has ended, and has said why.

        Raises:
            ClusterError: The kubeconfig cannot be used.
            OSError: The port is another program's.
        """
        with self._open(REQUEST_SECONDS_MAX):
            pass  # a kubeconfig that cannot be used is told now, and not every second
        checks = {"/healthz": self._is_alive, "/readyz": self._is_ready}
        address = (self._options.bind, self._options.port)
        server = Server(address, health(self.metrics.registry, checks), "http")
        accounts = self._serve_people()
        _LOG.info("serving on port %d as %s", server.port, self._options.identity)
        for worker in self._workers:
            worker.start()
        for follower in self._followers:
            follower.start()
        self._election.start()
        try:
            while not over.wait(_LOOK_SECONDS):
                if not all(worker.goes_on() for worker in self._workers):
                    return False
            return True
        finally:
            for worker in self._workers:
                worker.stop()
            self._election.stop()
            if accounts:
                accounts.stop()
            server.stop()
            _LOG.info("ended")

    def _serve_people(self) -> Server | None:
        """Serve people's accounts, where there is a ledger and a way to do so.

        Raises:
            OSError: The port is another program's, or the certificate cannot be read.
        """
        options = self._options
        if self._accounts is None or options.accounts_port is None:
            return None
        if options.accounts_tls and not (options.accounts_tls / "tls.crt").exists():
            _LOG.warning("no certificate in %s: nobody is told of accounts", options.accounts_tls)
            return None
        address = (options.bind, options.accounts_port)
        server = Server(address, people.handler(self._accounts), "people", options.accounts_tls)
        _LOG.info("serving accounts on port %d", server.port)
        return server

    def _jobs(self) -> Iterator[Worker]:
        gate = Gate(self._election.is_leading, self.metrics)
        of_hosts: Sees = {ConfigMap: gate.see_spec, Node: gate.see_nodes}
        yield Worker("hosts", gate, of_hosts, self._open, self.metrics)
        ending = Ending(self._election.is_leading, self.metrics)
        of_spec: Sees = {ConfigMap: ending.see_spec}
        yield Worker("overrides", ending, of_spec, self._open, self.metrics)
        if self._options.ledger:
            # The same clock for what is seen and for what is written.
            clock = Clock()
            engine = engine_of(self._options.ledger)
            store = Store(engine, clock)
            self._accounts = Accounts(
                engine, self._open, lambda: datetime.fromtimestamp(clock(), UTC)
            )
            keeper = Keeper(
                store,
                self._election.is_leading,
                self.metrics,
                lambda: datetime.fromtimestamp(clock(), UTC),
            )
            of_work: Sees = {
                ConfigMap: keeper.see_spec,
                Workload: keeper.see_workloads,
                Pod: keeper.see_pods,
            }
            yield Worker("core-hours", keeper, of_work, self._open, self.metrics)

    def _followed(self) -> Iterator[Followed]:
        yield Followed(ConfigMap, labels.SYSTEM_NAMESPACE, labels.SPEC_CONFIG)
        yield Followed(Node)
        if self._options.ledger:
            yield Followed(Workload, ALL_NAMESPACES)
            yield Followed(Pod, ALL_NAMESPACES, having=labels.PROJECT)

    def _tell(self, news: News) -> None:
        if self._accounts and news.kind is ConfigMap:
            self._accounts.see_spec(news.seen)
        for worker in self._workers:
            worker.hear(news)

    def _on_change(self, is_leading: bool) -> None:  # noqa: FBT001 - it is what is told
        if is_leading:
            for worker in self._workers:
                worker.lead()

    def _is_alive(self) -> bool:
        works = all(worker.is_alive() for worker in self._workers)
        follows = all(follower.is_alive() for follower in self._followers)
        return works and follows and self._election.is_alive()

    def _is_ready(self) -> bool:
        ages = [each.seconds_since_list(time.monotonic()) for each in self._followers]
        return self._is_alive() and all(age is not None and age < _STALE_SECONDS for age in ages)
