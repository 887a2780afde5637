"""Events: what our controllers tell people in `kubectl describe`.

The same sentence about the same object is one Event, whose count and time go on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from tallyard.cluster.client import Connection
from tallyard.cluster.faults import ClusterError, Fault
from tallyard.cluster.kinds import Event
from tallyard.labels import DEFAULT_NAMESPACE, DOMAIN

# The API server refuses a longer message.
MESSAGE_LENGTH_MAX = 1024
# Room for the name of a node, at most 253 characters, beside the hash.
_NAME_LENGTH_MAX = 200


class Kind(StrEnum):
    """How bad it is."""

    NORMAL = "Normal"
    WARNING = "Warning"


@dataclass(frozen=True)
class Told:
    """One sentence about one object. `about` is the object as the API has it."""

    about: Mapping[str, Any]
    kind: Kind
    reason: str
    message: str


def tell(connection: Connection, told: Told, component: str, at: datetime) -> None:
    """Write an Event, or count up the one that says the same.

    Raises:
        ClusterError: The server cannot be asked or refuses.
    """
    event = _event(told, component, at)
    meta = event["metadata"]
    try:
        connection.create(Event, event)
    except ClusterError as error:
        if error.fault is not Fault.CONFLICT:
            raise
        last = {"lastTimestamp": event["lastTimestamp"]}
        before = connection.merge(Event, meta["name"], last, meta["namespace"])
        count = {"count": int(before.get("count") or 1) + 1}
        connection.merge(Event, meta["name"], count, meta["namespace"])


def _event(told: Told, component: str, at: datetime) -> dict[str, Any]:
    meta = told.about["metadata"]
    message = told.message
    if len(message) > MESSAGE_LENGTH_MAX:
        message = f"{message[: MESSAGE_LENGTH_MAX - 1]}…"
    said = hashlib.sha256(f"{meta.get('uid')} {told.reason} {message}".encode()).hexdigest()[:10]
    moment = at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    about = {
        "apiVersion": told.about["apiVersion"],
        "kind": told.about["kind"],
        "name": meta["name"],
        "uid": meta.get("uid") or "",
    }
    if meta.get("namespace"):
        about["namespace"] = meta["namespace"]
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "name": f"{meta['name'][:_NAME_LENGTH_MAX].rstrip('.-')}.{said}",
            # Where Events about what has no namespace live.
            "namespace": meta.get("namespace") or DEFAULT_NAMESPACE,
        },
        "involvedObject": about,
        "type": told.kind.value,
        "reason": told.reason,
        "message": message,
        "source": {"component": f"{DOMAIN}/{component}"},
        "firstTimestamp": moment,
        "lastTimestamp": moment,
        "count": 1,
    }
