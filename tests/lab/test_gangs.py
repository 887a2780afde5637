"""A gang runs whole or not at all, and what cannot start gives its cards back.

On a platform of a rack with sixteen cards and one with eight, with times of seconds where the
shipped spec has an hour or a week.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from lab.toolchain.ensure import Toolchain
from tallyard import labels
from tests.lab import small_platform, work
from tests.running_lab import RunningLab

# Long enough for pods that can start to do so on a machine with much else to do, and for
# what is between two turns to be seen.
START_SECONDS = 40
REQUEUE_SECONDS = 20
KEPT_SECONDS = 15

PLATFORM = """
apiVersion: tallyard.dev/v1
kind: Platform
metadata: {name: gangs}
accelerators:
  A100-SXM4-40GB: {vendor: nvidia, memory: 40Gi, rate: 30, origin: measured}
topology: [block, rack, host]
priorities:
  - {name: training, value: 10000}
  - {name: elastic, value: 100, preemptible: true}
pools:
  training: {models: [A100-SXM4-40GB], priority: training}
  elastic: {borrows-from: training, cpu: true, priority: elastic, termination-grace: 10s}
defaults: {per-card: {cpu: 4, memory: 4Gi}, ephemeral-storage: 20Gi}
tiers:
  gold: {weight: 1, cards: {training: {A100-SXM4-40GB: 24}}, core-hours: 300000/month, max-time: 72h}
projects:
  nlp: {tier: gold, default-user: ann, users: {ann: {}}}
"""

OVERLAY = f"""
base: platform.yaml
gangs: {{start-within: {START_SECONDS}s, requeues: 1, requeue-after: {REQUEUE_SECONDS}s}}
retention: {{finished: {KEPT_SECONDS}s, stopped: {KEPT_SECONDS}s}}
nodes:
  - {{hosts: "a100-[00-01]", pool: training, model: A100-SXM4-40GB, cards: 8, cpu: 128, memory: 1Ti, block: b0, rack: r0}}
  - {{hosts: a100-02, pool: training, model: A100-SXM4-40GB, cards: 8, cpu: 128, memory: 1Ti, block: b0, rack: r1}}
  - {{hosts: cpu-00, pool: cpu, cpu: 64, memory: 256Gi, block: b0, rack: r1}}
