"""The sweep: open freezes whose Workload is gone without a word are settled."""

from __future__ import annotations

import logging
from collections.abc import Callable

from tallyard.controllers.admission import orphans
from tallyard.controllers.admission.orphans import Missing
from tallyard.controllers.metrics import Metrics
from tallyard.ledger import uses
from tallyard.ledger import work as rules
from tallyard.ledger.records import FreezeRecord
from tallyard.ledger.store import using
from tallyard.ledger.store.store import Done, Store
from tallyard.ledger.uses import Seen
from tallyard.ledger.work import Work
from tallyard.spec.model import Platform

_LOG = logging.getLogger(__name__)


class Sweep:
    """One thread's: it knows since when what is missing."""

    def __init__(self, store: Store, metrics: Metrics) -> None:
        self._store = store
        self._metrics = metrics
        self._missing = Missing()

    def sweep(self, platform: Platform, is_there: Callable[[str], bool], at: int) -> None:
        """Settle what has been gone for long enough.

        Args:
            platform: The spec.
            is_there: Whether there is a Workload of an id.
            at: Now.

        Raises:
            StoreError: The ledger cannot be reached; the next sweep finds the same.
        """
        with self._store.books() as books:
            open_ = list(books.freezes.values())
        for record, since in self._missing.look(open_, is_there, at):
            # Whatever ran of it is known until then, and nothing after.
            self._settle(platform, record, Seen(since, at))

    def _settle(self, platform: Platform, record: FreezeRecord, seen: Seen) -> None:
        work = Work(rules.id_of(record.id), record.project, record.user, record.queue, record.job)
        kept = using.of_work(self._store.engine, work.id)
        used = tuple(uses.gone(use, use.reason, seen) if use.ended is None else use for use in kept)
        with self._store.books() as books:
            most = rules.debt_max(platform, books, work.project, seen.at)
        # First: what is settled is not looked at again, and its uses would go on for ever.
        using.keep(self._store.engine, seen.at, [(work.id, use) for use in used])
        freezes = self._store.freezes_of(work)
        outcomes = self._store.do([*orphans.settled(platform, freezes, used, most, seen.at)])
        self._metrics.orphans.inc()
        _LOG.error(
            "the Workload of %s (%s) was gone, and its end was not on record; it is settled now",
            work.name,
            work.id,
        )
        for outcome in outcomes:
            if not isinstance(outcome, Done):
                _LOG.error("%s: refused: %s", work.id, outcome)
