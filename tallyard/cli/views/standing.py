"""Where a workload stands, and Kueue's own message that says why. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from tallyard import labels
from tallyard.cluster.conditions import Object, became_true, condition, created, is_true

# Kueue puts a workload that was preempted while borrowing just behind the one that took its place.
_JUST_BEHIND = timedelta(milliseconds=1)


class State(StrEnum):
    """The states of work, in the order of its life."""

    WAITING = "waiting"
    ADMITTED = "admitted"
    RUNNING = "running"
    EVICTED = "evicted"
    FINISHED = "finished"
    FAILED = "failed"


def state_of(workload: Object) -> State:
    """Return the state as far as Kueue knows it; whether pods run is the pods' to say."""
    if is_true(workload, "Finished"):
        end = condition(workload, "Finished") or {}
        return State.FAILED if end.get("reason") == "Failed" else State.FINISHED
    if is_true(workload, "Admitted"):
        return State.ADMITTED
    # Waiting for another turn after an eviction is waiting, and so is being held until its cost is
    # frozen; switched off for good is not.
    is_off = is_true(workload, "Evicted") and workload["spec"].get("active") is False
    if is_off and not _is_held(workload):
        return State.EVICTED
    return State.WAITING


def waits(workload: Object) -> bool:
    """Return whether the workload stands in a queue."""
    return state_of(workload) is State.WAITING


def message_of(workload: Object) -> str:
    """Return Kueue's message about why the workload is where it is; empty where all is well."""
    state = state_of(workload)
    if state in {State.ADMITTED, State.FINISHED}:
        return ""
    if state in {State.FAILED, State.EVICTED}:
        return _message(workload, "Finished" if state is State.FAILED else "Evicted")
    if _is_held(workload):
        return _pending_checks(workload, is_told=True)
    if workload["spec"].get("active") is False:
        return "The workload is deactivated"
    if is_true(workload, "QuotaReserved"):
        return _pending_checks(workload) or _message(workload, "Admitted")
    return _message(workload, "QuotaReserved")


def turn_of(workload: Object) -> tuple[int, datetime]:
    """Return what Kueue sorts by: the highest priority first, then the earliest time."""
    return -int(workload["spec"].get("priority") or 0), _queued_at(workload)


def _queued_at(workload: Object) -> datetime:
    made = created(workload)
    if made is None:
        raise ValueError("the workload has no creation time: it was never stored")
    evicted = condition(workload, "Evicted") or {}
    evicted_at = became_true(workload, "Evicted")
    if evicted_at and evicted.get("reason") in {"PodsReadyTimeout", "AdmissionCheck"}:
        return evicted_at
    preempted = condition(workload, "Preempted") or {}
    preempted_at = became_true(workload, "Preempted")
    if preempted_at and preempted.get("reason") == "InCohortReclaimWhileBorrowing":
        return preempted_at + _JUST_BEHIND
    return made


def _message(workload: Object, kind: str) -> str:
    entry = condition(workload, kind)
    return str(entry.get("message", "")) if entry else ""


def _is_held(workload: Object) -> bool:
    """Return whether it has not been let in yet: its cost is to be frozen first."""
    return labels.HOLD_FINALIZER in (workload["metadata"].get("finalizers") or ())


def _pending_checks(workload: Object, *, is_told: bool = False) -> str:
    """Return the checks that are not ready, with what they say; with `is_told` those that say it."""
    checks = (workload.get("status") or {}).get("admissionChecks") or ()
    pending = (check for check in checks if check.get("state") != "Ready")
    return "; ".join(
        f"{check['name']}: {check['message']}" if check.get("message") else check["name"]
        for check in pending
        if check.get("message") or not is_told
    )
