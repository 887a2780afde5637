"""Freezes whose Workload is gone without a word: somebody has taken our finalizer off it. Pure.

What was seen of its pods is charged, and the rest goes back; nobody knows for how long it waited.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime

from tallyard.cluster.workloads import Workload
from tallyard.controllers.admission.cost import NoHosts
from tallyard.controllers.admission.steps import Ask, Known
from tallyard.controllers.admission.verdict import steps
from tallyard.ledger.commands import AnyCommand, Purpose
from tallyard.ledger.records import FreezeRecord
from tallyard.ledger.uses import Use
from tallyard.ledger.work import id_of
from tallyard.spec.model import Platform

# The freeze may be known sooner than its Workload, where another replica has made it.
_GONE_SECONDS = 30


class Missing:
    """One thread's: which work with open freezes is not there, and since when."""

    def __init__(self) -> None:
        self._since: dict[str, int] = {}

    def look(
        self, open_: Iterable[FreezeRecord], is_there: Callable[[str], bool], at: int
    ) -> list[tuple[FreezeRecord, int]]:
        """Return one freeze of each work that is gone for good, and when it was missed first.

        Args:
            open_: All open freezes.
            is_there: Whether there is a Workload of an id.
            at: Now; looking seldom makes it later, never sooner.
        """
        missing = defaultdict(list)
        for record in open_:
            if (work := id_of(record.id)) and not is_there(work):
                missing[work].append(record)
        self._since = {work: self._since.get(work, at) for work in missing}
        return [
            (records[0], self._since[work])
            for work, records in missing.items()
            if at - self._since[work] >= _GONE_SECONDS
        ]


def settled(
    platform: Platform,
    freezes: Sequence[FreezeRecord],
    uses: tuple[Use, ...],
    debt_max: int,
    at: int,
) -> Iterator[AnyCommand]:
    """Yield what settles work that is gone.

    Args:
        platform: The spec.
        freezes: All its freezes, resolved ones too.
        uses: When its pods ran, each of them over.
        debt_max: What its project may owe at most.
        at: Now.
    """
    ghost = _ghost(freezes[0])
    known = Known(
        ghost,
        # What it asked for is not known any more, and neither is what an hour of waiting costs.
        NoHosts("", ghost.queue),
        freezes={each.id: each for each in freezes},
        uses=uses,
        debt_max=debt_max,
    )
    for step in steps(platform, known, at):
        if isinstance(step, Ask):
            yield from step.commands


def _ghost(record: FreezeRecord) -> Workload:
    """Return the Workload that was there, as one that is being deleted and that nothing keeps."""
    has_end = record.purpose is not Purpose.WINDOW
    return Workload(
        uid=id_of(record.id),
        namespace="",
        name=record.job,
        version="",
        made=datetime.fromtimestamp(record.made, UTC),
        owner=("", record.job),
        project=record.project,
        user=record.user,
        queue=record.queue,
        limit=record.seconds if has_end else None,
        is_active=False,
        is_going=True,
        finalizers=(),
        pod_sets=(),
        checks={},
        has_quota=False,
        admitted=None,
        is_finished=False,
        eviction="",
        evictions={},
    )
