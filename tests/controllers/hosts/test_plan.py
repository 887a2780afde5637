"""What is written for a host: no more than has changed, and only on the version that was judged."""

from __future__ import annotations

from typing import Any

import pytest

from tallyard import labels
from tallyard.controllers.hosts.plan import Action, plan_for
from tallyard.controllers.hosts.reasons import Cause, Reason
from tallyard.controllers.hosts.verdict import State, Verdict

OURS = {"key": labels.UNVERIFIED_TAINT, "effect": labels.NO_SCHEDULE}
POOL = {"key": labels.POOL_TAINT, "value": "training", "effect": labels.NO_SCHEDULE}
REASON = Reason(Cause.LABEL_MISSING, "gpu.model", wanted="A100")
HELD = Verdict(State.HELD, (REASON,))
RELEASED = Verdict(State.RELEASED)


def _node(*taints: dict[str, str], why: str | None = None) -> dict[str, Any]:
    annotations = {"corp.example/note": "x"} | ({labels.HELD: why} if why else {})
    return {
        "metadata": {
            "name": "a100-00",
            "uid": "u1",
            "resourceVersion": "7",
            "labels": {labels.NODE_POOL: "training"},
            "annotations": annotations,
        },
        "spec": {"taints": list(taints)} if taints else {},
    }


def test_a_host_that_begins_to_differ_is_closed_with_the_reason() -> None:
    plan = plan_for(_node(POOL), HELD)
    assert plan is not None
    assert plan.action is Action.HOLD
    assert plan.change == {
        "metadata": {"resourceVersion": "7", "annotations": {labels.HELD: REASON.text()}},
        "spec": {"taints": [POOL, OURS]},
    }
    assert plan.told.reason == "HostHeld"
    assert plan.told.message == f"kept from new work: {REASON.text()}"


def test_a_host_that_is_right_is_opened_and_the_reason_goes() -> None:
    plan = plan_for(_node(POOL, OURS, why="something"), RELEASED)
    assert plan is not None
    assert plan.action is Action.RELEASE
    assert plan.change["metadata"]["annotations"] == {labels.HELD: None}
    assert plan.change["spec"] == {"taints": [POOL]}
    assert plan.told.message == "open for work of pool training: it is as in the spec"


def test_the_last_taint_is_removed_with_the_list() -> None:
    plan = plan_for(_node(OURS), RELEASED)
    assert plan is not None
    assert plan.change["spec"] == {"taints": None}


def test_another_reason_alone_leaves_the_taints_alone() -> None:
    plan = plan_for(_node(POOL, OURS, why="another"), HELD)
    assert plan is not None
    assert plan.action is Action.EXPLAIN
    assert "spec" not in plan.change


def test_a_host_that_joins_closed_is_given_its_reason() -> None:
    plan = plan_for(_node(POOL, OURS), HELD)
    assert plan is not None
    assert plan.action is Action.EXPLAIN


@pytest.mark.parametrize(
    ("node", "verdict"),
    [
        (_node(POOL), RELEASED),
        (_node(), RELEASED),
        (_node(POOL, OURS, why=REASON.text()), HELD),
        (_node(OURS), Verdict(State.IGNORED)),
    ],
)
def test_what_is_as_it_should_be_is_not_written(node: dict[str, Any], verdict: Verdict) -> None:
    assert plan_for(node, verdict) is None


def test_a_foreign_host_is_told_as_one() -> None:
    verdict = Verdict(State.FOREIGN, (Reason(Cause.NOT_IN_SPEC, found="8 nvidia.com/gpu"),))
    plan = plan_for(_node(), verdict)
    assert plan is not None
    assert plan.told.reason == "HostNotInSpec"
    assert "not in the spec" in plan.told.message


def test_a_reason_of_any_length_can_be_written() -> None:
    reasons = tuple(Reason(Cause.LABEL_DIFFERS, "k", "x" * 63, "y" * 63) for _ in range(500))
    plan = plan_for(_node(), Verdict(State.HELD, reasons))
    assert plan is not None
    assert len(plan.change["metadata"]["annotations"][labels.HELD]) == 4000
