"""What a step writes into the cluster; each write names the version that it was decided on."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from tallyard import labels
from tallyard.cluster.client import Connection
from tallyard.cluster.kinds import AdmissionCheckStatus, Workload, WorkloadStatus
from tallyard.controllers.admission.steps import LetGo, LetIn, State, Stop

type Item = Mapping[str, Any]

# Of the fields that are ours in a Workload's status.
MANAGER = f"{labels.FIELD_MANAGER}-core-hours"


def say(connection: Connection, item: Item, state: State, text: str, at: datetime) -> Item:
    """Write the check of a Workload and return it as it is then.

    Forced: Kueue writes all entries of the list by its own name, and the next word is ours.

    Raises:
        ClusterError: Also where it is another version by now.
    """
    entry = {
        "name": labels.CORE_HOURS_CHECK,
        "state": state.value,
        "message": text,
        "lastTransitionTime": _moment(at),
    }
    change = {
        "apiVersion": labels.KUEUE_API,
        "kind": "Workload",
        "metadata": _version(item),
        "status": {"admissionChecks": [entry]},
    }
    return connection.apply_status(WorkloadStatus, change, MANAGER)


def change(connection: Connection, item: Item, step: LetIn | Stop | LetGo) -> Item:
    """Let a Workload in, stop it or let it go, and return it as it is then.

    Raises:
        ClusterError: Also where it is another version by now.
    """
    meta = item["metadata"]
    fields: dict[str, Any] = {"metadata": {"resourceVersion": meta["resourceVersion"]}}
    others = [each for each in meta.get("finalizers") or () if each not in labels.FINALIZERS]
    if isinstance(step, LetGo):
        fields["metadata"]["finalizers"] = others
    elif isinstance(step, LetIn):
        # Both at once: what tells later that it was let in cannot be missing.
        fields["metadata"]["finalizers"] = [*others, labels.SETTLE_FINALIZER]
        fields["spec"] = {"active": True}
    else:
        fields["spec"] = {"active": False}
    return connection.merge(Workload, str(meta["name"]), fields, str(meta["namespace"]))


def activate_check(connection: Connection, at: datetime) -> None:
    """Tell Kueue that somebody answers the check; without that it holds every queue that has it.

    Raises:
        ClusterError: There is no such check, or the server cannot be asked.
    """
    active = {
        "type": "Active",
        "status": "True",
        "reason": "Answered",
        "message": "core-hours are frozen before work is let in",
        "lastTransitionTime": _moment(at),
    }
    change = {
        "apiVersion": labels.KUEUE_API,
        "kind": "AdmissionCheck",
        "metadata": {"name": labels.CORE_HOURS_CHECK},
        "status": {"conditions": [active]},
    }
    connection.apply_status(AdmissionCheckStatus, change, MANAGER)


def _version(item: Item) -> Mapping[str, str]:
    names = ("name", "namespace", "resourceVersion")
    return {name: str(item["metadata"][name]) for name in names}


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
