"""Where a workload stands, and whose turn is first."""

from __future__ import annotations

from typing import Any

import pytest

from tallyard import labels
from tallyard.cli.views.standing import State, message_of, state_of, turn_of, waits


def _workload(
    *conditions: tuple[str, str, str], active: bool = True, second: int = 0, priority: int = 0
) -> dict[str, Any]:
    return {
        "metadata": {"name": "w", "creationTimestamp": f"2026-12-01T08:00:{second:02}Z"},
        "spec": {"active": active, "priority": priority},
        "status": {
            "conditions": [
                {
                    "type": kind,
                    "status": status,
                    "reason": reason,
                    "message": f"{kind} {reason}",
                    "lastTransitionTime": "2026-12-01T08:00:30Z",
                }
                for kind, status, reason in conditions
            ]
        },
    }


WAITING = ("QuotaReserved", "False", "Pending")
RESERVED = ("QuotaReserved", "True", "QuotaReserved")
ADMITTED = ("Admitted", "True", "Admitted")


@pytest.mark.parametrize(
    ("conditions", "active", "state"),
    [
        ((), True, State.WAITING),
        ((WAITING,), True, State.WAITING),
        ((RESERVED,), True, State.WAITING),
        ((RESERVED, ADMITTED), True, State.ADMITTED),
        ((RESERVED, ADMITTED, ("Finished", "True", "Succeeded")), True, State.FINISHED),
        ((RESERVED, ADMITTED, ("Finished", "True", "Failed")), True, State.FAILED),
        ((WAITING, ("Evicted", "True", "Preempted")), True, State.WAITING),
        ((WAITING, ("Evicted", "True", "Deactivated")), False, State.EVICTED),
        ((WAITING,), False, State.WAITING),
    ],
)
def test_the_conditions_decide_the_state(
    conditions: tuple[tuple[str, str, str], ...], *, active: bool, state: State
) -> None:
    workload = _workload(*conditions, active=active)
    assert state_of(workload) is state
    assert waits(workload) is (state is State.WAITING)


def test_a_reserved_workload_names_the_check_that_it_waits_for() -> None:
    workload = _workload(RESERVED)
    workload["status"]["admissionChecks"] = [
        {"name": "ready-one", "state": "Ready", "message": ""},
        {"name": "core-hours", "state": "Pending", "message": "insufficient core-hours"},
    ]
    assert message_of(workload) == "core-hours: insufficient core-hours"


@pytest.mark.parametrize(
    ("told", "message"), [("insufficient", "core-hours: insufficient"), ("", "")]
)
def test_one_that_is_held_until_its_cost_is_frozen_waits(told: str, message: str) -> None:
    """Kueue calls it deactivated, and evicts it as it is made."""
    workload = _workload(("Evicted", "True", "Deactivated"), active=False)
    workload["metadata"]["finalizers"] = [labels.HOLD_FINALIZER]
    check = {"name": labels.CORE_HOURS_CHECK, "state": "Pending", "message": told}
    workload["status"]["admissionChecks"] = [check]
    assert state_of(workload) is State.WAITING
    assert message_of(workload) == message
    # Let in, and stopped by somebody since.
    workload["metadata"]["finalizers"] = [labels.SETTLE_FINALIZER]
    assert state_of(workload) is State.EVICTED


def test_what_runs_well_has_no_message() -> None:
    assert message_of(_workload(RESERVED, ADMITTED)) == ""
    assert message_of(_workload(WAITING)) == "QuotaReserved Pending"


def test_the_higher_priority_is_first_and_then_the_earlier_one() -> None:
    early, late = _workload(second=1), _workload(second=2)
    urgent = _workload(second=3, priority=10)
    assert sorted((late, early, urgent), key=turn_of) == [urgent, early, late]


@pytest.mark.parametrize("reason", ["PodsReadyTimeout", "AdmissionCheck"])
def test_one_that_failed_to_start_goes_to_the_end_of_the_line(reason: str) -> None:
    """Kueue counts it from its eviction at second 30."""
    again = _workload(("Evicted", "True", reason), second=1)
    later = _workload(second=20)
    assert turn_of(later) < turn_of(again)


def test_one_that_was_preempted_keeps_its_place() -> None:
    preempted = _workload(("Evicted", "True", "Preempted"), second=1)
    assert turn_of(preempted) < turn_of(_workload(second=20))
