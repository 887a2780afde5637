"""The example jobs on a whole lab: each is queued, admitted, placed, run and finished."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lab.report import Silence
from lab.walkthrough import EXAMPLES, Story, walk_through
from tallyard.cli.lab_summary import why_it_waits
from tallyard.cluster.timeline import Step, timeline
from tallyard.spec.model import Platform
from tests.running_lab import RunningLab


@pytest.fixture(scope="module")
def stories(full_lab: RunningLab) -> dict[str, Story]:
    kubectl = full_lab.folder.tools / "kubectl"
    told = walk_through(full_lab.folder, kubectl, Silence(), why_it_waits)
    return {Path(story.example).name: story for story in told}


def _steps(story: Story) -> dict[str, Step]:
    (workload,) = story.work.workloads
    return {step.name: step for step in timeline(workload, story.work.pods)}


def _nodes(story: Story) -> set[str]:
    return {pod["spec"]["nodeName"] for pod in story.work.pods}


def test_the_filler_takes_all_that_may_be_had_so_the_next_job_must_wait(
    platform: Platform,
) -> None:
    """16 of the tier's own and 8 borrowed; one card less, and train-waits would not wait."""
    fill, waits = (example.manifest["spec"] for example in EXAMPLES[:2])
    limits = platform.projects["nlp"].limits
    most = limits.cards["training"]["A800-SXM4-80GB"] + limits.borrow["training"]
    assert fill["parallelism"] * _cards(fill) == most
    assert 0 < _cards(waits) <= most
    of_fill, of_waits = (each["template"]["spec"]["nodeSelector"] for each in (fill, waits))
    assert of_fill == of_waits


def _cards(spec: Mapping[str, Any]) -> int:
    return int(spec["template"]["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"])


def test_every_example_has_its_story(stories: dict[str, Story]) -> None:
    assert tuple(stories) == tuple(example.file.name for example in EXAMPLES)
    assert all(story.is_over for story in stories.values())


@pytest.mark.parametrize("example", [e.file.name for e in EXAMPLES if e.run_seconds is not None])
def test_a_job_is_submitted_reserved_admitted_bound_run_and_finished_in_this_order(
    stories: dict[str, Story], example: str
) -> None:
    steps = _steps(stories[example])
    assert list(steps) == ["submitted", "reserved", "admitted", "bound", "running", "finished"]
    assert steps["finished"].note == "Succeeded"


def test_two_cards_of_one_job_are_on_one_host_of_the_model(stories: dict[str, Story]) -> None:
    nodes = _nodes(stories["train-2gpu.yaml"])
    assert len(nodes) == 1
    assert all(node.startswith("a100-") for node in nodes)


def test_a_job_that_finds_its_queue_full_says_why_and_runs_when_it_can(
    stories: dict[str, Story],
) -> None:
    waits, fills = _steps(stories["train-waits.yaml"]), _steps(stories["train-fill.yaml"])
    reason = stories["train-waits.yaml"].waited_for
    assert reason is not None
    assert "waits for 2 more A800-SXM4-80GB in queue nlp-training" in reason
    assert waits["reserved"].at >= fills["finished"].at
    assert waits["submitted"].at < fills["finished"].at


def test_a_job_that_filled_three_hosts_filled_them_whole(stories: dict[str, Story]) -> None:
    assert len(_nodes(stories["train-fill.yaml"])) == 3


def test_a_service_runs_on_inference_hosts_through_kueue(stories: dict[str, Story]) -> None:
    story = stories["serve-deployment.yaml"]
    assert len(story.work.workloads) == len(story.work.pods) == 2
    assert all(node.startswith("rtx-") for node in _nodes(story))


def test_a_domestic_card_and_a_cpu_host_are_found_by_their_queues(
    stories: dict[str, Story],
) -> None:
    assert _nodes(stories["domestic-job.yaml"]) == {"mlu-00"}
    assert all(node.startswith("cpu-") for node in _nodes(stories["cpu-job.yaml"]))


def test_nobody_is_evicted_when_pods_end_on_tainted_hosts(
    stories: dict[str, Story], full_lab: RunningLab
) -> None:
    """See catalog/feature_gates.py: with the gate's default, jobs that end count as failed."""
    reasons = {e["reason"] for e in full_lab.get("events", "-n", "nlp")["items"]}
    assert "Admitted" in reasons
    assert not {r for r in reasons if r.startswith("Evicted")}
    assert not any("Evicted" in _steps(s) for s in stories.values() if s.work.kind == "Job")


def test_a_second_walk_submits_nothing_and_tells_the_same(
    stories: dict[str, Story], full_lab: RunningLab
) -> None:
    kubectl = full_lab.folder.tools / "kubectl"
    again = walk_through(full_lab.folder, kubectl, Silence(), why_it_waits)
    for story in again:
        before = stories[Path(story.example).name]
        assert story.waited_for == before.waited_for
        assert [w["metadata"]["uid"] for w in story.work.workloads] == [
            w["metadata"]["uid"] for w in before.work.workloads
        ]
