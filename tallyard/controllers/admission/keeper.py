"""The keeper's loop: it takes what was seen of Workloads, pods and the spec, asks the ledger what
follows, and writes it.

Only the replica that holds the lease asks and writes; that two do for a moment harms nothing, for
the ledger does a thing once by its key, and the API server takes no write on another version. A
Workload is looked at when it or its pods change, when time asks for it, and once more while
something of it is undone. Where the ledger cannot be reached nothing is let in, nothing is
stopped, and all is looked at again when it can.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from tallyard.cluster.client import Connection
from tallyard.cluster.faults import ClusterError, Fault
from tallyard.cluster.watch import Seen
from tallyard.cluster.workloads import Workload
from tallyard.controllers.admission import balances, carrying_out, judging, saying
from tallyard.controllers.admission.balances import Told
from tallyard.controllers.admission.cost import Cost, Tariff, as_given, at_most
from tallyard.controllers.admission.judging import Windows
from tallyard.controllers.admission.observing import Observed, Priced
from tallyard.controllers.admission.scene import Item, Scene
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
from tallyard.controllers.admission.sweeping import Sweep
from tallyard.controllers.admission.verdict import steps
from tallyard.controllers.admission.waiting import Waiting
from tallyard.controllers.metrics import Metrics
from tallyard.controllers.spec_source import SpecInForce
from tallyard.ledger.commands import AnyCommand, Owe
from tallyard.ledger.due import due
from tallyard.ledger.store import using
from tallyard.ledger.store.migrating import migrate
from tallyard.ledger.store.store import Done, Outcome, Store
from tallyard.ledger.uses import Use
from tallyard.spec.model import Platform

_LOG = logging.getLogger(__name__)
# How often grants, their ends and debts are looked at, and the last look at the pods is kept.
_DUE_SECONDS = 10
# All is looked at this often whatever is seen: windows end, and what was lost is found again.
_ALL_SECONDS = 20
# So many are looked at in one round, and what a round writes takes about this long at most; the
# rest is the next one's.
_ROUND_MAX, _WORK_SECONDS_MAX = 500, 20.0
# A grant may make debts payable, and those other things due.
_DUE_ROUNDS_MAX = 5
# What the API server says about one object, while it may well take another.
_OF_ONE_OBJECT = frozenset({Fault.CONFLICT, Fault.NOT_FOUND, Fault.REFUSED, Fault.FORBIDDEN})


@dataclass
class _Plan:
    """One Workload in a round: what is known of it, and the steps that are left."""

    known: Known
    left: deque[Step]


class Keeper:
    """One thread's: the scene as it was last seen, and what is undone of it."""

    def __init__(
        self,
        store: Store,
        is_leading: Callable[[], bool],
        metrics: Metrics,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._is_leading = is_leading
        self._metrics = metrics
        self._now = now
        self._clock = clock
        self._spec = SpecInForce()
        self._scene = Scene()
        self._is_behind = False
        self._undecided_since: datetime | None = None
        # Also where the thread hangs.
        metrics.undecided.set_function(self._seconds_undecided)
        self.begin_to_lead()

    @property
    def is_behind(self) -> bool:
        """Return whether the last round ended at its bound and left something to do."""
        return self._is_behind

    def begin_to_lead(self) -> None:
        """Take over from another replica, of which nobody knows how far it came."""
        self._observed: Observed | None = None
        self._undone = set(self._scene.works)
        self._waiting = Waiting()
        self._windows: defaultdict[str, Windows] = defaultdict(Windows)
        self._priced: dict[str, tuple[str, Priced]] = {}
        self._told = Told()
        self._sweep = Sweep(self._store, self._metrics)
        self._is_check_active = False
        self._due_at = self._all_at = 0

    def see_spec(self, seen: Seen) -> None:
        """Take what was seen of the ConfigMap; the last good spec stays in force."""
        if self._spec.see(seen, self._now()):
            self._priced.clear()
            self._due_at = self._all_at = 0

    def see_workloads(self, seen: Seen) -> None:
        """Take what was seen of the Workloads."""
        for uid in self._scene.see_workloads(seen):
            if uid in self._scene.works:
                self._undone.add(uid)
            else:
                self._forget(uid)

    def see_pods(self, seen: Seen) -> None:
        """Take what was seen of the pods."""
        for uid in self._scene.see_pods(seen):
            self._waiting.drop(uid)
            self._undone.add(uid)

    def work(self, connect: Callable[[], Connection]) -> None:
        """Look at what is new and, if this replica leads, do what follows from it.

        Args:
            connect: Gives a connection; asked only where something is to be written.

        Raises:
            ClusterError: The API server takes nothing at the moment.
            StoreError: The ledger cannot be reached. What was not done is done by the next call.
        """
        self._is_behind = False
        now = self._now()
        platform = self._spec.at(now)
        if platform is None or not self._scene.is_whole or not self._is_leading():
            return
        self._undecided_since = self._oldest_undecided()
        if not self._is_check_active:
            carrying_out.activate_check(connect(), now)
            self._is_check_active = True
        at = int(now.timestamp())
        is_time = not 0 <= at - self._due_at < _DUE_SECONDS
        self._look(platform, at, is_time=is_time)
        if is_time:
            self._do_due(platform, at)
            self._sweep.sweep(platform, self._scene.is_there, at)
        if not 0 <= at - self._all_at < _ALL_SECONDS:
            self._undone |= self._scene.works.keys()
            self._all_at = at
        self._do(platform, at, connect)
        if is_time:
            # Last: what nobody can be told holds up nobody.
            self._tell_balances(platform, at, connect)

    def _oldest_undecided(self) -> datetime | None:
        """Return when the oldest Workload was made of which nothing is decided yet."""
        return min(
            (
                work.made
                for uid, work in self._scene.works.items()
                if not (work.is_active or work.was_active or work.is_finished or work.is_going)
                and uid not in self._waiting
                and judging.is_open(work)
            ),
            default=None,
        )

    def _seconds_undecided(self) -> float:
        since = self._undecided_since
        if since is None or not self._is_leading():
            return 0.0
        return max((self._now() - since).total_seconds(), 0.0)

    def _forget(self, uid: str) -> None:
        self._waiting.drop(uid)
        self._windows.pop(uid, None)
        self._priced.pop(uid, None)
        self._undone.discard(uid)
        if self._observed:
            self._observed.forget(uid)

    def _look(self, platform: Platform, at: int, *, is_time: bool) -> None:
        """Look at what runs, and keep what has changed."""
        if self._observed is None:
            # Only who leads changes the tables; two that did it at once would be in each other's way.
            migrate(self._store.engine)
            self._observed = Observed(*using.begun(self._store.engine))
        with self._store.books() as books:
            tariff = Tariff(platform, books, at)
            priced = [self._price(tariff, work) for work in self._scene.works.values()]
        changed = self._observed.look(priced, self._scene.sights, at)
        self._undone |= {uid for uid, _ in changed}
        if changed or is_time:
            using.keep(self._store.engine, at, changed)

    def _price(self, tariff: Tariff, work: Workload) -> Priced:
        version, priced = self._priced.get(work.uid, ("", None))
        if priced is None or version != work.version:
            cost = as_given(tariff, work) or at_most(tariff, work)
            priced = Priced(work, cost.pods if isinstance(cost, Cost) else {})
            self._priced[work.uid] = work.version, priced
        return priced

    def _do_due(self, platform: Platform, at: int) -> None:
        """Give and end grants as the spec and the time ask."""
        for _ in range(_DUE_ROUNDS_MAX):
            with self._store.books() as books:
                commands = list(due(platform, books, at))
            if not commands:
                break
            for command, outcome in zip(commands, self._store.do(commands), strict=True):
                if not isinstance(outcome, Done):
                    _LOG.error("%s was refused: %s", command.key, outcome)
        self._due_at = at

    def _tell_balances(
        self, platform: Platform, at: int, connect: Callable[[], Connection]
    ) -> None:
        rates = balances.rates(self._scene.works.values(), self._uses)
        with self._store.books() as books:
            found = balances.balances(platform, books, rates, at)
            caps = balances.caps(platform, books, at)
        self._told.tell(found, caps, connect)

    def _do(self, platform: Platform, at: int, connect: Callable[[], Connection]) -> None:
        """Take the steps of those whose turn it is, the ledger's all at once."""
        until = self._clock() + _WORK_SECONDS_MAX
        plans = self._plans(platform, self._chosen(at), at)
        try:
            while plans and self._is_leading() and self._clock() < until:
                self._ask(plans, at)
                for plan in plans:
                    self._write(plan, at, connect)
                plans = [plan for plan in plans if plan.left]
        finally:
            self._undone |= {plan.known.seen.uid for plan in plans if plan.left}
            self._is_behind |= any(plan.left for plan in plans)

    def _chosen(self, at: int) -> list[Workload]:
        """Return whom to look at now, in the order in which they came; the rest stays undone."""
        with self._store.books() as books:
            seq = books.seq
        works = self._scene.works
        wanted = {
            uid
            for uid in self._undone & works.keys()
            if uid not in self._waiting or works[uid].is_going or works[uid].is_finished
        }
        wanted |= self._waiting.due(seq, at)
        ordered = sorted((works[uid] for uid in wanted), key=lambda work: (work.made, work.uid))
        chosen = ordered[:_ROUND_MAX]
        self._is_behind |= len(ordered) > len(chosen)
        self._undone -= {work.uid for work in chosen}
        return chosen

    def _plans(self, platform: Platform, works: Sequence[Workload], at: int) -> list[_Plan]:
        with self._store.books() as books:
            tariff = Tariff(platform, books, at)
            bare = [
                judging.bare(tariff, work, self._uses(work.uid), self._windows[work.uid])
                for work in works
            ]
        ids = [list(judging.freezes_of(platform, known, at)) for known in bare]
        found = self._store.freezes({freeze for some in ids for freeze in some})
        plans = []
        for each, some in zip(bare, ids, strict=True):
            freezes = {freeze: found[freeze] for freeze in some if freeze in found}
            known = judging.whole(platform, each, self._windows[each.seen.uid], freezes, at)
            plans.append(_Plan(known, deque(steps(platform, known, at))))
        return [plan for plan in plans if plan.left]

    def _uses(self, uid: str) -> tuple[Use, ...]:
        return self._observed.uses(uid) if self._observed else ()

    def _ask(self, plans: Iterable[_Plan], at: int) -> None:
        """Ask the ledger what each plan asks first, all in one transaction of the store."""
        asks = [(plan, step) for plan in plans if isinstance(step := plan.left[0], Ask)]
        if not asks:
            return
        outcomes = iter(self._store.do([each for _, step in asks for each in step.commands]))
        with self._store.books() as books:
            seq = books.seq
        for plan, step in asks:
            plan.left.popleft()
            found = {command: next(outcomes) for command in step.commands}
            self._answer(plan, step, found, seq, at)

    def _answer(
        self, plan: _Plan, step: Ask, outcomes: Mapping[AnyCommand, Outcome], seq: int, at: int
    ) -> None:
        """Go on with a plan as the ledger has answered, at a state of its books."""
        uid = plan.known.seen.uid
        refusals = [each for each in outcomes.values() if not isinstance(each, Done)]
        for command, outcome in outcomes.items():
            if isinstance(command, Owe) and isinstance(outcome, Done):
                self._windows[uid].owed.add(int(command.key.rpartition("/")[2]))
        if not refusals:
            self._waiting.drop(uid)
        elif not step.or_go_on:
            self._waiting.refuse(uid, seq, at)
            plan.left.clear()
            if step.or_stop:
                plan.left.append(Stop())
            plan.left.append(Say(State.PENDING, refusal=refusals[0]))

    def _write(self, plan: _Plan, at: int, connect: Callable[[], Connection]) -> None:
        """Take the steps of a plan that are the API server's, until the ledger is asked again."""
        uid = plan.known.seen.uid
        while plan.left and not isinstance(plan.left[0], Ask) and self._is_leading():
            step = plan.left.popleft()
            item = self._scene.items.get(uid)
            if item is None:
                plan.left.clear()
                return
            try:
                self._take_step(plan.known, item, step, at, connect)
            except ClusterError as error:
                plan.left.clear()
                self._undone.add(uid)
                # What could not be said is said when it is decided again.
                self._waiting.drop(uid)
                self._give_up(error, item)

    def _take_step(
        self,
        known: Known,
        item: Item,
        step: Step,
        at: int,
        connect: Callable[[], Connection],
    ) -> None:
        uid = known.seen.uid
        if isinstance(step, Say):
            text = self._text(known, step, at)
            if step.refusal and not self._waiting.is_news(uid, text, at):
                return
            written = carrying_out.say(connect(), item, step.state, text, self._now())
            if step.refusal:
                self._waiting.say(uid, text, at)
        elif isinstance(step, LetIn | Stop | LetGo):
            written = carrying_out.change(connect(), item, step)
        else:
            raise TypeError(f"{step} is the ledger's")
        self._metrics.steps.labels(type(step).__name__).inc()
        if isinstance(step, LetGo):
            self._forget(uid)
        else:
            self._scene.take(written)

    def _text(self, known: Known, step: Say, at: int) -> str:
        if step.never:
            return saying.never(step.never)
        if step.refusal is None:
            return saying.frozen(known)
        with self._store.books() as books:
            relief = judging.relief_of(known, self._scene.works.values(), books.freezes, at)
            names = {name: record.name for name, record in books.projects.items()}
            return saying.refused(known, step.refusal, names, relief)

    def _give_up(self, error: ClusterError, item: Item) -> None:
        """Leave one out that the server does not take, until the next round; others do not wait.

        Raises:
            ClusterError: The server cannot be asked at all, or takes nothing at the moment.
        """
        if error.fault not in _OF_ONE_OBJECT:
            raise error
        # It is another one by now, or none; what it has become is on its way to us.
        if error.fault not in {Fault.CONFLICT, Fault.NOT_FOUND}:
            self._metrics.failures.labels("write").inc()
            meta = item["metadata"]
            _LOG.error("Workload %s/%s: %s", meta["namespace"], meta["name"], error)
