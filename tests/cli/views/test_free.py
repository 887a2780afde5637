"""What a queue could be given now: the sums of Kueue's own scheduler."""

from __future__ import annotations

from typing import Any

from tallyard.cli.views.free import Tree

A800, GPU = "training-a800", "nvidia.com/gpu"


def _groups(nominal: str, **limits: str) -> list[dict[str, Any]]:
    resource = {"name": GPU, "nominalQuota": nominal, **limits}
    return [{"flavors": [{"name": A800, "resources": [resource]}]}]


def _queue(nominal: str, used: str, cohort: str = "training", **limits: str) -> dict[str, Any]:
    reserved = {"name": A800, "resources": [{"name": GPU, "total": used}]}
    spec = {"cohortName": cohort, "resourceGroups": _groups(nominal, **limits)}
    return {"spec": spec, "status": {"flavorsReservation": [reserved]}}


def _cohort(nominal: str = "0", parent: str | None = None) -> dict[str, Any]:
    return {"spec": {"parentName": parent, "resourceGroups": _groups(nominal)}}


def _free(queues: dict[str, Any], cohorts: dict[str, Any] | None, queue: str) -> int | None:
    return Tree(queues, cohorts).free(queue, A800, GPU)


COHORTS = {"cluster": {"spec": {}}, "training": _cohort("16", "cluster")}


def test_what_is_left_of_its_own_and_what_may_be_borrowed_is_free() -> None:
    """16 of its own, 4 of them used, and 8 may be borrowed; the cohort has 16 more."""
    queues = {"nlp": _queue("16", "4", borrowingLimit="8")}
    assert _free(queues, COHORTS, "nlp") == 20


def test_no_more_is_free_than_the_cohort_has_left() -> None:
    """Elastic has 26 of the 32, so 6 are left for anybody, the owner of 16 included."""
    queues = {"nlp": _queue("16", "0", borrowingLimit="8"), "elastic": _queue("0", "26")}
    assert _free(queues, COHORTS, "nlp") == 6
    assert _free(queues, COHORTS, "elastic") == 6


def test_a_queue_that_only_borrows_has_all_that_nobody_uses() -> None:
    queues = {"nlp": _queue("16", "10"), "elastic": _queue("0", "2")}
    assert _free(queues, COHORTS, "elastic") == 20


def test_what_a_queue_does_not_lend_is_its_own_alone() -> None:
    """16 of its own, of which it lends 4: the others see 4 and the cohort's 16."""
    queues = {"nlp": _queue("16", "3", lendingLimit="4"), "elastic": _queue("0", "0")}
    assert _free(queues, COHORTS, "elastic") == 20
    assert _free(queues, COHORTS, "nlp") == 9 + 20
    queues["nlp"] = _queue("16", "14", lendingLimit="4")
    assert _free(queues, COHORTS, "elastic") == 18


def test_a_cohort_above_lends_to_those_below_it() -> None:
    cohorts = {"cluster": _cohort("5"), "training": _cohort("0", "cluster")}
    queues = {"nlp": _queue("2", "0"), "other": _queue("1", "3", cohort="cluster")}
    assert _free(queues, cohorts, "nlp") == 5


def test_more_in_use_than_there_is_is_nothing_free_and_no_debt() -> None:
    queues = {"nlp": _queue("2", "9", borrowingLimit="0")}
    assert _free(queues, {"training": _cohort("0")}, "nlp") == 0


def test_where_the_cohorts_may_not_be_read_it_is_not_known() -> None:
    queues = {"nlp": _queue("16", "4"), "alone": _queue("3", "1", cohort="")}
    assert _free(queues, None, "nlp") is None
    assert _free(queues, None, "alone") == 2
    assert _free(queues, {}, "gone") is None


def test_cohorts_in_a_circle_are_no_reason_to_go_round() -> None:
    cohorts = {"a": _cohort("1", "b"), "b": _cohort("1", "a")}
    assert _free({"q": _queue("1", "0", cohort="a")}, cohorts, "q") is not None
