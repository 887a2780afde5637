"""Who waits is told which other model of the queue is free, and what it would cost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tallyard import labels
from tallyard.cli import documents
from tallyard.cli.views.jobs import job_rows
from tallyard.cli.views.others import OtherModel, rates_of
from tallyard.cli.views.queue import WaitingRow, queue_view
from tallyard.cluster.jobs import Submitted
from tallyard.cluster.kueue import Queues
from tests.cli.conftest import NOW


def _waits(queues: Queues, lang: str = "en") -> WaitingRow:
    rows = queue_view(queues, NOW, lang).waiting
    return next(row for row in rows if row.name == "train-waits")


def _with(queues: Queues, **changes: Any) -> Queues:
    """Let the waiting job ask for A100 by another selector, message or number of cards."""
    (waiting,) = (
        w for w in queues.workloads if w["metadata"]["name"].startswith("job-train-waits")
    )
    template = {
        "spec": {
            "nodeSelector": changes.get("selector", {labels.GPU_MODEL: "A800-SXM4-80GB"}),
            "containers": [
                {
                    "name": "main",
                    "resources": {"limits": {"nvidia.com/gpu": changes.get("cards", 2)}},
                }
            ],
        }
    }
    (told,) = waiting["status"]["conditions"]
    told = {**told, "message": changes.get("message", told["message"])}
    changed = {
        **waiting,
        "spec": {
            **waiting["spec"],
            "podSets": [{"name": "main", "count": 1, "template": template}],
        },
        "status": {"conditions": [told]},
    }
    others = (w for w in queues.workloads if w is not waiting)
    return replace(queues, workloads=(*others, changed))


def test_a_job_whose_model_is_full_is_told_of_the_other_one_and_its_price(queues: Queues) -> None:
    assert _waits(queues).reason.endswith(
        "; A100-SXM4-40GB has 16 free, at 30 instead of 54 core-hours a card and hour: "
        "name it by nodeSelector gpu.model"
    )


def test_the_way_out_is_told_in_chinese_too(queues: Queues) -> None:
    assert _waits(queues, "zh").reason.endswith(
        "；A100-SXM4-40GB 有 16 张空闲，每卡时 30 核时而不是 54 核时：可用 nodeSelector gpu.model 指定"  # noqa: RUF001
    )


def test_programs_read_the_other_models_as_fields(queues: Queues, submitted: Submitted) -> None:
    other = {
        "model": "A100-SXM4-40GB",
        "free": 16,
        "rateMilliCoreHours": 30_000,
        "askedRateMilliCoreHours": 54_000,
    }
    waiting = documents.queue_list(queue_view(queues, NOW))["waiting"]
    found = {row["name"]: row["otherModels"] for row in waiting}
    assert found["train-waits"] == [other]
    jobs = documents.job_list(job_rows(submitted, NOW))["items"]
    by_name = {row["name"]: row["otherModels"] for row in jobs}
    assert by_name["train-waits"] == [other]
    # What runs needs no other.
    assert by_name["train-fill"] == []


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"cards": 17}, id="more-than-the-other-has-free"),
        pytest.param({"selector": {}}, id="a-job-that-takes-any-model"),
        pytest.param({"cards": 0}, id="a-job-without-cards"),
        pytest.param(
            {"message": "ClusterQueue nlp-training is stopped"}, id="a-queue-that-is-stopped"
        ),
    ],
)
def test_where_another_model_would_not_help_none_is_told(
    queues: Queues, changes: dict[str, Any]
) -> None:
    assert _waits(_with(queues)).others
    assert _waits(_with(queues, **changes)).others == ()


def test_where_a_flavor_says_no_rate_the_model_is_told_without_a_price(queues: Queues) -> None:
    bare = {name: {**flavor, "metadata": {"name": name}} for name, flavor in queues.flavors.items()}
    row = _waits(replace(queues, flavors=bare))
    assert row.reason.endswith("; A100-SXM4-40GB has 16 free: name it by nodeSelector gpu.model")
    assert [other.rate_milli for other in row.others] == [None]


def test_where_the_cohorts_may_not_be_read_nothing_is_called_free(queues: Queues) -> None:
    in_cohort = {
        name: {**queue, "spec": {**queue["spec"], "cohortName": "training"}}
        for name, queue in queues.cluster_queues.items()
    }
    assert _waits(replace(queues, cluster_queues=in_cohort, cohorts=None)).others == ()


def test_a_rate_is_read_in_thousandths() -> None:
    def flavor(name: str, rate: str | None) -> dict[str, Any]:
        own = {labels.RATE: rate} if rate else {}
        return {"metadata": {"name": name, "annotations": own}, "spec": {}}

    flavors = {
        name: flavor(name, rate) for name, rate in {"a": "54", "b": "1.5", "c": None}.items()
    }
    assert rates_of(flavors) == {"a": 54_000, "b": 1_500}


@pytest.mark.parametrize(
    ("lang", "told"),
    [
        (
            "en",
            (
                "B has 3 free, at 3 instead of 1.5 core-hours a slice and hour: "
                "name it by nodeSelector gpu.model"
            ),
        ),
        ("zh", "B 有 3 个空闲，每切片时 3 核时而不是 1.5 核时：可用 nodeSelector gpu.model 指定"),  # noqa: RUF001
    ],
)
def test_slices_are_told_as_slices(lang: str, told: str) -> None:
    other = OtherModel("B", 3, rate_milli=3_000, asked_rate_milli=1_500, is_slice=True)
    assert other.text(lang) == told
