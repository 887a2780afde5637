"""What runs, look after look: the uses of all work, and what of them has changed. No I/O.

A look compares the pods with the uses that go on. Between two looks nothing may be lost: a pod
that came and went in the meantime ran too, one that is not there any more ran as long as we know,
and one that was there before and after a time without a look ran through it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from tallyard.cluster.sights import DISRUPTED, Sight
from tallyard.cluster.workloads import Workload
from tallyard.ledger import uses
from tallyard.ledger.uses import Seen, Use

# A time without a look that is longer than this stands on the receipt. A look is at most the
# time between two lists of the pods ago, while all is well.
GAP_SECONDS = 120
# By so much the end of a pod may be seen before its eviction is.
_APART_SECONDS = 5
# Each Workload is made inactive, which Kueue counts as its first eviction; nothing ran then.
_AS_MADE: Mapping[str, int] = MappingProxyType({"Deactivated": 1})


@dataclass(frozen=True)
class Priced:
    """A Workload with what an hour of one pod of each of its sets costs, in thousandths."""

    seen: Workload
    rates: Mapping[str, int]


class Observed:
    """The uses of all work that is not settled yet, by its id."""

    def __init__(self, live: int, by_work: Mapping[str, Iterable[Use]]) -> None:
        """Begin with what was kept, and the moment at which all that ran was last known."""
        self.live = live
        self._by_work = {work: {use.pod: use for use in found} for work, found in by_work.items()}
        # How often each work had been evicted, by reason, when it was last looked at.
        self._evictions: dict[str, Mapping[str, int]] = {}

    def uses(self, work: str) -> tuple[Use, ...]:
        """Return the uses of one work, in the order in which they were seen."""
        return tuple(self._by_work.get(work, {}).values())

    def forget(self, work: str) -> None:
        """Forget work that is settled."""
        self._by_work.pop(work, None)
        self._evictions.pop(work, None)

    def look(
        self, works: Iterable[Priced], sights: Iterable[Sight], at: int
    ) -> list[tuple[str, Use]]:
        """Look at all pods now and return each use that is new or has changed, with its work.

        Args:
            works: All Workloads that are there.
            sights: All pods of Workloads that are there.
            at: Now; `live` is from then on this moment.
        """
        seen = Seen(min(self.live, at), at)
        by_name = {(each.seen.namespace, each.seen.name): each for each in works}
        changed: dict[tuple[str, str], Use] = {}
        there: set[tuple[str, str]] = set()
        for sight in sights:
            work = by_name.get((sight.namespace, sight.workload))
            if work is not None:
                there.add((work.seen.uid, sight.pod))
                self._keep(changed, work.seen.uid, self._of_pod(work, sight, seen))
        for each in by_name.values():
            for use in self.uses(each.seen.uid):
                if use.ended is None and (each.seen.uid, use.pod) not in there:
                    self._keep(changed, each.seen.uid, uses.gone(use, use.reason, seen))
            for use in self._blamed(each.seen, seen):
                self._keep(changed, each.seen.uid, use)
        self.live = seen.at
        return [(work, use) for (work, _), use in changed.items()]

    def _keep(self, changed: dict[tuple[str, str], Use], work: str, use: Use | None) -> None:
        if use is not None:
            self._by_work.setdefault(work, {})[use.pod] = use
            changed[work, use.pod] = use

    def _of_pod(self, work: Priced, sight: Sight, seen: Seen) -> Use | None:
        """Return the use of a pod where it is another one than before."""
        before = self._by_work.get(work.seen.uid, {}).get(sight.pod)
        is_over = sight.ended is not None
        if before is None:
            # One that has ended without having run anything used nothing.
            if not sight.runs and not (is_over and sight.began is not None):
                return None
            use = Use(
                pod=sight.pod,
                pod_set=sight.pod_set,
                attempt=work.seen.attempt,
                rate_milli=work.rates.get(sight.pod_set, 0),
                began=seen.within(sight.began),
            )
            return uses.ended(use, sight.ended, _reason(sight, use), seen) if is_over else use
        if before.ended is not None:
            return None
        if is_over:
            return uses.ended(before, sight.ended, _reason(sight, before), seen)
        if seen.at - seen.live > GAP_SECONDS:
            return uses.missed(before, seen)
        return None

    def _blamed(self, seen: Workload, look: Seen) -> Iterator[Use]:
        """Yield the uses that an eviction has ended, with its reason."""
        before, now = self._evictions.get(seen.uid, _AS_MADE), seen.evictions
        self._evictions[seen.uid] = now
        reason = _why(before, now, seen.eviction)
        if not reason:
            return
        for use in self.uses(seen.uid):
            # What its program ended before, it ended itself.
            is_cut_off = use.ended is None or use.ended >= look.live - _APART_SECONDS
            if use.attempt < seen.attempt and not use.reason and is_cut_off:
                yield replace(use, reason=reason)


def _reason(sight: Sight, use: Use) -> str:
    return use.reason or (DISRUPTED if sight.is_disrupted else "")


def _why(before: Mapping[str, int], now: Mapping[str, int], current: str) -> str:
    """Return for what reason there were more evictions than before; nothing where none is sure."""
    grown = {reason for reason, count in now.items() if count > before.get(reason, 0)}
    if current in grown:
        return current
    return grown.pop() if len(grown) == 1 else ""
