"""What is read before a platform ends, and the one thing that is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tallyard import labels
from tallyard.cluster.client import connect
from tallyard.cluster.drain import Standing, hold, look
from tests.cluster.conftest import ApiServer, refusal

KUEUE = f"/apis/{labels.KUEUE_API}"
WANTED = {("Namespace", "nlp"), ("ResourceFlavor", "new-1"), ("Topology", "cluster-1")}


OURS = {labels.MANAGED_BY: labels.FIELD_MANAGER}
SPEC = f"/api/v1/namespaces/{labels.SYSTEM_NAMESPACE}/configmaps/{labels.SPEC_CONFIG}"


def _named(*names: str, **spec: Any) -> list[dict[str, Any]]:
    return [{"metadata": {"name": name, "labels": OURS}, "spec": spec} for name in names]


def _workload(namespace: str, queue: str = "", **conditions: str) -> dict[str, Any]:
    found = [{"type": kind, "status": status} for kind, status in conditions.items()]
    admission = {"admission": {"clusterQueue": queue}} if queue else {}
    return {
        "metadata": {"name": "w", "namespace": namespace},
        "status": {"conditions": found, **admission},
    }


@pytest.fixture
def answers(api_server: ApiServer) -> dict[str, Any]:
    """A platform with a queue that takes work, one that is held, and something old."""
    api_server.answers |= {
        f"{KUEUE}/clusterqueues": [
            *_named("cv-training", stopPolicy="HoldAndDrain"),
            *_named("nlp-training", stopPolicy="Hold"),
            *_named("nlp-shared"),
        ],
        f"{KUEUE}/workloads": [
            _workload("nlp", QuotaReserved="True", Admitted="True"),
            _workload("nlp", QuotaReserved="True"),
            _workload("nlp", QuotaReserved="False"),
            _workload("cv"),
            _workload("cv", QuotaReserved="True", Finished="True"),
        ],
        "/api/v1/namespaces": _named("nlp", "old", labels.SYSTEM_NAMESPACE),
        f"{KUEUE}/resourceflavors": _named("new-1", "old-1"),
        f"{KUEUE}/topologies": _named("cluster-1"),
    }
    return api_server.answers


type Look = Callable[[], Standing]


@pytest.fixture(autouse=True)
def no_spec(api_server: ApiServer) -> None:
    """Nothing of ours is deployed but what a test says."""
    api_server.answers[SPEC] = refusal(404, "not found", name=labels.SPEC_CONFIG, kind="configmaps")


@pytest.fixture
def seen(api_server: ApiServer, kubeconfig: Callable[..., Path]) -> Look:
    def look_() -> Standing:
        with connect(path=str(kubeconfig(api_server.url))) as connection:
            return look(connection, WANTED)

    return look_


def test_work_that_holds_quota_is_told_from_what_waits_and_what_is_over(
    answers: dict[str, Any], seen: Look
) -> None:
    assert answers
    standing = seen()
    assert standing.open == ("nlp-training", "nlp-shared")
    assert standing.holding == {"nlp": 2}
    assert standing.waiting == {"cv": 1, "nlp": 1}
    assert not standing.is_drained


def test_only_what_the_spec_does_not_ask_for_is_a_leftover(
    answers: dict[str, Any], seen: Look
) -> None:
    assert seen().removal == (
        "kubectl delete namespace old",
        "kubectl delete resourceflavor old-1",
    )
    answers["/api/v1/namespaces"] = _named("nlp")
    answers[f"{KUEUE}/resourceflavors"] = []
    assert seen().removal == ()


def test_queues_of_somebody_else_are_named_and_their_work_is_not_waited_for(
    answers: dict[str, Any], seen: Look
) -> None:
    answers[f"{KUEUE}/clusterqueues"].append({"metadata": {"name": "theirs"}, "spec": {}})
    answers[f"{KUEUE}/workloads"].append(_workload("away", "theirs", QuotaReserved="True"))
    standing = seen()
    assert standing.foreign == ("theirs",)
    assert "theirs" not in (*standing.queues, *standing.open)
    assert standing.holding == {"nlp": 2}


def test_the_deployed_spec_is_read(answers: dict[str, Any], seen: Look) -> None:
    assert seen().spec is None
    answers[SPEC] = {"data": {"prod.yaml": "base: platform.yaml"}}
    assert seen().spec == {"prod.yaml": "base: platform.yaml"}


def test_only_objects_of_ours_are_asked_for(
    answers: dict[str, Any], api_server: ApiServer, seen: Look
) -> None:
    assert answers
    seen()
    asked = {path: query for _, path, query in api_server.asked}
    ours = f"{labels.MANAGED_BY}={labels.FIELD_MANAGER}"
    for kind in ("resourceflavors", "topologies"):
        assert asked[f"{KUEUE}/{kind}"]["labelSelector"] == [ours]
    assert asked["/api/v1/namespaces"]["labelSelector"] == [ours]


def test_a_cluster_without_kueue_has_nothing_that_could_run(
    api_server: ApiServer, seen: Look
) -> None:
    api_server.answers["/api/v1/namespaces"] = []
    standing = seen()
    assert standing == Standing((), (), {}, {}, ())
    assert standing.is_drained


def test_a_queue_is_held_by_one_field_and_another_manager_than_pulumis(
    api_server: ApiServer, kubeconfig: Callable[..., Path]
) -> None:
    with connect(path=str(kubeconfig(api_server.url))) as connection:
        hold(connection, "nlp-training")
    ((method, path, query),) = api_server.asked
    assert (method, path) == ("PATCH", f"{KUEUE}/clusterqueues/nlp-training")
    assert query["fieldManager"] == [labels.DRAIN_MANAGER]
    assert query["force"] == ["true"]
    assert labels.DRAIN_MANAGER != labels.FIELD_MANAGER
    assert api_server.sent[0]["spec"] == {"stopPolicy": "HoldAndDrain"}


def test_a_dry_run_of_it_keeps_nothing(
    api_server: ApiServer, kubeconfig: Callable[..., Path]
) -> None:
    with connect(path=str(kubeconfig(api_server.url))) as connection:
        hold(connection, "nlp-training", is_dry=True)
    ((method, path, query),) = api_server.asked
    assert (method, path) == ("PATCH", f"{KUEUE}/clusterqueues/nlp-training")
    assert query["dryRun"] == ["All"]
