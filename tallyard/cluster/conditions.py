"""Reading a Kubernetes object's conditions and times. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

type Object = Mapping[str, Any]


def condition(item: Object, kind: str) -> Mapping[str, Any] | None:
    """Return the condition of one type, or None where the object has none."""
    for entry in (item.get("status") or {}).get("conditions") or ():
        if entry.get("type") == kind:
            found: Mapping[str, Any] = entry
            return found
    return None


def is_true(item: Object, kind: str) -> bool:
    """Return whether the condition is there and true."""
    entry = condition(item, kind)
    return entry is not None and entry.get("status") == "True"


def became_true(item: Object, kind: str) -> datetime | None:
    """Return since when the condition is true, or None."""
    entry = condition(item, kind)
    if entry is None or entry.get("status") != "True":
        return None
    return moment(entry.get("lastTransitionTime"))


def created(item: Object) -> datetime | None:
    """Return when the object was made."""
    return moment(item["metadata"].get("creationTimestamp"))


def moment(text: str | None) -> datetime | None:
    """Return a time of the API (RFC 3339, UTC) as a datetime that knows its zone."""
    return datetime.fromisoformat(text) if text else None


def last_seen(event: Object) -> datetime:
    """Return when an event was last seen; Kubernetes tells it in one of four places."""
    text = (
        event.get("lastTimestamp")
        or (event.get("series") or {}).get("lastObservedTime")
        or event.get("eventTime")
        or event["metadata"]["creationTimestamp"]
    )
    return datetime.fromisoformat(text)


def owner(item: Object) -> tuple[str, str] | None:
    """Return kind and name of the controller of an object, or of its first owner."""
    owners = item["metadata"].get("ownerReferences") or ()
    chosen = next((o for o in owners if o.get("controller")), owners[0] if owners else None)
    return (str(chosen["kind"]), str(chosen["name"])) if chosen else None