"""

IN_ONE_RACK = {labels.REQUIRED_TOPOLOGY: labels.NODE_RACK}
QUEUE = "nlp-training"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, toolchain: Toolchain) -> Iterator[RunningLab]:
    folder = tmp_path_factory.mktemp("gangs")
    with small_platform.running(folder, "gangs", PLATFORM, OVERLAY, toolchain) as up:
        yield up


def _gang(name: str, pods: int, **rest: Any) -> dict[str, Any]:
    return work.job(name, "training", pods=pods, namespace="nlp", **rest)


def test_a_gang_that_does_not_fit_runs_no_pod_and_holds_no_quota_until_it_fits_whole(
    lab: RunningLab,
) -> None:
    """16 pods of a card each in one rack: the queue has 20 cards left, the rack 12."""
    small, gang = _gang("small", 1, cards=4), _gang("gang", 16, annotations=IN_ONE_RACK)
    try:
        with work.cordoned(lab, "a100-02"):
            work.submit(lab, small, user="ann")
            work.wait(lambda: bool(work.hosts_of(lab, "small", "nlp")))
        work.submit(lab, gang, user="ann")
        work.wait(lambda: bool(_pending(lab, "gang")))
        assert "allows to fit only 12 out of 16 pod(s)" in _pending(lab, "gang")
        assert work.stays(lambda: not work.pods_of(lab, "gang", "nlp"), 5)
        assert work.reserved(lab, QUEUE) == 4

        lab.kubectl("delete", "job", "small", "-n", "nlp")
        work.wait(lambda: len(work.running(lab, "gang", "nlp")) == 16)
        assert work.reserved(lab, QUEUE) == 16
        hosts = work.hosts_of(lab, "gang", "nlp")
        assert {host: hosts.count(host) for host in hosts} == {"a100-00": 8, "a100-01": 8}
    finally:
        work.remove(lab, small, gang)


def test_a_gang_that_never_starts_gives_its_cards_back_is_tried_again_and_then_removed(
    lab: RunningLab,
) -> None:
    """Its image takes ten minutes, and work may take 40 s to start and has one more turn."""
    gang = _gang("slow", 16, annotations={work.START_DELAY: "10m"})
    work.submit(lab, gang, user="ann")
    try:
        work.wait(lambda: work.reserved(lab, QUEUE) == 16)
        work.wait(lambda: work.is_true(_record(lab), "Evicted"), START_SECONDS + 15)
        evicted = work.condition(_record(lab), "Evicted")
        assert evicted["reason"] == "PodsReadyTimeout"
        work.wait(lambda: work.reserved(lab, QUEUE) == 0, REQUEUE_SECONDS)

        work.wait(lambda: work.reserved(lab, QUEUE) == 16, REQUEUE_SECONDS + 20)
        record = _record(lab)
        assert record["status"]["requeueState"]["count"] == 1
        waited = _since(work.condition(record, "QuotaReserved")) - _since(evicted)
        assert waited.total_seconds() >= REQUEUE_SECONDS

        work.wait(lambda: _record(lab)["spec"]["active"] is False, START_SECONDS + 15)
        work.wait(lambda: work.reserved(lab, QUEUE) == 0)
        reason = work.condition(_record(lab), "Evicted")["reason"]
        assert reason == "DeactivatedDueToRequeuingLimitExceeded"
        assert not work.pods_of(lab, "slow", "nlp")
        # The job itself goes too; it would be suspended for ever.
        assert "slow" in _jobs(lab)
        work.wait(lambda: "slow" not in _jobs(lab), KEPT_SECONDS + 20)
        work.wait(lambda: not _record(lab))
    finally:
        work.remove(lab, gang)


def test_a_gang_that_takes_its_time_to_start_holds_nobody_else_up(lab: RunningLab) -> None:
    slow = _gang("slow", 8, annotations={work.START_DELAY: "10m"})
    quick = _gang("quick", 8)
    work.submit(lab, slow, user="ann")
    try:
        work.wait(lambda: work.reserved(lab, QUEUE) == 8)
        work.submit(lab, quick, user="ann")
        work.wait(lambda: len(work.running(lab, "quick", "nlp")) == 8, START_SECONDS)
        assert not work.running(lab, "slow", "nlp")
        assert not work.condition(work.workload(lab, "slow", "nlp"), "Evicted")
    finally:
        work.remove(lab, slow, quick)


def test_a_job_that_reaches_its_time_limit_is_removed_after_the_time_it_is_kept(
    lab: RunningLab,
) -> None:
    over = _gang("over", 1, max_seconds=5)
    work.submit(lab, over, user="ann")
    try:
        work.wait(lambda: work.is_true(work.workload(lab, "over", "nlp"), "Evicted"))
        told = work.condition(work.workload(lab, "over", "nlp"), "Evicted")
        assert told["reason"] == "DeactivatedDueToMaximumExecutionTimeExceeded"
        assert work.stays(lambda: "over" in _jobs(lab), KEPT_SECONDS / 2)
        work.wait(lambda: "over" not in _jobs(lab), KEPT_SECONDS + 15)
    finally:
        work.remove(lab, over)


def test_a_job_that_ended_by_itself_is_kept_a_while_and_removed_with_its_pods_and_record(
    lab: RunningLab,
) -> None:
    done = _gang("done", 1, run="1s")
    del done["spec"]["backoffLimit"]
    work.submit(lab, done, user="ann")
    try:
        work.wait(lambda: work.is_true(work.workload(lab, "done", "nlp"), "Finished"))
        assert work.stays(lambda: "done" in _jobs(lab), KEPT_SECONDS / 2)
        work.wait(lambda: "done" not in _jobs(lab), KEPT_SECONDS + 15)
        work.wait(lambda: not work.pods_of(lab, "done", "nlp"))
        work.wait(lambda: not work.workload(lab, "done", "nlp"))
    finally:
        work.remove(lab, done)


def _pending(lab: RunningLab, name: str) -> str:
    told = work.condition(work.workload(lab, name, "nlp"), "QuotaReserved")
    return str(told.get("message", "")) if told.get("status") == "False" else ""


def _record(lab: RunningLab) -> dict[str, Any]:
    return work.workload(lab, "slow", "nlp")


def _since(condition: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(condition["lastTransitionTime"])


def _jobs(lab: RunningLab) -> set[str]:
    return {item["metadata"]["name"] for item in lab.get("jobs", "-n", "nlp")["items"]}
