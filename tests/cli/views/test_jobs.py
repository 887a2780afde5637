"""What `tally jobs` knows: state, nodes, time and reason of each piece of work."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from tallyard.cli.views.jobs import JobRow, job_rows, one, pods_of
from tallyard.cli.views.standing import State
from tallyard.cluster.jobs import Submitted
from tests.cli.conftest import NOW


def _row(submitted: Submitted, name: str) -> JobRow:
    return next(row for row in job_rows(submitted, NOW) if row.name == name)


@pytest.mark.parametrize(
    ("name", "state", "cards", "nodes"),
    [
        ("train-fill", State.RUNNING, "24 x A800-SXM4-80GB", ("a800-00", "a800-01")),
        ("train-waits", State.WAITING, "2 x A800-SXM4-80GB", ()),
        ("stopped", State.EVICTED, "1 x nvidia.com/gpu", ()),
        ("prep", State.FINISHED, "4.5 vCPU", ()),
        ("serve", State.RUNNING, "2 x RTX-4090", ("rtx-00",)),
        ("no-queue", State.WAITING, "", ()),
    ],
)
def test_each_piece_of_work_has_its_state_its_cards_and_its_nodes(
    submitted: Submitted, name: str, state: State, cards: str, nodes: tuple[str, ...]
) -> None:
    row = _row(submitted, name)
    assert (row.state, row.cards("en"), row.nodes) == (state, cards, nodes)


def test_a_deployment_is_one_row_though_kueue_made_a_workload_for_each_pod(
    submitted: Submitted,
) -> None:
    row = _row(submitted, "serve")
    assert row.kind == "Deployment"
    assert row.user == "chen.yu"
    assert row.reason.startswith("1 of 2 wait: there is no queue inference in this project")


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_job_whose_pods_have_ended_is_not_shown_as_just_admitted(
    submitted: Submitted, phase: str
) -> None:
    """Its pods are through, and Kueue has not yet said that the workload is finished."""
    fill = one(submitted, "train-fill")
    assert fill is not None
    ended = tuple({**pod, "status": {**pod["status"], "phase": phase}} for pod in fill.pods)
    (row,) = job_rows(replace(submitted, work=(replace(fill, pods=ended),)), NOW)
    assert row.state is State.RUNNING


def test_time_is_how_long_it_runs_or_how_long_it_waits(submitted: Submitted) -> None:
    assert _row(submitted, "train-fill").time == timedelta(seconds=62)
    assert _row(submitted, "train-waits").time == timedelta(seconds=60)
    # Nobody knows from the API when the pods of a job ran that are gone.
    assert _row(submitted, "prep").time is None


def test_a_job_stopped_at_its_limit_says_so(submitted: Submitted) -> None:
    assert _row(submitted, "stopped").reason == "was stopped; has reached its time limit"


def test_a_job_without_a_queue_says_that_kueue_does_not_know_it(submitted: Submitted) -> None:
    assert "names no queue" in _row(submitted, "no-queue").reason


def test_the_oldest_work_stands_first(submitted: Submitted) -> None:
    assert [row.name for row in job_rows(submitted, NOW)] == [
        *("stopped", "prep", "serve", "train-fill", "too-large", "train-waits", "no-queue")
    ]


def test_one_finds_a_job_by_name_and_nothing_by_a_wrong_one(submitted: Submitted) -> None:
    found = one(submitted, "serve")
    assert found is not None
    assert found.kind == "Deployment"
    assert one(submitted, "serv") is None


def test_a_workload_of_a_deployment_has_its_own_pod_and_that_of_a_job_has_all(
    submitted: Submitted,
) -> None:
    serve, fill = one(submitted, "serve"), one(submitted, "train-fill")
    assert serve is not None
    assert fill is not None
    assert [len(pods_of(serve, workload)) for workload in serve.workloads] == [1, 1]
    assert len(pods_of(fill, fill.workloads[0])) == 2
