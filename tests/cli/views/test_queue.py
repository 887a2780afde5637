"""What `tally queue` knows: quotas, who waits, in which order, why."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from tallyard.cli.views.queue import QueueView, queue_view
from tallyard.cluster.kueue import Queues
from tests.cli.conftest import NOW


def _view(queues: Queues, lang: str = "en") -> QueueView:
    return queue_view(queues, NOW, lang)


def _quota(view: QueueView, queue: str, model: str) -> tuple[int, int, int, int | None]:
    row = next(row for row in view.queues if row.name == queue)
    quota = next(q for q in row.quotas if q.model == model)
    return quota.used, quota.nominal, quota.borrowed, quota.borrow_max


def test_a_quota_counts_cards_by_model_with_what_is_borrowed(queues: Queues) -> None:
    view = _view(queues)
    assert _quota(view, "training", "A800-SXM4-80GB") == (24, 16, 8, 8)
    assert _quota(view, "training", "A100-SXM4-40GB") == (0, 16, 0, 8)


def test_a_domestic_flavor_shows_its_own_resource_and_not_the_other_vendors(queues: Queues) -> None:
    row = next(row for row in _view(queues).queues if row.name == "domestic")
    assert [(q.model, q.resource, q.nominal) for q in row.quotas] == [
        ("BI-V150", "iluvatar.ai/gpu", 4),
        ("MLU370-X8", "cambricon.com/mlu", 4),
    ]


def test_the_cpu_hosts_count_vcpu_and_a_missing_limit_is_no_limit(queues: Queues) -> None:
    view = _view(queues)
    assert _quota(view, "elastic", "cpu") == (4500, 0, 4500, None)
    # Nothing of its own on cards, yet the model is told: an elastic queue borrows them.
    assert _quota(view, "elastic", "A100-SXM4-40GB") == (0, 0, 0, None)


def test_a_queue_that_kueue_holds_is_not_active(queues: Queues) -> None:
    assert {row.name: row.active for row in _view(queues).queues} == {
        "domestic": False,
        "elastic": True,
        "training": True,
    }


def _held(queues: Queues, policy: str) -> Queues:
    """Return the queues as they are after `tally drain`, or another hold."""
    name = "nlp-training"
    queue = queues.cluster_queues[name]
    held = {**queue, "spec": {**queue["spec"], "stopPolicy": policy}}
    refused = {
        "type": "QuotaReserved",
        "status": "False",
        "message": f"ClusterQueue {name} is inactive",
    }
    workloads = tuple(
        {**w, "status": {"conditions": [refused]}}
        if w["metadata"]["name"].startswith("job-train-waits")
        else w
        for w in queues.workloads
    )
    return replace(
        queues, cluster_queues={**queues.cluster_queues, name: held}, workloads=workloads
    )


@pytest.mark.parametrize(
    ("policy", "lang", "reason"),
    [
        (
            "HoldAndDrain",
            "en",
            "the queue is held by an administrator (drained): it waits until the queue is opened again",
        ),
        (
            "Hold",
            "en",
            "the queue is held by an administrator: it waits until the queue is opened again",
        ),
        ("HoldAndDrain", "zh", "队列已被管理员暂停（已停空）：待队列重新开放后继续"),
        ("None", "en", "the queue nlp-training is not ready: tell your administrator"),
    ],
)
def test_a_job_in_a_queue_that_somebody_holds_is_told_so(
    queues: Queues, policy: str, lang: str, reason: str
) -> None:
    view = _view(_held(queues, policy), lang)
    assert next(row.reason for row in view.waiting if row.name == "train-waits") == reason
    assert {row.name for row in view.queues if row.held} == (
        set() if policy == "None" else {"training"}
    )


def test_the_waiting_stand_in_kueues_order_with_their_places(queues: Queues) -> None:
    """too-large came first and has the lower priority; serve waits in another queue."""
    places = [(row.queue, row.place, row.name) for row in _view(queues).waiting]
    assert places == [
        # There is no such queue, so there is no place in it.
        ("inference", None, "serve-5f6d7-bbbbb"),
        ("training", 1, "train-waits"),
        ("training", 2, "too-large"),
    ]


def test_what_is_admitted_finished_or_switched_off_does_not_wait(queues: Queues) -> None:
    names = {row.name for row in _view(queues).waiting}
    assert names.isdisjoint({"train-fill", "prep", "stopped"})


def test_a_waiting_job_says_what_it_asks_for_since_when_and_why(queues: Queues) -> None:
    row = next(row for row in _view(queues).waiting if row.name == "train-waits")
    assert row.ask.text("en") == "2 x A800-SXM4-80GB"
    assert row.waited == timedelta(seconds=60)
    assert (row.user, row.project) == ("li.wei", "nlp")
    assert row.reason == (
        "waits for 2 more A800-SXM4-80GB in queue nlp-training: "
        "24 in use, the quota of 16 and 8 borrowed; A100-SXM4-40GB has 16 free, at 30 instead of "
        "54 core-hours a card and hour: name it by nodeSelector gpu.model"
    )


def test_the_reason_speaks_chinese(queues: Queues) -> None:
    row = next(row for row in _view(queues, "zh").waiting if row.name == "train-waits")
    assert row.reason == (
        "等待队列 nlp-training 再有 2 张 A800-SXM4-80GB：已用 24（配额 16，借用 8）；"
        "A100-SXM4-40GB 有 16 张空闲，每卡时 30 核时而不是 54 核时："
        "可用 nodeSelector gpu.model 指定"
    )


def test_without_the_right_to_read_quotas_the_queues_are_still_listed(queues: Queues) -> None:
    """A user who may list LocalQueues and nothing cluster-wide."""
    view = _view(Queues(queues.local_queues, {}, {}, queues.workloads))
    assert [row.name for row in view.queues] == ["domestic", "elastic", "training"]
    assert all(row.quotas == () for row in view.queues)
    waits = next(row for row in view.waiting if row.name == "train-waits")
    # The flavor's name is all that is known of the model then.
    assert "2 more training-a800-sxm4-80gb-4d5e6f" in waits.reason


def test_without_the_flavors_a_quota_goes_by_the_flavors_name(queues: Queues) -> None:
    view = _view(Queues(queues.local_queues, queues.cluster_queues, {}, ()))
    assert _quota(view, "training", "training-a800-sxm4-80gb-4d5e6f") == (24, 16, 8, 8)
    assert _quota(view, "elastic", "cpu") == (4500, 0, 4500, None)
