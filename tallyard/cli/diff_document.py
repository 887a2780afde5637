"""The document `SpecDiff`: what differs between two specs, for programs.

`before` and `after` name the two sides: `revision` and `commit` are null for the working tree,
`exists` says whether the environment was there. `presence` is `added`, `removed`, `changed` or
(of the whole alone) `same`; `changed` says whether anything differs.

`renames` are tiers, accelerators and pools that differ in their name alone; everything else
calls them by the name after. A change is `fact` (the spec's key, or `lasts`: for how long the
core-hours last while all cards are used), what it is about (`pool`, `model`, `user`, `resource`,
as far as there is one), `before` and `after` (null where there was nothing), their `unit`,
`delta` (null where they cannot be subtracted), `percent` (of what was before; of grants by the
hour, so that periods may differ), `effect` (`gain`, `loss` or null) and `through` (what else has
changed so that this did, with its `name`, or null). Amounts are integers in the unit; a grant
of core-hours has `amount` and `period`, what it lasts `hours` of the `period` and the `percent`
of it, a queue's priority `name` and `value`. `sharing` is what the spec has there.

`moves` are hosts that stand in another pool or have another model. All cards are whole ones;
`slices` says of the pools that cut them into how many. `coreHours` is the whole platform's a month. `flavors` come beside
the ones before them. `replaced` are objects that could only be deleted and made again under
their names, with whether `pulumi up` refuses that (`refused`); `removed` are those that are no
longer asked for, with their `fate` (`kept`, `protected`, `deleted`). `waivers` are the ones in
force that came, went or changed.
`warnings` are the ones that the spec had not before, as in a `ProblemList`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from tallyard.cli import problems, session
from tallyard.cli.output import document
from tallyard.cli.revision import Side
from tallyard.cli.views.spec_diff_objects import NewFlavor, Objects
from tallyard.render.immutable import Removed, Replaced
from tallyard.spec.changes.change import Change, Lasting, Presence, Rank, Subject, Value
from tallyard.spec.changes.facts import Unit
from tallyard.spec.changes.hosts import Altered, HostsChange, Move
from tallyard.spec.changes.projects import OverrideChange, ProjectChange
from tallyard.spec.changes.renames import Rename
from tallyard.spec.changes.supply import Budget, Supply, SupplyChange
from tallyard.spec.changes.waivers import WaiverChange
from tallyard.spec.changes.whole import Changes
from tallyard.spec.model import CoreHours, Override
from tallyard.spec.problem import Problem
from tallyard.spec.waiver import Waiver

_PERCENT = 100
_EFFECTS = {1: "gain", -1: "loss", 0: None}


def spec_diff(
    file: str,
    sides: tuple[Side, Side],
    now: datetime,
    found: Changes,
    *,
    objects: Objects,
    warnings: tuple[Problem, ...],
) -> Mapping[str, Any]:
    """Return the document.

    Args:
        file: The environment's file, as it is shown.
        sides: Before and after.
        now: The moment at which both were loaded.
        found: What differs.
        objects: What happens to objects that cannot simply be changed.
        warnings: Those that the spec had not before.
    """
    return document(
        "SpecDiff",
        {
            "file": file,
            "before": _side(sides[0]),
            "after": _side(sides[1]),
            "at": _moment(now),
            "presence": found.environment.value,
            "changed": is_changed(found, objects),
            "renames": [_rename(each) for each in found.renames],
            "tiers": [_subject(each) | {"projects": list(each.used_by)} for each in found.tiers],
            "projects": [_project(each) for each in found.projects],
            "everybody": [_subject(each) for each in found.everybody],
            "hosts": [_hosts(each) for each in found.hosts],
            "moves": [_move(each) for each in found.moves],
            "slices": dict(found.slices),
            "supply": [_supply_change(each) for each in found.supply],
            "coreHours": {
                "before": _budget(found.budget.before),
                "after": _budget(found.budget.after),
            },
            "waivers": [_waiver_change(each) for each in found.waivers],
            "flavors": [_flavor(each) for each in objects.flavors],
            "replaced": [_replaced(each) for each in objects.replaced],
            "removed": [_object(each) | {"fate": each.fate.value} for each in objects.removed],
            "warnings": problems.document(warnings, session.lang())["items"],
        },
    )


def is_changed(found: Changes, objects: Objects) -> bool:
    """Return whether anything differs in meaning."""
    has_others = bool(objects.replaced or objects.removed)
    return found.environment is not Presence.SAME or has_others


def _side(side: Side) -> dict[str, Any]:
    at = side.revision
    return {
        "revision": at.name if at else None,
        "commit": at.commit if at else None,
        "exists": side.loaded is not None,
    }


def _rename(rename: Rename) -> dict[str, Any]:
    return {"kind": rename.kind, "before": rename.before, "after": rename.after}


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
        "renameOf": project.rename_of.id if project.rename_of else None,
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
        "before": _value(change.before, change.unit),
        "after": _value(change.after, change.unit),
        "unit": change.unit.value,
        "delta": change.delta,
        "percent": change.percent,
        "effect": _EFFECTS[change.effect],
        "through": {"kind": cause.through.value, "name": cause.name} if cause else None,
    }


def _value(value: Value, unit: Unit) -> Any:
    match value:
        case int() if unit is Unit.SHARING:
            return "exclusive" if value == 1 else {"time-slicing": value}
        case Lasting():
            percent = int(value.share * _PERCENT)
            return {"hours": value.hours, "period": value.period.value, "percent": percent}
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
        "before": _override(change.before, is_over=change.is_over_before),
        "after": _override(change.after, is_over=change.is_over_after),
    }


def _override(override: Override | None, *, is_over: bool) -> dict[str, Any] | None:
    if override is None:
        return None
    return {
        "cards": {pool: dict(models) for pool, models in override.cards.items()},
        "borrow": dict(override.borrow),
        "coreHours": _value(override.core_hours, Unit.GRANT),
        "maxTimeSeconds": override.max_time_seconds,
        "until": _moment(override.until),
        "isOver": is_over,
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
        "allowed": supply.allowed,
        "granted": supply.granted,
        "unassigned": supply.unassigned,
        "slices": supply.slices,
    }


def _budget(budget: Budget) -> dict[str, int]:
    return {
        "given": budget.given,
        "allowed": budget.allowed,
        "granted": budget.granted,
        "unassigned": budget.unassigned,
        "availability": budget.availability,
    }


def _move(move: Move) -> dict[str, Any]:
    return {
        "hosts": list(move.hosts),
        "before": {"pool": move.pool_before, "model": move.model_before},
        "after": {"pool": move.pool, "model": move.model},
    }


def _waiver_change(change: WaiverChange) -> dict[str, Any]:
    return {
        "presence": change.presence.value,
        "before": _waiver(change.before),
        "after": _waiver(change.after),
    }


def _waiver(waiver: Waiver | None) -> dict[str, Any] | None:
    if waiver is None:
        return None
    return {
        "rule": waiver.rule,
        "objects": list(waiver.objects),
        "until": _moment(waiver.until),
        "reason": waiver.reason,
    }


def _flavor(flavor: NewFlavor) -> dict[str, Any]:
    return {
        "pool": flavor.pool,
        "model": flavor.model,
        "before": flavor.before,
        "after": flavor.after,
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
    return _object(found) | {"refused": found.is_refused, "fields": fields}


def _object(found: Replaced | Removed) -> dict[str, Any]:
    return {"kind": found.kind, "name": found.name, "namespace": found.namespace}


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
