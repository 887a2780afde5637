"""What work asks of the ledger by the spec's rules: its freeze, its windows, charges, refunds. Pure.

A job is frozen whole before it runs, its wait beside it. Work without an end is frozen a window
at a time, and what could not be frozen is owed. Who asks twice asks for the same: the keys come
from the work's own id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from tallyard.ledger.amounts import of_rate
from tallyard.ledger.books import Books
from tallyard.ledger.commands import Freeze, FreezePart, Owe, Purpose, Refund
from tallyard.ledger.pricing import wait_rate
from tallyard.ledger.sentences import Quote
from tallyard.spec.model import Platform


class Fault(StrEnum):
    """Who is to blame that work ended before it was done."""

    PLATFORM = "platform"
    USER = "user"
    NOBODY = "nobody"


# By the reason of Kueue's condition `Evicted` (Kueue 0.17, `workload_types.go`), or of what else
# ended the work. What is not here is not known, and nothing is given back by itself.
_FAULTS: Mapping[str, Fault] = MappingProxyType(
    {
        "Preempted": Fault.PLATFORM,
        "PodsReadyTimeout": Fault.PLATFORM,
        "NodeFailures": Fault.PLATFORM,
        "AdmissionCheck": Fault.PLATFORM,
        "ClusterQueueStopped": Fault.PLATFORM,
        "LocalQueueStopped": Fault.PLATFORM,
        # An administrator's word; Kueue's own ones say what it was due to.
        "Deactivated": Fault.PLATFORM,
        "DeactivatedDueToAdmissionCheck": Fault.PLATFORM,
        "DeactivatedDueToRequeuingLimitExceeded": Fault.PLATFORM,
        # The pod's condition: the scheduler, a drain or a lost host ended it, not its program.
        "DisruptionTarget": Fault.PLATFORM,
        "MaximumExecutionTimeExceeded": Fault.USER,
        "DeactivatedDueToMaximumExecutionTimeExceeded": Fault.USER,
        # It goes on under another name.
        "WorkloadSliceReplaced": Fault.NOBODY,
    }
)


@dataclass(frozen=True)
class Work:
    """What runs: `id` is its for ever (the Workload's UID), `name` how people call it."""

    id: str
    project: str
    user: str
    queue: str
    name: str

    @property
    def job(self) -> str:
        """Return the id of the freeze for the work itself."""
        return f"{self.id}/job"

    @property
    def wait(self) -> str:
        """Return the id of the freeze for its wait."""
        return f"{self.id}/wait"

    @property
    def windows(self) -> str:
        """Return with what the ids of the freezes for its windows begin."""
        return f"{self.id}/window/"

    def window(self, number: int) -> str:
        """Return the id of the freeze for one window of work without an end, from 0."""
        return f"{self.windows}{number}"


def id_of(freeze: str) -> str:
    """Return the id of the work that a freeze is for; empty for one that is nobody's work."""
    work, _, part = freeze.partition("/")
    is_ours = part in {"job", "wait"} or part.startswith("window/")
    return work if is_ours else ""


@dataclass(frozen=True)
class Charge:
    """What a part of some work cost: which window or attempt it was, from 0, and how much."""

    number: int
    amount: int


def quote_of(platform: Platform, asked: str, rate_milli: int, seconds: int) -> Quote:
    """Return what work would freeze: its limit, and the longest wait that is charged for.

    Args:
        platform: How a wait is charged, and for how long at most.
        asked: How people say it, e.g. `1 x RTX-4090`.
        rate_milli: What an hour of it costs, in thousandths of a core-hour.
        seconds: Its limit.
    """
    price = platform.price
    return Quote(asked, rate_milli, seconds, wait_rate(price, rate_milli), price.wait_seconds_max)


def freeze_of(platform: Platform, work: Work, quote: Quote) -> Freeze:
    """Return the freeze of a job and its wait; work as short as the fast lane is beside the cap."""
    parts = [FreezePart(work.job, Purpose.JOB, quote.job)]
    if quote.wait:
        parts.append(FreezePart(work.wait, Purpose.WAIT, quote.wait))
    return _freeze(platform, work, quote.seconds, tuple(parts), key=f"freeze/{work.id}")


def window_of(platform: Platform, work: Work, rate_milli: int, number: int) -> Freeze:
    """Return the freeze of one window of work without an end."""
    seconds = platform.freeze.window_seconds
    part = FreezePart(work.window(number), Purpose.WINDOW, of_rate(rate_milli, seconds))
    return _freeze(platform, work, seconds, (part,), key=f"freeze/{part.id}")


def windows_due(platform: Platform, begun: int, at: int) -> int:
    """Return how many windows have to be frozen by now: all that have begun, and the next in time.

    The next is asked for when a tenth of this one is left, so that who is short is told before.

    Args:
        platform: How long a window is.
        begun: When the work began (seconds since 1970).
        at: Now.
    """
    seconds = platform.freeze.window_seconds
    return (max(at - begun, 0) + seconds // 10) // seconds + 1


def wait_charge(quote: Quote, frozen: int, admitted: int) -> int:
    """Return what a wait costs from the freeze to the admission, at most what was frozen for it."""
    waited = min(max(admitted - frozen, 0), quote.wait_seconds)
    return of_rate(quote.wait_rate_milli, waited)


def owe_of(work: Work, charge: Charge, debt_max: int) -> Owe:
    """Return the debt for a window that could not be frozen, within what the project may owe."""
    return Owe(
        key=f"owe/{work.window(charge.number)}",
        project=work.project,
        user=work.user,
        amount=charge.amount,
        debt_max=debt_max,
    )


def debt_max(platform: Platform, books: Books, project: str, at: int) -> int:
    """Return what a project may owe at most: a part of its grants that are open."""
    return books.cap(project, platform.freeze.debt_max, at)


def fault_of(reason: str) -> Fault | None:
    """Return who is to blame for an end, by Kueue's word for it; None where that is not known."""
    return _FAULTS.get(reason)


def refund_of(freeze: str, charge: Charge, reason: str) -> Refund | None:
    """Return what is given back for an attempt that ended by the platform's fault, each once.

    Args:
        freeze: The freeze that was charged.
        charge: What the attempt cost.
        reason: Kueue's word for why it ended.
    """
    if fault_of(reason) is not Fault.PLATFORM or charge.amount <= 0:
        return None
    key = f"refund/{freeze}/{charge.number}"
    return Refund(key=key, freeze=freeze, amount=charge.amount, reason=reason)


def _freeze(
    platform: Platform, work: Work, seconds: int, parts: tuple[FreezePart, ...], *, key: str
) -> Freeze:
    return Freeze(
        key=key,
        project=work.project,
        user=work.user,
        queue=work.queue,
        job=work.name,
        seconds=seconds,
        parts=parts,
        cap_percent=platform.freeze.cap,
        is_fast_lane=seconds <= platform.freeze.fast_lane_seconds,
    )
