"""Work without an end: a window at a time, and a debt for what could not be frozen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import pytest

from tallyard import labels
from tallyard.cluster.workloads import Check, Workload, read
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
from tallyard.controllers.admission.verdict import steps
from tallyard.ledger import work as rules
from tallyard.ledger.accounts import Account
from tallyard.ledger.records import FreezeRecord
from tallyard.ledger.sentences import Quote
from tallyard.ledger.transactions import Transaction
from tallyard.ledger.uses import Use
from tallyard.spec.model import Platform
from tests.controllers.admission.workloads import workload
from tests.ledger.ledgers import NOVEMBER, H, InMemory, Ledger

HOUR, MINUTE = 3600, 60
RATE = 12_000
HELD, LET_IN = (labels.HOLD_FINALIZER,), (labels.SETTLE_FINALIZER,)
READY = {labels.CORE_HOURS_CHECK: Check("Ready", "")}


@dataclass
class Service:
    """A pod of a service beside real books; asked every minute, as the controller would."""

    platform: Platform
    seen: Workload
    ledger: Ledger
    uses: tuple[Use, ...] = ()
    owed: frozenset[int] = frozenset()

    def steps(self) -> tuple[Step, ...]:
        """Return what is to be done now."""
        bound = rules.debt_max(self.platform, self.ledger.books, "nlp", self.ledger.now)
        known = Known(
            self.seen,
            Quote("1 x RTX-4090", RATE, HOUR),
            freezes=self.freezes(),
            uses=self.uses,
            owed=self.owed,
            debt_max=bound,
        )
        return steps(self.platform, known, self.ledger.now)

    def freezes(self) -> dict[str, FreezeRecord]:
        """Return its freezes, those that are resolved too."""
        return {n: r for n, r in self.ledger.books.freezes.items() if n.startswith("7d1f0c/")}

    def until(self, at: int) -> None:
        """Let the time go by, a minute at a time."""
        while self.ledger.now < at:
            self.ledger.now = min(self.ledger.now + MINUTE, at)
            self.follow(self.steps())

    def follow(self, found: Iterable[Step]) -> None:
        """Do what is to be done, as far as the ledger lets it."""
        for step in found:
            if not isinstance(step, Ask):
                continue
            for command in step.commands:
                done = isinstance(self.ledger.keeper.do(command, self.ledger.now), Transaction)
                assert done or step.or_go_on
                if done and command.key.startswith("owe/"):
                    self.owed |= {int(command.key.rpartition("/")[2])}

    @property
    def frozen(self) -> int:
        """Return what is frozen now."""
        return self.ledger.lot().frozen

    @property
    def charged(self) -> int:
        """Return what was charged so far."""
        return self.ledger.lot().charged


@pytest.fixture
def service(platform: Platform) -> Service:
    """One that is let in, ten minutes before its pod runs, with 30 core-hours."""
    ledger = Ledger(InMemory())
    ledger.grant_cluster(1000 * H)
    ledger.grant("nlp", 30 * H, {"li.wei": 100})
    item = workload()
    item["spec"].pop("maximumExecutionTimeSeconds")
    item["metadata"]["finalizers"] = [labels.HOLD_FINALIZER]
    uncapped = replace(platform, freeze=replace(platform.freeze, cap=100))
    found = Service(uncapped, read(item), ledger)
    found.follow(found.steps())
    found.seen = replace(found.seen, is_active=True, finalizers=LET_IN, checks=READY)
    found.until(NOVEMBER + 10 * MINUTE)
    found.uses = (Use("pod-1", "main", 1, RATE, NOVEMBER + 10 * MINUTE),)
    return found


BEGUN = NOVEMBER + 10 * MINUTE


def test_one_window_is_frozen_before_it_is_let_in(service: Service) -> None:
    service.seen = replace(service.seen, is_active=False, finalizers=HELD, checks={})
    service.ledger = Ledger(InMemory())
    service.uses = ()
    freeze, ready, let_in = service.steps()
    assert freeze == Ask((rules.window_of(service.platform, _work(service), RATE, 0),))
    assert (ready, let_in) == (Say(State.READY), LetIn())


def _work(service: Service) -> rules.Work:
    return Known(service.seen, Quote("", 0, 0)).work


def test_the_window_begins_with_the_first_pod_and_the_next_is_frozen_in_time(
    service: Service,
) -> None:
    assert service.frozen == 12 * H
    service.until(BEGUN + 53 * MINUTE)
    assert (service.frozen, service.charged) == (12 * H, 0)
    service.until(BEGUN + 54 * MINUTE)
    assert service.frozen == 24 * H
    service.until(BEGUN + 60 * MINUTE)
    assert (service.frozen, service.charged) == (12 * H, 12 * H)


def test_what_cannot_be_frozen_is_owed_when_it_is_over_and_nothing_is_killed(
    service: Service,
) -> None:
    # 30 core-hours are two windows of 12; the third does not fit.
    service.until(BEGUN + 150 * MINUTE)
    assert (service.frozen, service.charged) == (0, 24 * H)
    assert service.ledger.books.debt(Account("nlp")) == 0
    service.uses = (replace(service.uses[0], ended=BEGUN + 127 * MINUTE),)
    service.until(BEGUN + 180 * MINUTE)
    # 7 minutes at 12 an hour; the bound is 5 % of 30.
    assert service.ledger.books.debt(Account("nlp")) == 12 * H * 7 // 60
    assert service.owed == {2}
    assert all(not isinstance(step, Stop) for step in service.steps())


def test_a_debt_beyond_its_bound_waits_and_what_runs_goes_on(service: Service) -> None:
    service.until(BEGUN + 181 * MINUTE)
    assert service.ledger.books.debt(Account("nlp")) == 0
    asked = [step for step in service.steps() if isinstance(step, Ask)]
    assert all(step.or_go_on for step in asked)
    # Raised, it is owed after all.
    service.ledger.grant("nlp", 300 * H, {"li.wei": 100}, grant="more")
    service.until(BEGUN + 182 * MINUTE)
    assert service.owed == {2}


def test_its_end_settles_the_window_and_gives_the_rest_back(service: Service) -> None:
    service.until(BEGUN + 56 * MINUTE)
    service.seen = replace(service.seen, is_going=True)
    service.follow(service.steps())
    assert service.charged == 0
    service.uses = (replace(service.uses[0], ended=BEGUN + 57 * MINUTE),)
    service.until(BEGUN + 58 * MINUTE)
    assert (service.frozen, service.charged) == (0, 12 * H * 57 // 60)
    assert service.steps() == (LetGo(),)


def test_one_that_never_ran_gives_all_back(service: Service) -> None:
    service.uses = ()
    service.seen = replace(service.seen, is_going=True)
    service.follow(service.steps())
    assert (service.frozen, service.charged) == (0, 0)


def test_what_the_platform_ended_is_given_back_window_by_window(service: Service) -> None:
    service.until(BEGUN + 90 * MINUTE)
    service.uses = (replace(service.uses[0], ended=BEGUN + 90 * MINUTE, reason="NodeFailures"),)
    service.seen = replace(service.seen, is_finished=True)
    service.until(BEGUN + 91 * MINUTE)
    # The hour before was used; the half one that was cut off is given back.
    assert (service.charged, service.ledger.lot().refunded) == (18 * H, 6 * H)


def test_one_that_was_stopped_and_is_let_in_again_is_stopped(service: Service) -> None:
    service.until(BEGUN + 10 * MINUTE)
    service.uses = (replace(service.uses[0], ended=BEGUN + 10 * MINUTE),)
    service.seen = replace(service.seen, is_active=False)
    service.follow(service.steps())
    assert service.frozen == 0
    assert service.steps() == ()
    service.seen = replace(service.seen, is_active=True)
    assert service.steps() == (Stop(),)
