"""The document `SpecDiff`: what differs between two specs, for programs.

`before` and `after` name the two sides: `revision` and `commit` are null for the working tree,
`exists` says whether the environment was there. `presence` is `added`, `removed`, `changed` or
(of the whole alone) `same`; `changed` says whether anything differs.

A change is `fact` (the spec's key, or `lasts`: for how many hours the core-hours last while all
cards are used), what it is about (`pool`, `model`, `user`, `resource`, as far as there is one),
`before` and `after` (null where there was nothing), their `unit`, `delta` (null where they
cannot be subtracted), `effect` (`gain`, `loss` or null) and `through` (what else has changed so
that this did, with its `name`, or null). Amounts are integers in the unit; a grant of
core-hours has `amount` and `period`, a queue's priority `name` and `value`.

`replaced` are objects that could only be deleted and made again under their names, `removed`
those that are no longer asked for, with their `fate` (`kept`, `protected`, `deleted`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from tallyard.cli.output import document
from tallyard.cli.revision import Side
from tallyard.render.immutable import Removed, Replaced
from tallyard.spec.changes.change import Change, Presence, Rank, Subject, Value
from tallyard.spec.changes.hosts import Altered, HostsChange, Supply, SupplyChange
from tallyard.spec.changes.projects import OverrideChange, ProjectChange
from tallyard.spec.changes.whole import Changes
from tallyard.spec.model import CoreHours, Override

_EFFECTS = {1: "gain", -1: "loss", 0: None}


def spec_diff(
    file: str,
    sides: tuple[Side, Side],
    now: datetime,
    found: Changes,
    objects: tuple[tuple[Replaced, ...], tuple[Removed, ...]],
) -> Mapping[str, Any]:
    """Return the document.

    Args:
        file: The environment's file, as it is shown.
        sides: Before and after.
        now: The moment at which both were loaded.
        found: What differs.
        objects: The replaced and the removed ones.
    """
    replaced, removed = objects
    return document(
        "SpecDiff",
        {
            "file": file,
            "before": _side(sides[0]),
            "after": _side(sides[1]),
            "at": _moment(now),
            "presence": found.environment.value,
            "changed": is_changed(found, replaced, removed),
            "tiers": [_subject(each) | {"projects": list(each.used_by)} for each in found.tiers],
            "projects": [_project(each) for each in found.projects],
            "everybody": [_subject(each) for each in found.everybody],
            "hosts": [_hosts(each) for each in found.hosts],
            "supply": [_supply_change(each) for each in found.supply],
            "replaced": [_replaced(each) for each in replaced],
            "removed": [_object(each) | {"fate": each.fate.value} for each in removed],
        },
    )


def is_changed(
    found: Changes, replaced: tuple[Replaced, ...], removed: tuple[Removed, ...]
) -> bool:
    """Return whether anything differs in meaning."""
    return found.environment is not Presence.SAME or bool(replaced or removed)


def _side(side: Side) -> dict[str, Any]:
    at = side.revision
    return {
        "revision": at.name if at else None,
        "commit": at.commit if at else None,
        "exists": side.loaded is not None,
    }


def _subject(subject: Subject) -> dict[str, Any]:
    return {
        "kind": subject.kind,
        "name": subject.name,
        "presence": subject.presence.value,
        "changes": _changes(subject.changes),
    }


def _project(project: ProjectChange) -> dict[str, Any]:
    return {
        "key": project.key,
        "id": project.id,
        "tier": project.tier,
        "presence": project.presence.value,
        "keyBefore": project.key_before,
        "idBefore": project.id_before,
        "people": project.people,
        "changes": _changes(project.changes),
        "overrides": [_override_change(each) for each in project.overrides],
    }


def _changes(changes: Iterable[Change]) -> list[dict[str, Any]]:
    return [_change(each) for each in changes]


def _change(change: Change) -> dict[str, Any]:
    cause = change.cause
    return {
        "fact": change.fact.value,
        **dict(change.about),
        "before": _value(change.before),
        "after": _value(change.after),
        "unit": change.unit.value,
        "delta": change.delta,
        "effect": _EFFECTS[change.effect],
        "through": {"kind": cause.through.value, "name": cause.name} if cause else None,
    }


def _value(value: Value) -> Any:
    match value:
        case CoreHours():
            return {"amount": value.amount, "period": value.period.value}
        case Rank():
            return {"name": value.name, "value": value.value}
        case tuple():
            return list(value)
    return value


def _override_change(change: OverrideChange) -> dict[str, Any]:
    return {
        "presence": change.presence.value,
        "isOver": change.is_over,
        "before": _override(change.before),
        "after": _override(change.after),
    }


def _override(override: Override | None) -> dict[str, Any] | None:
    if override is None:
        return None
    return {
        "cards": {pool: dict(models) for pool, models in override.cards.items()},
        "borrow": dict(override.borrow),
        "coreHours": _value(override.core_hours),
        "maxTimeSeconds": override.max_time_seconds,
        "until": _moment(override.until),
        "reason": override.reason,
    }


def _hosts(change: HostsChange) -> dict[str, Any]:
    return {
        "pool": change.pool,
        "model": change.model,
        "before": {"hosts": change.hosts_before, "cards": change.cards_before},
        "after": {"hosts": change.hosts_after, "cards": change.cards_after},
        "joined": list(change.joined),
        "left": list(change.left),
        "altered": [_altered(each) for each in change.altered],
    }


def _altered(found: Altered) -> dict[str, Any]:
    return {"hosts": list(found.hosts), "changes": _changes(found.changes)}


def _supply_change(change: SupplyChange) -> dict[str, Any]:
    return {
        "pool": change.pool,
        "model": change.model,
        "before": _supply(change.before),
        "after": _supply(change.after),
    }


def _supply(supply: Supply) -> dict[str, int]:
    return {
        "installed": supply.installed,
        "granted": supply.granted,
        "unassigned": supply.unassigned,
    }


def _replaced(found: Replaced) -> dict[str, Any]:
    fields = [
        {
            "field": each.field,
            "before": each.before,
            "after": each.after,
            "source": each.source,
        }
        for each in found.fields
    ]
    return _object(found) | {"fields": fields}


def _object(found: Replaced | Removed) -> dict[str, Any]:
    return {"kind": found.kind, "name": found.name, "namespace": found.namespace}


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
