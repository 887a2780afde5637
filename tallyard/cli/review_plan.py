"""What `pulumi up` would do: from a preview's JSON, or from the objects before and after. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from tallyard.cli.review_fields import FieldText, field_changes
from tallyard.failures import one_line
from tallyard.render.fates import Fate
from tallyard.render.immutable import removed, replaced
from tallyard.render.manifest import Manifest


class Deed(StrEnum):
    """What happens to an object, what cannot be taken back first.

    `REFUSED` is what `pulumi up` stops at, since the object is protected. `KEPT` leaves Pulumi's
    state and stays in the cluster.
    """

    REFUSED = "refused"
    REPLACED = "replaced"
    DELETED = "deleted"
    CHANGED = "changed"
    CREATED = "created"
    KEPT = "kept"


class PlanSource(StrEnum):
    """Who says what would be done."""

    PULUMI = "pulumi"
    OBJECTS = "objects"


@dataclass(frozen=True)
class PlannedChange:
    """One object that would not stay as it is; `fields` are those that Pulumi says differ."""

    deed: Deed
    kind: str
    namespace: str | None
    name: str
    fields: tuple[FieldText, ...] = ()

    @property
    def title(self) -> str:
        """Return its name, with its namespace where it has one."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


@dataclass(frozen=True)
class Plan:
    """All of it, by deed and kind.

    Attributes:
        source: who says so.
        changes: what would not stay as it is.
        errors: Pulumi's own words about why it would fail.
        warnings: what it says besides, as of hand edits that it does not see itself.
        overlay: the environment's file, as the stack's configuration names it; empty where it
            does not say.
        is_lab: whether the stack is a lab's.
    """

    source: PlanSource
    changes: tuple[PlannedChange, ...]
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    overlay: str = ""
    is_lab: bool = False


# How Pulumi ends after any error.
LAST_WORDS = "preview failed"


class PlanError(Exception):
    """What was given is no output of `pulumi preview --json`."""


def plan_of_objects(before: Iterable[Manifest], after: Iterable[Manifest]) -> Plan:
    """Return what follows from the rendered objects, as far as they tell.

    What Pulumi makes beside them (the charts, our controllers, the spec in the cluster) is not
    among them, and how the cluster differs from the last `up` is not known.
    """
    sides = tuple(before), tuple(after)
    made_anew = {
        (each.kind, each.namespace, each.name): Deed.REFUSED if each.is_refused else Deed.REPLACED
        for each in replaced(*sides)
    }
    old = {_key(each): each for each in sides[0]}
    found = []
    for each in sides[1]:
        key = _key(each)
        if key not in old:
            found.append(PlannedChange(Deed.CREATED, *key))
        elif old[key].object != each.object:
            found.append(PlannedChange(made_anew.get(key, Deed.CHANGED), *key))
    found += [
        PlannedChange(_GONE[each.fate], each.kind, each.namespace, each.name)
        for each in removed(*sides)
    ]
    return Plan(PlanSource.OBJECTS, _sorted(found))


def plan_of_preview(content: object) -> Plan:
    """Return what `pulumi preview --json` says.

    Args:
        content: Its output as it was parsed.

    Raises:
        PlanError: It is something else.
    """
    if not isinstance(content, Mapping) or not {"steps", "diagnostics", "changeSummary"} & set(
        content
    ):
        raise PlanError
    try:
        # A refresh tells what differs in the cluster as a step of its own; the last one of an
        # object is what would be done to it.
        steps = {str(step["urn"]): step for step in content.get("steps") or ()}
        found = [change for step in steps.values() for change in _step(step)]
        told = list(_told(content, "error"))
        config = content.get("config") or {}
        return Plan(
            PlanSource.PULUMI,
            _sorted(found),
            # It says no more than that there was an error before it.
            tuple(dict.fromkeys(e for e in told if e != LAST_WORDS or len(told) == 1)),
            tuple(dict.fromkeys(_told(content, "warning"))),
            str(config.get("tallyard:overlay") or ""),
            str(config.get("tallyard:lab")) == "true",
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise PlanError from error


def completed(plan: Plan, objects: Plan) -> Plan:
    """Return a plan that Pulumi broke off, with what it has not come to.

    Args:
        plan: Pulumi's; one without errors is whole.
        objects: What follows from the rendered objects.
    """
    if not plan.errors:
        return plan
    said = {(each.kind, each.namespace, each.name) for each in plan.changes}
    more = [e for e in objects.changes if (e.kind, e.namespace, e.name) not in said]
    return replace(plan, changes=_sorted((*plan.changes, *more)))


def without_last_words(plan: Plan) -> Plan:
    """Return a plan whose preview a policy alone made fail, after it had come to its end."""
    return replace(plan, errors=tuple(each for each in plan.errors if each != LAST_WORDS))


def _told(content: Mapping[str, Any], severity: str) -> Iterator[str]:
    for each in content.get("diagnostics") or ():
        if each.get("severity") == severity:
            yield one_line(str(each["message"]).removeprefix(f"{severity}: "))


def _step(step: Mapping[str, Any]) -> Iterator[PlannedChange]:
    deed = _OPERATIONS.get(str(step["op"]))
    state = step.get("newState") or step.get("oldState") or {}
    # A component is made of others and is nothing in the cluster.
    if deed is None or not state.get("custom", True):
        return
    old = step.get("oldState") or {}
    if old.get("protect") and deed in (Deed.REPLACED, Deed.DELETED):
        deed = Deed.REFUSED
    elif old.get("retainOnDelete") and deed is Deed.DELETED:
        deed = Deed.KEPT
    inputs = state.get("inputs") or {}
    meta = inputs.get("metadata") or {}
    urn = str(step["urn"]).split("::")
    kind = inputs.get("kind") or urn[2].rpartition("$")[2].rpartition(":")[2]
    namespace = meta.get("namespace")
    yield PlannedChange(
        deed,
        str(kind),
        str(namespace) if namespace else None,
        str(meta.get("name") or urn[-1]),
        field_changes(step) if deed is Deed.CHANGED else (),
    )


def _sorted(changes: Iterable[PlannedChange]) -> tuple[PlannedChange, ...]:
    order = {deed: index for index, deed in enumerate(Deed)}
    return tuple(sorted(changes, key=lambda each: (order[each.deed], each.kind, each.title)))


def _key(each: Manifest) -> tuple[str, str | None, str]:
    return each.kind, each.namespace, each.name


_GONE: Mapping[Fate, Deed] = {
    Fate.KEPT: Deed.KEPT,
    Fate.PROTECTED: Deed.REFUSED,
    Fate.DELETED: Deed.DELETED,
}
# The operations of Pulumi's engine that change something (pkg/resource/deploy, step.go).
_OPERATIONS: Mapping[str, Deed] = {
    "create": Deed.CREATED,
    "import": Deed.CREATED,
    "update": Deed.CHANGED,
    "replace": Deed.REPLACED,
    "create-replacement": Deed.REPLACED,
    "delete-replaced": Deed.REPLACED,
    "import-replacement": Deed.REPLACED,
    "delete": Deed.DELETED,
    "discard": Deed.DELETED,
}
