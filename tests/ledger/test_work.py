"""What work asks of the ledger: the spec's rules, on books that answer."""

from __future__ import annotations

import pytest

from tallyard.ledger import work
from tallyard.ledger.accounts import Account
from tallyard.ledger.amounts import text
from tallyard.ledger.commands import Purpose, Settle
from tallyard.ledger.refusals import NotEnough, OverCap, Reason, Refused
from tallyard.ledger.work import Charge, Fault, Work
from tallyard.spec.model import Platform
from tests.ledger.ledgers import NOVEMBER, H, Ledger

HOUR, MINUTE = 3600, 60
TRAIN = Work("7d1f", "nlp", "li.wei", "training", "train-7")


def test_a_job_is_frozen_with_the_longest_wait_that_is_charged(
    ledger: Ledger, platform: Platform
) -> None:
    """One RTX-4090 for two hours, and the users' own number for a wait of five minutes at 16/h."""
    quote = work.quote_of(platform, "1 x RTX-4090", 12_000, 2 * HOUR)
    done = ledger.done(work.freeze_of(platform, TRAIN, quote))
    job, wait = (ledger.books.freezes[each] for each in (TRAIN.job, TRAIN.wait))
    assert (job.purpose, text(job.amount)) == (Purpose.JOB, "24.00")
    longest = platform.price.wait_seconds_max
    assert (wait.purpose, wait.amount) == (Purpose.WAIT, 12_000 * longest)
    assert done.command.key == "freeze/7d1f"
    dear = work.quote_of(platform, "1 x RTX-4090", 16_000, HOUR)
    assert text(work.wait_charge(dear, NOVEMBER, NOVEMBER + 5 * MINUTE)) == "1.33"


def test_a_wait_costs_no_more_than_was_frozen_and_never_less_than_nothing(
    platform: Platform,
) -> None:
    quote = work.quote_of(platform, "1 x RTX-4090", 12_000, HOUR)
    assert work.wait_charge(quote, NOVEMBER, NOVEMBER + 900 * HOUR) == quote.wait
    assert work.wait_charge(quote, NOVEMBER, NOVEMBER - HOUR) == 0


def test_the_cap_holds_for_what_is_longer_than_the_fast_lane(
    ledger: Ledger, platform: Platform
) -> None:
    limit = platform.freeze.fast_lane_seconds
    assert (platform.freeze.cap, limit) == (30, 15 * MINUTE)
    long = work.quote_of(platform, "1 x A100", 30_000, HOUR)
    assert isinstance(ledger.refused(work.freeze_of(platform, TRAIN, long)), OverCap)
    # The same rate for the fast lane's time, and the same wait: less, and beside the cap.
    ledger.freeze("other", 30 * H)
    short = work.quote_of(platform, "1 x A100", 30_000, limit)
    ledger.done(work.freeze_of(platform, TRAIN, short))
    one_more = work.quote_of(platform, "1 x A100", 30_000, limit + 1)
    next_one = Work("8e2a", "nlp", "li.wei", "training", "train-8")
    assert isinstance(ledger.refused(work.freeze_of(platform, next_one, one_more)), OverCap)


def test_the_next_window_is_frozen_before_this_one_ends(platform: Platform) -> None:
    assert platform.freeze.window_seconds == HOUR
    due = [
        work.windows_due(platform, NOVEMBER, NOVEMBER + after)
        for after in (-HOUR, 0, 53 * MINUTE, 54 * MINUTE, 113 * MINUTE, 114 * MINUTE)
    ]
    assert due == [1, 1, 1, 2, 2, 3]


def test_a_service_lives_by_windows_then_by_debt_and_holds_its_projects_new_work(
    ledger: Ledger, platform: Platform
) -> None:
    serve = Work("9c3b", "nlp", "chen.yu", "inference", "chat")
    for number in range(4):
        ledger.done(work.window_of(platform, serve, 12_000, number))
        ledger.settle(serve.window(number), 12 * H)
    # chen.yu's share of 50 has 2 left: the window of 12 does not fit, and the service runs on.
    refusal = ledger.refused(work.window_of(platform, serve, 12_000, 4))
    assert refusal == NotEnough(Account("nlp", "chen.yu"), 12 * H, 2 * H)
    # The spec lets a project owe 5 in 100 of its grants.
    assert platform.freeze.debt_max == 5
    most = work.debt_max(platform, ledger.books, "nlp", ledger.now)
    ledger.done(work.owe_of(serve, Charge(4, 5 * H), most))
    assert ledger.books.debt(Account("nlp")) == 5 * H
    more = work.owe_of(serve, Charge(5, 1), most)
    assert ledger.refused(more) == Refused(Reason.DEBT_LIMIT, "nlp", 5 * H + 1, 5 * H)
    short = work.quote_of(platform, "1 x RTX-4090", 12_000, MINUTE)
    assert ledger.refused(work.freeze_of(platform, TRAIN, short)) == Refused(
        Reason.IN_DEBT, "nlp", 5 * H
    )


@pytest.mark.parametrize(
    ("reason", "fault"),
    [
        ("Preempted", Fault.PLATFORM),
        ("NodeFailures", Fault.PLATFORM),
        ("PodsReadyTimeout", Fault.PLATFORM),
        ("DeactivatedDueToRequeuingLimitExceeded", Fault.PLATFORM),
        ("ClusterQueueStopped", Fault.PLATFORM),
        ("DisruptionTarget", Fault.PLATFORM),
        ("MaximumExecutionTimeExceeded", Fault.USER),
        ("DeactivatedDueToMaximumExecutionTimeExceeded", Fault.USER),
        ("WorkloadSliceReplaced", Fault.NOBODY),
        ("SomethingNew", None),
    ],
)
def test_what_the_platform_ended_is_given_back_and_nothing_else(
    ledger: Ledger, reason: str, fault: Fault | None
) -> None:
    assert work.fault_of(reason) is fault
    ledger.freeze(TRAIN.job, 24 * H)
    ledger.done(Settle(key="s", freeze=TRAIN.job, amount=20 * H))
    refund = work.refund_of(TRAIN.job, Charge(0, 8 * H), reason)
    assert (refund is not None) == (fault is Fault.PLATFORM)
    if refund:
        ledger.done(refund)
        assert ledger.lot().refunded == 8 * H
        assert refund.reason == reason


def test_an_attempt_that_cost_nothing_gives_nothing_back() -> None:
    assert work.refund_of(TRAIN.job, Charge(0, 0), "Preempted") is None
