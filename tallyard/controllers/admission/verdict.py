"""What is to be done about one Workload now. Pure: what is known of it, and the moment.

The order keeps work from running unpaid: the freeze is on the disk before the check says Ready,
and the check says so before the Workload is active. Each step may be done twice, and the next
look finds what a crash has left undone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from tallyard import labels
from tallyard.cluster.workloads import Workload
from tallyard.controllers.admission.cost import Cost, NoHosts
from tallyard.ledger import work as rules
from tallyard.ledger.amounts import of_rate
from tallyard.ledger.commands import AnyCommand, Reduce, Refund, Settle
from tallyard.ledger.records import FreezeRecord
from tallyard.ledger.sentences import Quote
from tallyard.ledger.work import Work
from tallyard.spec.model import Platform

# Kueue's reason for one that somebody made inactive; each is made so.
_DEACTIVATED = "Deactivated"


class State(StrEnum):
    """What a check says. `Retry` is never said: Kueue evicts, reserves again and asks again."""

    PENDING = "Pending"
    READY = "Ready"
    REJECTED = "Rejected"


@dataclass(frozen=True)
class Ask:
    """Ask the ledger, all in one transaction of its store; where it refuses, what follows waits.

    With `or_stop` the Workload is made inactive then: it would run without a freeze.
    """

    commands: tuple[AnyCommand, ...]
    or_stop: bool = False


@dataclass(frozen=True)
class Say:
    """Write the check; `never` names what makes it impossible."""

    state: State
    never: NoHosts | None = None


@dataclass(frozen=True)
class LetIn:
    """Make it active, so that it can have quota."""


@dataclass(frozen=True)
class Stop:
    """Make it inactive: it would run without a freeze."""


@dataclass(frozen=True)
class LetGo:
    """Take our finalizer away: what it used is on record."""


type Step = Ask | Say | LetIn | Stop | LetGo


@dataclass(frozen=True)
class Used:
    """What its pods used so far, and what of it is given back; whether any still runs."""

    amount: int
    is_running: bool
    refunds: tuple[Refund, ...] = ()


@dataclass(frozen=True)
class Known:
    """A Workload and all that its fate hangs on.

    `quote` is what it would freeze on the dearest hosts, or why there are none; `given` what an
    hour costs as quota was reserved. `job` and `wait` are its freezes, open or resolved.
    """

    seen: Workload
    quote: Quote | NoHosts
    given: Cost | None
    job: FreezeRecord | None
    wait: FreezeRecord | None
    used: Used

    @property
    def work(self) -> Work:
        """Return what the ledger calls it."""
        seen = self.seen
        return Work(seen.uid, seen.project, seen.user, seen.queue, seen.owner[1])


def steps(platform: Platform, known: Known, at: int) -> tuple[Step, ...]:
    """Return what is to be done, in this order; the first that fails ends it for now."""
    seen = known.seen
    is_stopped = not seen.is_active and seen.was_active
    if seen.is_finished or seen.is_going or (is_stopped and known.job is not None):
        return tuple(_ended(known, at))
    if known.job is not None:
        return tuple(_frozen(known)) if known.job.is_open else tuple(_stopped(known))
    if isinstance(known.quote, NoHosts):
        return (Say(State.REJECTED, known.quote),) if not _says(known, State.REJECTED) else ()
    # One that came past the policy is active before there is anything for it.
    freeze = rules.freeze_of(platform, known.work, known.quote)
    return (Ask((freeze,), or_stop=seen.is_active), *_let_in(known))


def _frozen(known: Known) -> Iterator[Step]:
    """Let it in, and keep no more frozen than it was given."""
    seen = known.seen
    yield from _let_in(known)
    if known.job and known.given and seen.limit is not None:
        wanted = of_rate(known.given.rate_milli, seen.limit)
        if 0 < wanted < known.job.amount:
            yield Ask((Reduce(key=f"reduce/{known.job.id}", freeze=known.job.id, amount=wanted),))
    if seen.admitted is not None and known.wait and known.wait.is_open:
        yield Ask((_charged_wait(known, known.wait, int(seen.admitted.timestamp())),))


def _let_in(known: Known) -> Iterator[Step]:
    # While Kueue evicts, it says Pending itself, and a word from us would outlast the eviction.
    if not _says(known, State.READY) and known.seen.eviction in ("", _DEACTIVATED):
        yield Say(State.READY)
    if not known.seen.is_active:
        yield LetIn()


def _stopped(known: Known) -> Iterator[Step]:
    if known.seen.is_active:
        yield Stop()


def _ended(known: Known, at: int) -> Iterator[Step]:
    """Put on record what it used, then let it go; it is not over while a pod runs."""
    if known.used.is_running:
        return
    commands: list[AnyCommand] = []
    if known.wait and known.wait.is_open:
        admitted = known.seen.admitted
        commands.append(
            _charged_wait(known, known.wait, int(admitted.timestamp()) if admitted else at)
        )
    if known.job and known.job.is_open:
        amount = min(known.used.amount, known.job.amount)
        commands.append(Settle(key=f"settle/{known.job.id}", freeze=known.job.id, amount=amount))
        commands += known.used.refunds
    if commands:
        yield Ask(tuple(commands))
    if labels.SETTLE_FINALIZER in known.seen.finalizers and (
        known.seen.is_going or known.seen.is_finished
    ):
        yield LetGo()


def _charged_wait(known: Known, wait: FreezeRecord, until: int) -> Settle:
    quote = known.quote
    charge = 0 if isinstance(quote, NoHosts) else rules.wait_charge(quote, wait.made, until)
    return Settle(key=f"settle/{wait.id}", freeze=wait.id, amount=min(charge, wait.amount))


def _says(known: Known, state: State) -> bool:
    check = known.seen.checks.get(labels.CORE_HOURS_CHECK)
    return check is not None and check.state == state
