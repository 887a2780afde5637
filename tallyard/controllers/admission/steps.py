"""What can be done about a Workload, and all that its fate hangs on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from tallyard.cluster.workloads import Workload
from tallyard.controllers.admission.cost import Cost, NoHosts
from tallyard.ledger.commands import AnyCommand
from tallyard.ledger.records import FreezeRecord
from tallyard.ledger.refusals import Refusal
from tallyard.ledger.sentences import Quote
from tallyard.ledger.uses import Use
from tallyard.ledger.work import Work


class State(StrEnum):
    """What a check says. `Retry` is never said: Kueue evicts, reserves again and asks again."""

    PENDING = "Pending"
    READY = "Ready"
    REJECTED = "Rejected"


@dataclass(frozen=True)
class Ask:
    """Ask the ledger, all in one transaction of its store.

    Where it refuses, what follows waits; with `or_stop` the Workload is made inactive then, for
    it would run without a freeze; with `or_go_on` what follows is done all the same.
    """

    commands: tuple[AnyCommand, ...]
    or_stop: bool = False
    or_go_on: bool = False


@dataclass(frozen=True)
class Say:
    """Write the check; `never` or `refusal` is why the work may not run."""

    state: State
    never: NoHosts | None = None
    refusal: Refusal | None = None


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
class Known:
    """A Workload and all that its fate hangs on.

    `quote` is what it would freeze on the dearest hosts, or why there are none; for work without
    an end it is that of one window. `given` is what an hour costs as quota was reserved.
    `freezes` are its own by id, open or resolved: of windows the first one, and those from
    `closed` on, before which all are settled or owed. `owed` are the later ones that are a debt,
    `debt_max` is what its project may owe at most.
    """

    seen: Workload
    quote: Quote | NoHosts
    given: Cost | None = None
    freezes: Mapping[str, FreezeRecord] = field(default_factory=dict)
    uses: tuple[Use, ...] = ()
    closed: int = 0
    owed: frozenset[int] = frozenset()
    debt_max: int = 0

    @property
    def work(self) -> Work:
        """Return what the ledger calls it."""
        return work_of(self.seen)

    @property
    def begun(self) -> int | None:
        """Return when its first pod ran; None before that."""
        return min((use.began for use in self.uses), default=None)

    @property
    def is_running(self) -> bool:
        """Say whether a pod of it runs."""
        return any(use.ended is None for use in self.uses)

    @property
    def is_over(self) -> bool:
        """Say whether nothing of it is to run any more; what runs may still be ending."""
        seen = self.seen
        is_stopped = not seen.is_active and seen.was_active and bool(self.freezes)
        return seen.is_finished or seen.is_going or is_stopped


def work_of(seen: Workload) -> Work:
    """Return what the ledger calls a Workload."""
    return Work(seen.uid, seen.project, seen.user, seen.queue, seen.owner[1])
