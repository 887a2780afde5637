"""When pods ran: what the kubelet says, within what we saw ourselves."""

from __future__ import annotations

import pytest

from tallyard.ledger import uses
from tallyard.ledger.uses import Seen, Use

NOW = 1_793_600_000
HOUR, MINUTE = 3600, 60
RATE, OF_DRIVER = 12_000, 2_000
FREEZE = "7d1f0c/job"
SEEN = Seen(live=NOW - 10, at=NOW)
# Some seconds more: a kubelet tells what it did a little later.
EARLIEST = NOW - 20


@pytest.mark.parametrize(
    ("said", "began"),
    [
        (NOW - 4, NOW - 4),
        (None, NOW),
        # A clock that is wrong is not believed beyond what we saw: at NOW - 10 nothing ran.
        (NOW - HOUR, EARLIEST),
        (NOW + HOUR, NOW),
    ],
)
def test_a_kubelet_is_believed_within_what_we_saw(said: int | None, began: int) -> None:
    assert SEEN.within(said) == began


@pytest.mark.parametrize(
    ("said", "end"),
    [(NOW - 4, NOW - 4), (None, NOW), (NOW - HOUR, EARLIEST), (NOW + HOUR, NOW)],
)
def test_a_use_ends_when_the_kubelet_says_within_what_we_saw(said: int | None, end: int) -> None:
    found = uses.ended(Use("pod-1", "main", 0, RATE, began=NOW - HOUR), said, "Preempted", SEEN)
    assert (found.ended, found.reason) == (end, "Preempted")


def test_a_pod_that_went_while_nobody_looked_ran_as_long_as_we_know() -> None:
    assert uses.gone(Use("pod-1", "main", 0, RATE, began=NOW - HOUR), "", SEEN).ended == NOW - 10


def test_no_clock_makes_a_use_of_less_than_nothing() -> None:
    use, back = Use("pod-1", "main", 0, RATE, began=NOW), Seen(NOW - HOUR, NOW - HOUR)
    assert uses.gone(use, "", back).ended == NOW
    assert uses.ended(use, None, "", back).ended == NOW


def test_a_time_in_which_nobody_looked_is_charged_and_told() -> None:
    use = uses.missed(Use("pod-1", "main", 0, RATE, began=NOW - HOUR), Seen(NOW - 600, NOW))
    assert use.gaps == ((NOW - 600, NOW),)
    assert uses.amount([use], NOW) == 12_000 * HOUR


def test_the_pods_of_all_sets_and_attempts_are_added_up() -> None:
    found = [
        Use("a", "main", 0, RATE, NOW, NOW + HOUR, "Preempted"),
        Use("b", "driver", 0, OF_DRIVER, NOW, NOW + HOUR, "Preempted"),
        Use("c", "main", 1, RATE, NOW + 2 * HOUR),
    ]
    assert uses.amount(found, NOW + 3 * HOUR) == (12_000 + 2_000 + 12_000) * HOUR
    assert uses.amount(found, NOW) == (12_000 + 2_000) * HOUR


def test_each_attempt_that_the_platform_ended_is_given_back_once() -> None:
    found = [
        Use("a", "main", 0, RATE, NOW, NOW + HOUR, "Preempted"),
        Use("b", "main", 0, RATE, NOW, NOW + HOUR, "Preempted"),
        Use("c", "main", 1, RATE, NOW, NOW + HOUR, "MaximumExecutionTimeExceeded"),
        Use("d", "main", 2, RATE, NOW, NOW + HOUR, "NodeFailures"),
        Use("e", "main", 3, RATE, NOW, NOW + HOUR),
    ]
    given = list(uses.refunds(found, FREEZE, 10**12))
    assert [(r.key, r.amount, r.reason) for r in given] == [
        (f"refund/{FREEZE}/0", 2 * 12_000 * HOUR, "Preempted"),
        (f"refund/{FREEZE}/2", 12_000 * HOUR, "NodeFailures"),
    ]
    # No more than was charged: what ran beyond the freeze was not.
    assert sum(r.amount for r in uses.refunds(found, FREEZE, 12_000 * MINUTE)) == (12_000 * MINUTE)
