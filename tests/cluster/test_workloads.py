"""A Workload of Kueue's as the ledger reads it."""

from __future__ import annotations

import pytest

from tallyard import labels
from tallyard.cluster.workloads import Check, read
from tests.controllers.admission.workloads import pod_set, reserved, workload


def test_a_new_one_says_whose_it_is_and_what_it_asks() -> None:
    found = read(workload(pod_set(count=2, gpu="1", cpu="4", memory="1Gi")))
    assert (found.project, found.user, found.queue) == ("nlp", "li.wei", "training")
    assert (found.owner, found.limit, found.version) == (("Job", "train-7"), 7200, "17")
    told = (found.is_active, found.is_going, found.has_quota, found.admitted, found.is_finished)
    assert not any(told)
    (pods,) = found.pod_sets
    assert (pods.count, pods.given, pods.pods) == (2, None, 2)
    assert pods.requests == {"nvidia.com/gpu": 1, "cpu": 4000, "memory": 2**30}


def test_partial_admission_gives_fewer_pods_on_certain_hosts() -> None:
    given = {"name": "main", "count": 4, "flavors": {"nvidia.com/gpu": "training-a100-1"}}
    (pods,) = read(reserved(workload(pod_set(count=8, gpu="1")), given)).pod_sets
    assert (pods.count, pods.given, pods.pods) == (8, 4, 4)
    assert pods.flavors == {"nvidia.com/gpu": "training-a100-1"}


def test_the_checks_and_why_it_was_evicted() -> None:
    item = workload()
    item["status"] = {
        "admissionChecks": [{"name": "core-hours", "state": "Pending", "message": "not enough"}],
        "conditions": [{"type": "Evicted", "status": "True", "reason": "Preempted"}],
    }
    found = read(item)
    assert found.checks == {"core-hours": Check("Pending", "not enough")}
    assert found.eviction == "Preempted"
    item["status"]["conditions"][0]["status"] = "False"
    assert read(item).eviction == ""


def test_one_that_is_deleted_waits_for_its_finalizers() -> None:
    item = workload()
    item["metadata"] |= {"deletionTimestamp": "2026-11-02T09:00:00Z", "finalizers": ["a/b"]}
    found = read(item)
    assert found.is_going
    assert found.finalizers == ("a/b",)


def test_what_nobody_stamped_is_nobodys() -> None:
    item = workload()
    item["metadata"]["labels"] = None
    item["spec"].pop("active")
    found = read(item)
    assert (found.project, found.user, found.is_active) == ("", "", True)


@pytest.mark.parametrize(
    ("finalizers", "was_active", "is_kept"),
    [
        ([], False, False),
        (["kueue.x-k8s.io/resource-in-use"], False, False),
        ([labels.HOLD_FINALIZER], False, True),
        (["kueue.x-k8s.io/resource-in-use", labels.SETTLE_FINALIZER], True, True),
    ],
)
def test_one_that_was_let_in_once_is_told_from_one_that_never_was(
    finalizers: list[str],
    was_active: bool,  # noqa: FBT001
    is_kept: bool,  # noqa: FBT001
) -> None:
    item = workload()
    item["metadata"]["finalizers"] = finalizers
    found = read(item)
    assert (found.was_active, found.is_kept) == (was_active, is_kept)


def test_evictions_are_counted_by_reason_as_a_condition_names_it() -> None:
    item = workload()
    evictions = (("Deactivated", "", 2), ("Deactivated", "MaximumExecutionTimeExceeded", 1))
    each = ({"reason": r, "underlyingCause": c, "count": n} for r, c, n in evictions)
    item["status"] = {"schedulingStats": {"evictions": [*each]}}
    found = read(item)
    assert found.evictions == {
        "Deactivated": 2,
        "DeactivatedDueToMaximumExecutionTimeExceeded": 1,
    }
    assert found.attempt == 3
