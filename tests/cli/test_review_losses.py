"""Whom a change takes something from: which work has to do with which loss."""

from __future__ import annotations

import pytest

from tallyard.cli.review_losses import Loss, affected
from tallyard.cli.views.asks import Ask
from tallyard.cli.views.jobs import JobRow
from tallyard.cli.views.standing import State


def row(
    state: State = State.RUNNING, model: str | None = "A100", nodes: tuple[str, ...] = ("a0",)
) -> JobRow:
    return JobRow(
        name="j",
        kind="Job",
        project="nlp",
        project_key="language",
        user="li.wei",
        queue="training",
        asks=(Ask(2, model, "nvidia.com/gpu", 0),),
        state=state,
        nodes=nodes,
        time=None,
        reason="",
    )


@pytest.mark.parametrize(
    "loss",
    [
        Loss("x"),
        Loss("x", project="nlp"),
        Loss("x", pool="training", model="A100"),
        Loss("x", user="li.wei"),
        Loss("x", hosts=frozenset({"a0", "a1"})),
    ],
)
def test_a_loss_concerns_work_that_it_fits(loss: Loss) -> None:
    assert loss.concerns(row())


@pytest.mark.parametrize(
    "loss",
    [
        Loss("x", project="vision"),
        # The key is what people say; the loss is of the id.
        Loss("x", project="language"),
        Loss("x", pool="inference"),
        Loss("x", model="RTX"),
        Loss("x", user="chen.yu"),
        Loss("x", hosts=frozenset({"a1"})),
        Loss("x", is_of_waiting=True),
    ],
)
def test_a_loss_of_others_does_not(loss: Loss) -> None:
    assert not loss.concerns(row())


@pytest.mark.parametrize("state", [State.FINISHED, State.FAILED, State.EVICTED])
def test_work_that_has_ended_loses_nothing(state: State) -> None:
    assert not Loss("x").concerns(row(state))


def test_work_that_names_no_cards_may_be_given_any() -> None:
    assert Loss("x", model="RTX").concerns(row(model=None))


def test_each_loss_is_told_once_and_work_without_one_is_left_out() -> None:
    found = affected((Loss("a"), Loss("a", pool="training"), Loss("b")), (row(),))
    assert [each.losses for each in found] == [("a", "b")]
    assert affected((Loss("a", pool="other"),), (row(),)) == ()
