"""What each project has of core-hours, as its CoreHours object and the policies' table say it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from tallyard import labels
from tallyard.cluster.client import Connection
from tallyard.cluster.faults import ClusterError, Fault
from tallyard.cluster.kinds import CoreHoursStatus, ProjectTableStatus
from tallyard.cluster.workloads import Workload
from tallyard.controllers.admission.carrying_out import MANAGER
from tallyard.ledger.accounts import Account
from tallyard.ledger.amounts import CORE_HOUR, rate_text, text
from tallyard.ledger.books import Books
from tallyard.ledger.uses import Use
from tallyard.spec.model import Platform


@dataclass(frozen=True)
class Balance:
    """A project's core-hours of now, in thousandths of a core-second.

    `granted` is what it was given and can still use some of, `used` what was charged of that and
    not given back. `rate_milli` is what all that runs costs for an hour, in thousandths of a
    core-hour.
    """

    granted: int
    used: int
    frozen: int
    available: int
    owed: int
    rate_milli: int

    @property
    def status(self) -> Mapping[str, str]:
        """Return it as people read it, in core-hours."""
        return {
            "granted": text(self.granted),
            "used": text(self.used),
            "frozen": text(self.frozen),
            "available": text(self.available),
            "owed": text(self.owed),
            "burnRate": rate_text(self.rate_milli),
        }


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
) -> Mapping[str, Balance]:
    """Return the balances of all projects, by namespace."""
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


def _balance(books: Books, project: str, rate_milli: int, at: int) -> Balance:
    account = Account(project)
    lots = books.open_lots(account, at)
    return Balance(
        granted=sum(lot.in_force for lot in lots),
        used=sum(lot.charged - lot.refunded for lot in lots),
        # Work that began in the period before may have some frozen there.
        frozen=sum(lot.frozen for lot in books.lots_of(account)),
        available=books.available(account, at),
        owed=books.debt(account),
        rate_milli=rate_milli,
    )


class Told:
    """One thread's: what was written last, so that only what has changed is written."""

    def __init__(self) -> None:
        self._told: dict[str, Balance] = {}
        self._caps: Mapping[str, int] | None = None

    def tell(self, found: Mapping[str, Balance], connect: Callable[[], Connection]) -> None:
        """Write what differs from what was written last.

        Raises:
            ClusterError: The server takes nothing at the moment.
        """
        for namespace, balance in found.items():
            if self._told.get(namespace) == balance:
                continue
            change = {
                "apiVersion": labels.API,
                "kind": labels.CORE_HOURS_KIND,
                "metadata": {"name": labels.CORE_HOURS_CHECK, "namespace": namespace},
                "status": balance.status,
            }
            try:
                connect().apply_status(CoreHoursStatus, change, MANAGER)
            except ClusterError as error:
                # Of a project that is new, or that is just being taken away.
                if error.fault is not Fault.NOT_FOUND:
                    raise
            else:
                self._told[namespace] = balance

    def tell_caps(self, caps: Mapping[str, int], connect: Callable[[], Connection]) -> None:
        """Write into the policies' table what has changed of the caps, in core-hours by project.

        Raises:
            ClusterError: The server takes nothing at the moment.
        """
        if caps == self._caps:
            return
        change = {
            "apiVersion": labels.API,
            "kind": labels.PROJECT_TABLE_KIND,
            "metadata": {"name": labels.PROJECT_TABLE},
            "status": {"caps": dict(caps)},
        }
        connect().apply_status(ProjectTableStatus, change, MANAGER)
        self._caps = caps
