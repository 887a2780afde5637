"""A pod as it is seen: pulling its image, running, over."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from tallyard import labels
from tallyard.cluster.sights import Sight, sight_of

NOW = 1_793_600_000


def _text(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")


def _pod(phase: str, *states: dict[str, Any], disrupted: bool = False) -> dict[str, Any]:
    conditions = [{"type": "DisruptionTarget", "status": "True"}] if disrupted else []
    return {
        "metadata": {
            "uid": "pod-1",
            "namespace": "nlp",
            "annotations": {labels.WORKLOAD: "job-train-7"},
            "labels": {labels.POD_SET: "main", labels.PROJECT: "nlp", labels.USER: "li.wei"},
        },
        "status": {
            "phase": phase,
            "containerStatuses": [{"state": state} for state in states],
            "conditions": conditions,
        },
    }


def _sight(**changes: Any) -> Sight:
    usual: dict[str, Any] = {
        "pod": "pod-1",
        "namespace": "nlp",
        "workload": "job-train-7",
        "project": "nlp",
        "user": "li.wei",
        "pod_set": "main",
        "runs": True,
        "began": None,
        "ended": None,
        "is_disrupted": False,
    }
    return Sight(**usual | changes)


def test_a_pod_that_pulls_its_image_runs_nothing() -> None:
    found = sight_of(_pod("Pending", {"waiting": {"reason": "ContainerCreating"}}))
    assert found == _sight(runs=False)


def test_a_pod_runs_from_its_first_container_to_its_last() -> None:
    running = _pod(
        "Running",
        {"running": {"startedAt": _text(NOW + 5)}},
        {"terminated": {"startedAt": _text(NOW), "finishedAt": _text(NOW + 3)}},
    )
    assert sight_of(running) == _sight(began=NOW)
    over = _pod(
        "Succeeded",
        {"terminated": {"startedAt": _text(NOW), "finishedAt": _text(NOW + 9)}},
        {"terminated": {"startedAt": _text(NOW), "finishedAt": _text(NOW + 7)}},
    )
    assert sight_of(over) == _sight(runs=False, began=NOW, ended=NOW + 9)


def test_a_pod_without_container_states_is_known_by_its_phase() -> None:
    """As simulated ones are."""
    assert sight_of(_pod("Running")) == _sight()


def test_a_pod_that_is_of_no_workload_is_nobodys() -> None:
    pod = _pod("Running")
    del pod["metadata"]["annotations"]
    assert sight_of(pod) is None


def test_a_pod_of_a_group_is_known_before_kueue_lets_it_run() -> None:
    pod = _pod("Pending")
    group = {labels.POD_GROUP: "statefulset-notebook", labels.PROJECT: "nlp", labels.USER: "li.wei"}
    pod["metadata"] |= {"annotations": None, "labels": group}
    assert sight_of(pod) == _sight(workload="statefulset-notebook", pod_set="", runs=False)


def test_a_pod_that_was_drained_did_not_end_itself() -> None:
    found = sight_of(_pod("Failed", disrupted=True))
    assert found == _sight(runs=False, is_disrupted=True)
