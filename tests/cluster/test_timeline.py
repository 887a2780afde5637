"""The life of a workload in steps."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tallyard.cluster.timeline import timeline

DAY = "2026-12-01T08:00:"


def _true(kind: str, second: int, reason: str = "") -> dict[str, str]:
    return {
        "type": kind,
        "status": "True",
        "reason": reason,
        "lastTransitionTime": f"{DAY}{second:02}Z",
    }


def _workload(*conditions: dict[str, str]) -> dict[str, Any]:
    return {
        "metadata": {"name": "w", "creationTimestamp": f"{DAY}00Z"},
        "spec": {"queueName": "training"},
        "status": {"admission": {"clusterQueue": "nlp-training"}, "conditions": list(conditions)},
    }


def _pod(node: str, bound: int | None, running: int | None) -> dict[str, Any]:
    status: dict[str, Any] = {"conditions": []}
    if bound is not None:
        status["conditions"].append(_true("PodScheduled", bound))
    if running is not None:
        started = {"startedAt": f"{DAY}{running:02}Z"}
        status["containerStatuses"] = [{"state": {"running": started}}]
    return {
        "metadata": {"name": node},
        "spec": {"nodeName": node if bound else ""},
        "status": status,
    }


def _names(workload: dict[str, Any], *pods: dict[str, Any]) -> list[str]:
    return [step.name for step in timeline(workload, pods)]


def test_a_whole_life_from_submitted_to_finished_with_the_time_between() -> None:
    workload = _workload(
        _true("QuotaReserved", 4), _true("Admitted", 5), _true("Finished", 20, "Succeeded")
    )
    steps = timeline(workload, [_pod("a100-00", 6, 8)])
    assert [(step.name, step.since_previous, step.note) for step in steps] == [
        ("submitted", None, "training"),
        ("reserved", timedelta(seconds=4), "nlp-training"),
        ("admitted", timedelta(seconds=1), ""),
        ("bound", timedelta(seconds=1), "a100-00"),
        ("running", timedelta(seconds=2), ""),
        ("finished", timedelta(seconds=12), "Succeeded"),
    ]


def test_steps_of_one_second_stand_in_the_order_of_life() -> None:
    workload = _workload(_true("Admitted", 0), _true("QuotaReserved", 0))
    assert _names(workload, _pod("n", 0, 0))[:3] == ["submitted", "reserved", "admitted"]


def test_a_gang_is_bound_when_its_last_pod_is() -> None:
    workload = _workload(_true("QuotaReserved", 1), _true("Admitted", 1))
    steps = timeline(workload, [_pod("b", 9, 10), _pod("a", 3, 12)])
    assert [(s.name, s.at.second, s.note) for s in steps[3:]] == [
        ("bound", 9, "a, b"),
        ("running", 12, ""),
    ]


def test_a_gang_of_which_a_pod_has_no_node_is_not_bound() -> None:
    workload = _workload(_true("QuotaReserved", 1), _true("Admitted", 1))
    assert "bound" not in _names(workload, _pod("a", 3, 4), _pod("b", None, None))


def test_a_waiting_workload_has_only_been_submitted() -> None:
    waits = {"type": "QuotaReserved", "status": "False", "lastTransitionTime": f"{DAY}01Z"}
    assert _names(_workload(waits)) == ["submitted"]


def test_an_eviction_is_a_step_with_its_reason() -> None:
    steps = timeline(_workload(_true("Evicted", 30, "Preempted")), [])
    assert (steps[-1].name, steps[-1].note) == ("evicted", "Preempted")


def test_a_simulated_pod_without_container_states_runs_when_it_is_ready() -> None:
    pod = _pod("n", 2, None)
    pod["status"]["conditions"].append(_true("Ready", 3))
    assert _names(_workload(_true("QuotaReserved", 1)), pod)[-1] == "running"


def test_a_workload_that_was_never_stored_has_no_timeline() -> None:
    with pytest.raises(ValueError, match="never stored"):
        timeline({"metadata": {"name": "w"}, "spec": {}}, [])
