"""What is to be done about one Workload now. Pure: what is known of it, and the moment.

The order keeps work from running unpaid: the freeze is on the disk before the check says Ready,
and the check says so before the Workload is active. Each step may be done twice, and the next
look finds what a crash has left undone.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallyard import labels
from tallyard.controllers.admission import windows
from tallyard.controllers.admission.cost import NoHosts
from tallyard.controllers.admission.steps import (
    Ask,
    Known,
    LetGo,
    LetIn,
    Say,
    State,
    Step,
    Stop,
)
from tallyard.ledger import uses
from tallyard.ledger import work as rules
from tallyard.ledger.amounts import of_rate
from tallyard.ledger.commands import AnyCommand, Reduce, Settle
from tallyard.ledger.records import FreezeRecord
from tallyard.spec.model import Platform

# Kueue's reason for one that somebody made inactive; each is made so.
_DEACTIVATED = "Deactivated"


def steps(platform: Platform, known: Known, at: int) -> tuple[Step, ...]:
    """Return what is to be done, in this order; the first that fails ends it for now."""
    if known.is_over:
        return tuple(_ended(platform, known, at))
    first = known.freezes.get(known.work.job) or known.freezes.get(known.work.window(0))
    if first is None:
        return tuple(_new(platform, known))
    if known.seen.limit is None:
        return (*_let_in(known), *windows.due(platform, known, at))
    return tuple(_frozen(known, first)) if first.is_open else tuple(_stopped(known))


def _new(platform: Platform, known: Known) -> Iterator[Step]:
    if isinstance(known.quote, NoHosts):
        if not _says(known, State.REJECTED):
            yield Say(State.REJECTED, known.quote)
        return
    work = known.work
    freeze = (
        rules.window_of(platform, work, known.quote.rate_milli, 0)
        if known.seen.limit is None
        else rules.freeze_of(platform, work, known.quote)
    )
    # One that came past the policy is active before there is anything for it.
    yield Ask((freeze,), or_stop=known.seen.is_active)
    yield from _let_in(known)


def _frozen(known: Known, job: FreezeRecord) -> Iterator[Step]:
    """Let it in, and keep no more frozen than it was given."""
    seen = known.seen
    yield from _let_in(known)
    if known.given and seen.limit is not None:
        wanted = of_rate(known.given.rate_milli, seen.limit)
        if 0 < wanted < job.amount:
            yield Ask((Reduce(key=f"reduce/{job.id}", freeze=job.id, amount=wanted),))
    wait = known.freezes.get(known.work.wait)
    if seen.admitted is not None and wait and wait.is_open:
        yield Ask((_charged_wait(known, wait, int(seen.admitted.timestamp())),))


def _let_in(known: Known) -> Iterator[Step]:
    # While Kueue evicts, it says Pending itself, and a word from us would outlast the eviction.
    if not _says(known, State.READY) and known.seen.eviction in ("", _DEACTIVATED):
        yield Say(State.READY)
    # One that came past the policy is active, and nothing keeps it until its end is on record.
    if not known.seen.is_active or not known.seen.was_active:
        yield LetIn()


def _stopped(known: Known) -> Iterator[Step]:
    if known.seen.is_active:
        yield Stop()


def _ended(platform: Platform, known: Known, at: int) -> Iterator[Step]:
    """Put on record what it used, then let it go; it is not over while a pod runs."""
    if known.is_running:
        return
    if known.seen.limit is None:
        yield from windows.rest(platform, known, at)
    elif commands := tuple(_settled(known, at)):
        yield Ask(commands)
    if known.seen.is_kept and (known.seen.is_going or known.seen.is_finished):
        yield LetGo()


def _settled(known: Known, at: int) -> Iterator[AnyCommand]:
    wait, job = (known.freezes.get(each) for each in (known.work.wait, known.work.job))
    if wait and wait.is_open:
        admitted = known.seen.admitted
        yield _charged_wait(known, wait, int(admitted.timestamp()) if admitted else at)
    if job and job.is_open:
        amount = min(uses.amount(known.uses, at), job.amount)
        yield Settle(key=f"settle/{job.id}", freeze=job.id, amount=amount)
        yield from uses.refunds(known.uses, job.id, amount)


def _charged_wait(known: Known, wait: FreezeRecord, until: int) -> Settle:
    quote = known.quote
    charge = 0 if isinstance(quote, NoHosts) else rules.wait_charge(quote, wait.made, until)
    return Settle(key=f"settle/{wait.id}", freeze=wait.id, amount=min(charge, wait.amount))


def _says(known: Known, state: State) -> bool:
    check = known.seen.checks.get(labels.CORE_HOURS_CHECK)
    return check is not None and check.state == state
