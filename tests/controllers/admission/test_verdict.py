"""What is done about a Workload, step by step, and after a crash at any of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from tallyard import labels
from tallyard.cluster.workloads import Check, Workload, read
from tallyard.controllers.admission.cost import Cost, NoHosts
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
from tallyard.ledger.commands import Freeze, GrantCluster, Reduce, Refund, Settle
from tallyard.ledger.records import FreezeRecord
from tallyard.ledger.sentences import Quote
from tallyard.ledger.uses import Use
from tallyard.spec.model import Platform
from tests.controllers.admission.workloads import workload
from tests.ledger.ledgers import DECEMBER, NOVEMBER, H, InMemory, Ledger

HOUR, MINUTE = 3600, 60
JOB, WAIT = "7d1f0c/job", "7d1f0c/wait"
FREEZES = JOB, WAIT
HELD, LET_IN = (labels.HOLD_FINALIZER,), (labels.SETTLE_FINALIZER,)
READY = {labels.CORE_HOURS_CHECK: Check("Ready", "")}


@dataclass
class Case:
    """One Workload beside real books."""

    platform: Platform
    seen: Workload
    ledger: Ledger
    quote: Quote | NoHosts
    given: Cost | None = None
    uses: tuple[Use, ...] = ()
    records: dict[str, FreezeRecord] = field(default_factory=dict)

    def steps(self) -> list[Step]:
        """Return what is to be done now."""
        found = {each: record for each in FREEZES if (record := self._record(each))}
        known = Known(self.seen, self.quote, self.given, found, self.uses)
        return list(steps(self.platform, known, self.ledger.now))

    def _record(self, freeze: str) -> FreezeRecord | None:
        if found := self.ledger.books.freezes.get(freeze):
            self.records[freeze] = replace_record(found)
        return self.records.get(freeze)

    def ask(self, step: Step) -> None:
        """Let the ledger do what a step asks; it must."""
        assert isinstance(step, Ask)
        for command in step.commands:
            self.ledger.done(command)
        for freeze in FREEZES:
            self._record(freeze)


def replace_record(record: FreezeRecord) -> FreezeRecord:
    """Return a copy, as a store would read it."""
    return FreezeRecord(**{name: getattr(record, name) for name in record.__struct_fields__})


@pytest.fixture
def case(platform: Platform) -> Case:
    """A new Workload of two hours at 12 an hour, and 100 core-hours."""
    ledger = Ledger(InMemory())
    ledger.grant_cluster(1000 * H)
    ledger.grant("nlp", 100 * H, {"li.wei": 100})
    quote = rules.quote_of(platform, "1 x RTX-4090", 12_000, 2 * HOUR)
    return Case(platform, read(_finalized()), ledger, quote)


def _finalized(**status: Any) -> dict[str, Any]:
    item = workload()
    item["metadata"]["finalizers"] = [labels.HOLD_FINALIZER]
    return {**item, "status": status}


def _at(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _frozen(case: Case) -> Case:
    case.ask(case.steps()[0])
    return case


def test_it_is_frozen_then_ready_then_let_in(case: Case) -> None:
    freeze, ready, let_in = case.steps()
    assert isinstance(freeze, Ask)
    (command,) = freeze.commands
    assert isinstance(command, Freeze)
    assert command.parts[0].amount == 24 * H
    assert (ready, let_in) == (Say(State.READY), LetIn())
    assert not freeze.or_stop


def test_after_a_crash_each_step_is_taken_up(case: Case) -> None:
    _frozen(case)
    assert case.steps() == [Say(State.READY), LetIn()]
    case.seen = replace(case.seen, checks=READY)
    assert case.steps() == [LetIn()]
    case.seen = replace(case.seen, is_active=True, finalizers=LET_IN)
    assert case.steps() == []


def test_a_check_that_kueue_overwrote_is_said_again_but_not_while_it_evicts(case: Case) -> None:
    _frozen(case)
    pending = {labels.CORE_HOURS_CHECK: Check("Pending", "")}
    active = replace(case.seen, is_active=True, finalizers=LET_IN, checks=pending)
    case.seen = active
    assert case.steps() == [Say(State.READY)]
    case.seen = replace(active, eviction="Preempted")
    assert case.steps() == []


def test_who_was_stopped_by_somebody_is_settled_and_never_let_in_again(case: Case) -> None:
    _frozen(case)
    case.seen = replace(case.seen, finalizers=LET_IN, checks=READY)
    (settle,) = case.steps()
    case.ask(settle)
    assert case.ledger.lot().frozen == 0
    assert case.steps() == []
    case.seen = replace(case.seen, is_active=True)
    assert case.steps() == [Stop()]


def test_what_fits_no_hosts_is_rejected_once_and_nothing_is_frozen(case: Case) -> None:
    case.quote = NoHosts("main", "training")
    assert case.steps() == [Say(State.REJECTED, case.quote)]
    rejected = {labels.CORE_HOURS_CHECK: Check("Rejected", "no hosts")}
    case.seen = replace(case.seen, checks=rejected)
    assert case.steps() == []


def test_one_that_came_past_the_policy_is_frozen_or_stopped(case: Case) -> None:
    case.seen = replace(case.seen, is_active=True)
    freeze, ready, let_in = case.steps()
    assert isinstance(freeze, Ask)
    assert freeze.or_stop
    # Active already, it gets what keeps it until its end is on record.
    assert (ready, let_in) == (Say(State.READY), LetIn())


def test_what_was_given_is_cheaper_and_the_rest_goes_back_at_once(case: Case) -> None:
    _frozen(case)
    case.seen = replace(case.seen, is_active=True, finalizers=LET_IN, checks=READY, has_quota=True)
    case.given = Cost("1 x cheaper", 9_000, {"main": 9_000})
    (lower,) = case.steps()
    case.ask(lower)
    assert isinstance(lower, Ask)
    assert lower.commands == (Reduce(key=f"reduce/{JOB}", freeze=JOB, amount=18 * H),)
    assert case.steps() == []
    # Dearer than what was frozen it cannot be: the dearest was; and nothing is frozen anew.
    case.given = Cost("1 x dearer", 99_000, {"main": 99_000})
    assert case.steps() == []


def test_a_wait_is_charged_when_it_is_over(case: Case) -> None:
    _frozen(case)
    made = case.records[WAIT].made
    case.seen = replace(
        case.seen,
        is_active=True,
        finalizers=LET_IN,
        checks=READY,
        has_quota=True,
        admitted=_at(made + 2 * MINUTE),
    )
    (wait,) = case.steps()
    case.ask(wait)
    assert case.ledger.lot().charged == 12_000 * 2 * MINUTE
    assert case.steps() == []


@pytest.mark.parametrize("is_going", [True, False])
def test_its_end_is_on_record_before_it_is_let_go(case: Case, *, is_going: bool) -> None:
    _frozen(case)
    case.seen = replace(
        case.seen,
        is_active=True,
        finalizers=LET_IN,
        checks=READY,
        is_going=is_going,
        is_finished=not is_going,
    )
    runs = Use("pod-1", "main", 0, 12_000, NOVEMBER)
    case.uses = (runs,)
    assert case.steps() == []
    case.uses = (replace(runs, ended=NOVEMBER + HOUR),)
    settle, let_go = case.steps()
    assert let_go == LetGo()
    case.ask(settle)
    lot = case.ledger.lot()
    # Of the wait that was never over nothing has passed on this clock.
    assert (lot.frozen, lot.charged) == (0, 12 * H)
    # After a crash before it was let go.
    assert case.steps() == [LetGo()]
    case.seen = replace(case.seen, finalizers=())
    assert case.steps() == []


def test_nothing_is_charged_above_what_was_frozen(case: Case) -> None:
    """Pods run on for their grace after the limit."""
    _frozen(case)
    case.seen = replace(case.seen, is_finished=True)
    case.uses = (Use("pod-1", "main", 0, 12_000, NOVEMBER, NOVEMBER + 2 * HOUR + 30),)
    case.ask(case.steps()[0])
    assert case.ledger.lot().charged == 24 * H


def test_what_the_platform_ended_is_given_back_with_the_settlement(case: Case) -> None:
    _frozen(case)
    case.seen = replace(case.seen, is_finished=True)
    half = NOVEMBER + HOUR // 2
    case.uses = (
        Use("pod-1", "main", 1, 12_000, NOVEMBER, half, "Preempted"),
        Use("pod-2", "main", 2, 12_000, half, NOVEMBER + HOUR),
    )
    settle = case.steps()[0]
    assert isinstance(settle, Ask)
    assert [type(command) for command in settle.commands] == [Settle, Settle, Refund]
    case.ask(settle)
    assert (case.ledger.lot().charged, case.ledger.lot().refunded) == (12 * H, 6 * H)


def test_one_that_is_deleted_before_anything_was_frozen_is_let_go(case: Case) -> None:
    case.seen = replace(case.seen, is_going=True)
    assert case.steps() == [LetGo()]


def test_a_new_period_while_it_waits_changes_nothing(case: Case) -> None:
    """The freeze keeps the grant that it was made from."""
    _frozen(case)
    case.ledger.now = DECEMBER
    case.ledger.done(
        GrantCluster(
            key="d", grant="2026-12", amount=H, starts=DECEMBER, expires=DECEMBER + NOVEMBER
        )
    )
    assert case.steps() == [Say(State.READY), LetIn()]
