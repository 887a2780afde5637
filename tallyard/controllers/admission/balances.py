"""What each project has of core-hours, as its CoreHours object and the policies' table say it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from tallyard import labels
from tallyard.cluster.client import Connection
from tallyard.cluster.faults import ClusterError, Fault
from tallyard.cluster.kinds import CoreHoursStatus, ProjectTableStatus
from tallyard.cluster.workloads import Workload
from tallyard.controllers.admission.carrying_out import MANAGER
from tallyard.ledger.accounts import Account
from tallyard.ledger.amounts import CORE_HOUR, rate_text
from tallyard.ledger.books import Books
from tallyard.ledger.figures import figures
from tallyard.ledger.uses import Use
from tallyard.spec.model import Platform


def rates(works: Collection[Workload], uses: Callable[[str], Iterable[Use]]) -> Mapping[str, int]:
    """Return what all that runs costs for an hour, by project's id, in thousandths of a core-hour.

    Args:
        works: All Workloads.
        uses: Of a Workload's uid, when its pods ran.
    """
    found: Counter[str] = Counter()
    for work in works:
        found[work.project] += sum(u.rate_milli for u in uses(work.uid) if u.ended is None)
    return found


def balances(
    platform: Platform, books: Books, rates_milli: Mapping[str, int], at: int
) -> Mapping[str, Mapping[str, str]]:
    """Return what all projects have, by namespace, as people read it, in core-hours.

    `burnRate` is what all that runs costs for an hour.
    """
    return {
        project.namespace: _balance(books, project.id, rates_milli.get(project.id, 0), at)
        for project in platform.projects.values()
    }


def caps(platform: Platform, books: Books, at: int) -> Mapping[str, int]:
    """Return how much one queue of each project may have frozen, in core-hours, rounded up."""
    return {
        project.id: -(-books.cap(project.id, platform.freeze.cap, at) // CORE_HOUR)
        for project in platform.projects.values()
    }


def _balance(books: Books, project: str, rate_milli: int, at: int) -> Mapping[str, str]:
    account = Account(project)
    found = figures([*books.lots_of(account)], books.debt(account), at)
    return {**found, "burnRate": rate_text(rate_milli)}


class Told:
    """One thread's: what was written last, so that only what has changed is written."""

    def __init__(self) -> None:
        self._told: dict[str, object] = {}

    def tell(
        self,
        found: Mapping[str, Mapping[str, str]],
        caps_: Mapping[str, int],
        connect: Callable[[], Connection],
    ) -> None:
        """Write what differs from what was written last.

        Args:
            found: The balances by namespace.
            caps_: By project, what one queue may have frozen, for the policies' table.
            connect: Gives a connection; asked only where something is to be written.

        Raises:
            ClusterError: The server takes nothing at the moment.
        """
        table = {"kind": labels.PROJECT_TABLE_KIND, "metadata": {"name": labels.PROJECT_TABLE}}
        self._write("", ProjectTableStatus, table, {"caps": dict(caps_)}, connect)
        for namespace, status in found.items():
            place = {"name": labels.CORE_HOURS_CHECK, "namespace": namespace}
            project = {"kind": labels.CORE_HOURS_KIND, "metadata": place}
            self._write(namespace, CoreHoursStatus, project, status, connect)

    def _write(
        self,
        key: str,
        kind: type,
        item: Mapping[str, Any],
        status: Mapping[str, Any],
        connect: Callable[[], Connection],
    ) -> None:
        if self._told.get(key) == status:
            return
        change = {"apiVersion": labels.API, **item, "status": status}
        try:
            connect().apply_status(kind, change, MANAGER)
        except ClusterError as error:
            # Of a platform or a project that is new, or that is just being taken away.
            if error.fault is not Fault.NOT_FOUND:
                raise
        else:
            self._told[key] = status
