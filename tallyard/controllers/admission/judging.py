"""What is known of a Workload: all that the ledger, the spec and the pods say of it. No I/O.

Which freezes there can be follows from the work itself: the job's and its wait's, or one for each
window that has begun.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from tallyard import labels
from tallyard.cluster.workloads import Workload
from tallyard.controllers.admission.cost import Cost, Tariff, as_given, at_most
from tallyard.controllers.admission.steps import Known, State, work_of
from tallyard.ledger import work as rules
from tallyard.ledger.records import FreezeRecord
from tallyard.ledger.sentences import Quote, Relief
from tallyard.ledger.uses import Use
from tallyard.ledger.work import Work
from tallyard.spec.model import Platform


@dataclass
class Windows:
    """Of work without an end: how many first windows are closed, and which later ones are owed."""

    closed: int = 0
    owed: set[int] = field(default_factory=set)

    def close(self, work: Work, freezes: Mapping[str, FreezeRecord], over: int) -> None:
        """Count the first windows that are settled or owed, of those whose time is over."""
        while self.closed < over and (
            self.closed in self.owed or _is_resolved(freezes.get(work.window(self.closed)))
        ):
            self.owed.discard(self.closed)
            self.closed += 1


def is_open(seen: Workload) -> bool:
    """Say whether nobody has said yet that it can never run."""
    check = seen.checks.get(labels.CORE_HOURS_CHECK)
    return check is None or check.state != State.REJECTED


def bare(tariff: Tariff, seen: Workload, uses: tuple[Use, ...], windows: Windows) -> Known:
    """Return what is known of a Workload but for its freezes, which `freezes_of` names."""
    platform = tariff.platform
    cost = at_most(tariff, seen)
    return Known(
        seen,
        _quote(platform, seen, cost) if isinstance(cost, Cost) else cost,
        given=as_given(tariff, seen),
        uses=uses,
        closed=windows.closed,
        owed=frozenset(windows.owed),
        debt_max=rules.debt_max(platform, tariff.books, seen.project, tariff.at),
    )


def freezes_of(platform: Platform, known: Known, at: int) -> Iterator[str]:
    """Yield the ids of all freezes that there can be of a Workload and that matter now."""
    work = known.work
    if known.seen.limit is not None:
        yield from (work.job, work.wait)
        return
    yield work.window(0)
    begun = known.begun
    due = 1 if begun is None else rules.windows_due(platform, begun, at)
    yield from (work.window(number) for number in range(max(known.closed, 1), due))


def whole(
    platform: Platform, known: Known, windows: Windows, found: Mapping[str, FreezeRecord], at: int
) -> Known:
    """Return what is known with the freezes that there are, and no more of closed windows."""
    if known.begun is not None:
        over = max(at - known.begun, 0) // platform.freeze.window_seconds
        windows.close(known.work, found, over)
    return replace(known, freezes=found, closed=windows.closed, owed=frozenset(windows.owed))


def relief_of(
    known: Known, works: Iterable[Workload], open_freezes: Mapping[str, FreezeRecord], at: int
) -> Relief | None:
    """Return the running work of the same project that ends first, and what it gives back.

    Args:
        known: Who waits.
        works: All Workloads.
        open_freezes: The open freezes by id.
        at: Now.
    """
    ends = []
    for each in works:
        record = open_freezes.get(work_of(each).job)
        if each.project == known.seen.project and each.admitted and each.limit and record:
            left = int(each.admitted.timestamp()) + each.limit - at
            ends.append((max(left, 0), each.owner[1], record.amount))
    if not ends:
        return None
    seconds, name, amount = min(ends)
    return Relief(name, amount, seconds)


def _quote(platform: Platform, seen: Workload, cost: Cost) -> Quote:
    if seen.limit is None:
        return Quote(cost.asked, cost.rate_milli, platform.freeze.window_seconds)
    return rules.quote_of(platform, cost.asked, cost.rate_milli, seen.limit)


def _is_resolved(record: FreezeRecord | None) -> bool:
    return record is not None and not record.is_open
