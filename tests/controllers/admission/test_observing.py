"""What ran, look after look, with all that can happen between two of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tallyard.cluster.sights import Sight
from tallyard.cluster.workloads import Workload, read
from tallyard.controllers.admission.observing import Observed, Priced
from tallyard.ledger import uses
from tallyard.ledger.uses import Use
from tests.controllers.admission.workloads import workload

NOW = 1_793_600_000
RATE = 12_000
MADE = {"Deactivated": 1}


@pytest.fixture
def work() -> Workload:
    """A Workload that was let in."""
    return replace(read(workload()), evictions=MADE)


@pytest.fixture
def observed() -> Observed:
    """One that has looked ten seconds ago, when nothing ran."""
    return Observed(NOW - 10, {})


def _pod(**changes: Any) -> Sight:
    usual: dict[str, Any] = {
        "pod": "pod-1",
        "namespace": "nlp",
        "workload": "job-train-7-1a2b3",
        "project": "nlp",
        "user": "li.wei",
        "pod_set": "main",
        "runs": True,
        "began": NOW - 4,
        "ended": None,
        "is_disrupted": False,
    }
    return Sight(**usual | changes)


def _look(observed: Observed, work: Workload, *sights: Sight, at: int = NOW) -> list[Use]:
    found = observed.look([Priced(work, {"main": RATE})], sights, at)
    assert {uid for uid, _ in found} <= {work.uid}
    return [use for _, use in found]


def test_a_pod_that_runs_is_used_from_its_begin_to_its_end(
    observed: Observed, work: Workload
) -> None:
    assert _look(observed, work, _pod(runs=False, began=None)) == []
    assert _look(observed, work, _pod()) == [Use("pod-1", "main", 1, RATE, NOW - 4)]
    assert _look(observed, work, _pod(), at=NOW + 1) == []
    over = _pod(runs=False, ended=NOW + 2)
    assert _look(observed, work, over, at=NOW + 3) == [
        Use("pod-1", "main", 1, RATE, NOW - 4, NOW + 2)
    ]
    assert _look(observed, work, over, at=NOW + 4) == []
    assert _look(observed, work, at=NOW + 5) == []
    assert uses.amount(observed.uses(work.uid), NOW + 9) == 6 * RATE


def test_one_that_came_and_went_between_two_looks_ran_too(
    observed: Observed, work: Workload
) -> None:
    over = _pod(runs=False, began=NOW - 7, ended=NOW - 2)
    assert _look(observed, work, over) == [Use("pod-1", "main", 1, RATE, NOW - 7, NOW - 2)]


def test_one_that_never_ran_used_nothing(observed: Observed, work: Workload) -> None:
    assert _look(observed, work, _pod(runs=False, began=None, ended=NOW - 2)) == []


def test_one_that_is_gone_ran_as_long_as_we_know(observed: Observed, work: Workload) -> None:
    _look(observed, work, _pod())
    (use,) = _look(observed, work, at=NOW + 60)
    assert use.ended == NOW


def test_what_goes_on_after_a_time_without_a_look_was_there_all_the_time(work: Workload) -> None:
    before = Use("pod-1", "main", 1, RATE, NOW - 3600)
    observed = Observed(NOW - 600, {work.uid: [before]})
    (use,) = _look(observed, work, _pod())
    assert use == replace(before, gaps=((NOW - 600, NOW),))
    assert uses.amount([use], NOW) == 3600 * RATE
    assert _look(observed, work, _pod(), at=NOW + 1) == []


@pytest.mark.parametrize("is_seen_first", [True, False])
def test_an_eviction_ends_what_runs_whichever_is_seen_first(
    observed: Observed, work: Workload, *, is_seen_first: bool
) -> None:
    _look(observed, work, _pod())
    evicted = replace(work, evictions={**MADE, "Preempted": 1}, eviction="Preempted")
    over = _pod(runs=False, ended=NOW + 5)
    if is_seen_first:
        _look(observed, evicted, _pod(), at=NOW + 4)
        _look(observed, evicted, over, at=NOW + 6)
    else:
        _look(observed, work, over, at=NOW + 6)
        _look(observed, evicted, over, at=NOW + 7)
    (use,) = observed.uses(work.uid)
    assert (use.ended, use.reason) == (NOW + 5, "Preempted")
    # The next attempt is another one.
    _look(observed, evicted, _pod(pod="pod-2", began=NOW + 8), at=NOW + 9)
    assert [u.attempt for u in observed.uses(work.uid)] == [1, 2]
    assert observed.uses(work.uid)[1].reason == ""


def test_what_had_ended_before_was_not_ended_by_the_eviction(
    observed: Observed, work: Workload
) -> None:
    _look(observed, work, _pod(), _pod(pod="pod-2"))
    _look(observed, work, _pod(), _pod(pod="pod-2", runs=False, ended=NOW + 5), at=NOW + 6)
    _look(observed, work, _pod(), at=NOW + 60)
    evicted = replace(work, evictions={**MADE, "Preempted": 1}, eviction="Preempted")
    _look(observed, evicted, at=NOW + 61)
    assert {u.pod: u.reason for u in observed.uses(work.uid)} == {"pod-1": "Preempted", "pod-2": ""}


def test_an_eviction_while_nobody_looked_is_found_by_what_kueue_counts(work: Workload) -> None:
    observed = Observed(NOW - 600, {work.uid: [Use("pod-1", "main", 1, RATE, NOW - 3600)]})
    again = replace(work, evictions={**MADE, "NodeFailures": 1})
    _look(observed, again)
    (use,) = observed.uses(work.uid)
    assert (use.ended, use.reason) == (NOW - 600, "NodeFailures")


def test_where_it_could_have_been_either_nobody_is_blamed(work: Workload) -> None:
    observed = Observed(NOW - 600, {work.uid: [Use("pod-1", "main", 1, RATE, NOW - 3600)]})
    _look(observed, replace(work, evictions={**MADE, "NodeFailures": 1, "Preempted": 1}))
    (use,) = observed.uses(work.uid)
    assert use.reason == ""


def test_a_pod_that_the_scheduler_killed_was_not_the_users_failure(
    observed: Observed, work: Workload
) -> None:
    _look(observed, work, _pod())
    (use,) = _look(observed, work, _pod(runs=False, ended=NOW + 1, is_disrupted=True), at=NOW + 2)
    assert use.reason == "DisruptionTarget"


def test_pods_of_nobody_we_know_wait_until_we_do(observed: Observed, work: Workload) -> None:
    assert _look(observed, work, _pod(workload="another"), _pod(namespace="vision")) == []
    assert observed.uses(work.uid) == ()


def test_settled_work_is_forgotten(observed: Observed, work: Workload) -> None:
    _look(observed, work, _pod())
    observed.forget(work.uid)
    assert observed.uses(work.uid) == ()
