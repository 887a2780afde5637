"""When the pods of some work ran, as we saw it, and what that costs. Pure.

A kubelet's clock says when containers began and ended, within what we have seen ourselves: before
the last moment at which nothing ran, and after the one at which something still did, no clock is
believed beyond the seconds that a kubelet takes to tell. An image that is pulled, and a pod that
waits for its host, run nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from tallyard.ledger import pricing
from tallyard.ledger import work as rules
from tallyard.ledger.commands import Refund
from tallyard.ledger.work import Charge

# A kubelet tells what it has done some seconds later: what we saw then was already over.
_TOLD_SECONDS_MAX = 10


@dataclass(frozen=True)
class Seen:
    """Between `live`, the last moment at which all that ran was known, and `at`, now."""

    live: int
    at: int

    def within(self, said: int | None) -> int:
        """Return a moment that a kubelet said, as far as it agrees with what we saw."""
        if said is None:
            return self.at
        return min(max(said, self.live - _TOLD_SECONDS_MAX), self.at)


@dataclass(frozen=True)
class Use:
    """One pod while it ran. `ended` is None while it does; `reason` is why it was ended, if it was.

    `attempt` counts how often the work had been evicted before; `rate_milli` is what an hour of
    the pod costs, in thousandths of a core-hour, on the hosts that it was given. `gaps` are times
    at which nobody of ours looked; the pod was the same before and after. Moments are seconds
    since 1970.
    """

    pod: str
    pod_set: str
    attempt: int
    rate_milli: int
    began: int
    ended: int | None = None
    reason: str = ""
    gaps: tuple[tuple[int, int], ...] = ()


def ended(use: Use, said: int | None, reason: str, seen: Seen) -> Use:
    """Return the use of a pod that runs no more, by what its kubelet says."""
    return replace(use, ended=max(seen.within(said), use.began), reason=reason)


def gone(use: Use, reason: str, seen: Seen) -> Use:
    """Return the use of a pod that is not there any more: it ran as long as we know."""
    return replace(use, ended=max(seen.live, use.began), reason=reason)


def missed(use: Use, seen: Seen) -> Use:
    """Return a use with the time in which nobody looked, on which its receipt says so."""
    return replace(use, gaps=(*use.gaps, (max(seen.live, use.began), seen.at)))


def amount(uses: Iterable[Use], at: int) -> int:
    """Return what uses cost until now, in thousandths of a core-second."""
    return sum(_cost(use, at) for use in uses)


def refunds(uses: Iterable[Use], freeze: str, most: int) -> Iterator[Refund]:
    """Yield what is given back of a charge: each attempt that the platform ended, at most `most`."""
    by_attempt: dict[tuple[int, str], int] = {}
    for use in uses:
        if use.ended is not None and use.reason:
            key = (use.attempt, use.reason)
            by_attempt[key] = by_attempt.get(key, 0) + _cost(use, use.ended)
    for (attempt, reason), cost in sorted(by_attempt.items()):
        refund = rules.refund_of(freeze, Charge(attempt, min(cost, most)), reason)
        if refund is not None:
            most -= refund.amount
            yield refund


def _cost(use: Use, at: int) -> int:
    until = at if use.ended is None else use.ended
    return pricing.used(use.rate_milli, [(use.began, until)])
