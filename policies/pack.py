"""From what Pulumi shows a policy pack to a plan, and from findings to what it prints.

Pulumi shows a stack's resources as they are read back, with what the cluster has added to them,
and after a refresh also those that are about to be deleted. What is reviewed is what the program
asks for; that comes with each resource by itself, before it is changed, and there alone a secret
is still marked as one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    Severity,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy import proxy as unknowns
from pulumi_policy.deserialize import serialize_properties

from policies.finding import Finding
from policies.messages import PROJECT, WAIVED, message, shown, waived_until
from policies.places import FindingPlaces
from policies.planned import HIDDEN, Planned, mapping, objects
from policies.recorded import OBJECTS, SIGNATURE, Recorded, StateError, moved, recorded
from policies.rules import RULES, review
from policies.stack_file import StackFileError, stack_file
from tallyard.catalog import rules as catalog
from tallyard.failures import one_line
from tallyard.spec.load import Loaded, load
from tallyard.spec.places import places_in, places_of
from tallyard.spec.versions import VersionsError, read_versions

_STACKS = PROJECT / "stacks"
_VERSIONS = _STACKS / "versions.yaml"
# Large, and no rule looks into their schemas.
_DEFINITION = ":CustomResourceDefinition"
_OF_DEFINITION = ("group", "names", "scope")
_HEAD = ("apiVersion", "kind", "metadata")
_UNKNOWN = frozenset(
    {
        unknowns.UNKNOWN_BOOLEAN_VALUE,
        unknowns.UNKNOWN_NUMBER_VALUE,
        unknowns.UNKNOWN_STRING_VALUE,
        unknowns.UNKNOWN_ARRAY_VALUE,
        unknowns.UNKNOWN_ASSET_VALUE,
        unknowns.UNKNOWN_ARCHIVE_VALUE,
        unknowns.UNKNOWN_OBJECT_VALUE,
    }
)
_LEVELS: Mapping[catalog.Severity, tuple[EnforcementLevel, Severity]] = {
    catalog.Severity.MANDATORY: (EnforcementLevel.MANDATORY, Severity.HIGH),
    catalog.Severity.ADVISORY: (EnforcementLevel.ADVISORY, Severity.LOW),
}
# What the program asks for, by URN, and by which other URNs it says that it was known.
_asked: dict[str, Mapping[str, Any]] = {}
_aliases: set[str] = set()


class StackError(Exception):
    """The stack does not say which environment it is; the text says why, in one line."""


@dataclass(frozen=True)
class _Stack:
    """Which stack is looked at, by its name, its environment's file and what it is."""

    name: str
    overlay: Path
    is_lab: bool


@dataclass(frozen=True)
class _Review:
    """A plan, where its findings come from, and what could not be found out of it."""

    planned: Planned
    places: FindingPlaces
    urns: Mapping[tuple[str, str | None, str], str]
    trouble: str = ""


def policies() -> Iterable[Policy]:
    """Yield what hears the resources, then a policy for each rule."""
    yield ResourceValidationPolicy(
        name="asked-for",
        description="hears what the program asks for, and changes nothing",
        remediate=_hear,
        enforcement_level=EnforcementLevel.REMEDIATE,
    )
    first = next(iter(RULES))
    for name in RULES:
        rule = catalog.RULES[name]
        level, severity = _LEVELS[rule.severity]
        yield StackValidationPolicy(
            name=name,
            description=rule.because[0],
            validate=_validation(name, tells_trouble=name == first),
            enforcement_level=level,
            severity=severity,
            url=rule.incident or None,
        )
    yield StackValidationPolicy(
        name=WAIVED,
        description="what the spec waives is told all the same, with its reason and its end",
        validate=_tell_waived,
        enforcement_level=EnforcementLevel.ADVISORY,
        severity=Severity.LOW,
    )


def _hear(args: ResourceValidationArgs) -> None:
    if args.resource_type.startswith(OBJECTS):
        _aliases.update(args.opts.aliases)
        _asked[args.urn] = _content(args.resource_type, args.props)


def _validation(
    name: str, *, tells_trouble: bool
) -> Callable[[StackValidationArgs, ReportViolation], None]:
    def validate(args: StackValidationArgs, report: ReportViolation) -> None:
        try:
            found = _reviewed(tuple(resource.urn for resource in args.resources))
        except StackError as error:
            if tells_trouble:
                report(str(error), None)
            return
        if found is None:
            return
        if found.trouble and tells_trouble:
            report(found.trouble, None)
        for finding in review(found.planned, [name]).open:
            report(message(finding, found.places), found.urns.get(_key(finding)))

    return validate


def _tell_waived(args: StackValidationArgs, report: ReportViolation) -> None:
    try:
        found = _reviewed(tuple(resource.urn for resource in args.resources))
    except StackError:
        # The first rule says why.
        return
    if found is None:
        return
    zone = found.planned.platform.time_zone
    for finding, waiver in review(found.planned).waived:
        told = f"{message(finding, found.places)} {waived_until(waiver, zone)}"
        report(told, found.urns.get(_key(finding)))


# Each rule is told of the same plan.
@lru_cache(maxsize=1)
def _reviewed(urns: tuple[str, ...]) -> _Review | None:
    """Return what is reviewed; None where the program itself refuses the spec or the pins.

    Raises:
        StackError: it cannot be told which environment this is.
    """
    if not urns:
        return None
    stack = _stack(urns[0])
    loaded = _spec(stack.overlay)
    try:
        versions = read_versions(_VERSIONS)
    except VersionsError:
        return None
    if loaded.platform is None:
        return None
    asked = {urn: tuple(objects(_asked[urn])) for urn in urns if urn in _asked}
    before, trouble = _before(stack.name)
    return _Review(
        planned=Planned(
            before=before,
            after=tuple(each for found in asked.values() for each in found),
            platform=loaded.platform,
            versions=versions,
            is_lab=stack.is_lab,
            texts=_texts(stack, loaded),
            moved=moved(before, asked, _aliases),
        ),
        places=FindingPlaces(places_of(loaded), places_in(_VERSIONS)),
        urns={(e.kind, e.namespace, e.name): urn for urn, found in asked.items() for e in found},
        trouble=trouble,
    )


def _stack(urn: str) -> _Stack:
    """Read which environment a stack is, as the program does (`infra/settings.py`).

    Raises:
        StackError: that file cannot be read, or names no environment.
    """
    name = urn.split(":")[2]
    file = _STACKS / f"Pulumi.{name}.yaml"
    try:
        own = stack_file(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, StackFileError) as error:
        raise StackError(f"{shown(file)}: cannot be read: {one_line(error)}") from error
    if not own.overlay:
        raise StackError(f"{shown(file)}: it names no environment: set tallyard:overlay")
    told = os.environ.get("TALLYARD_OVERLAY") if own.is_lab else None
    return _Stack(name, Path(told) if told else _STACKS / own.overlay, own.is_lab)


@cache
def _spec(overlay: Path) -> Loaded:
    return load(overlay)


@cache
def _before(stack: str) -> tuple[tuple[Recorded, ...], str]:
    """Return what is there, and what to tell where it cannot be read."""
    try:
        return recorded(stack, PROJECT), ""
    except StateError as error:
        return (), (
            f"what is there now cannot be read ({error}), so it cannot be told what would be "
            "deleted, or deleted and made again: make `pulumi stack export` work here"
        )


def _texts(stack: _Stack, loaded: Loaded) -> Mapping[Path, str]:
    """Return what a person writes for this stack."""
    file = _STACKS / f"Pulumi.{stack.name}.yaml"
    return {**loaded.texts, file: file.read_text("utf-8")}


def _content(kind: str, props: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what is known of an object; of a definition no more than what it defines."""
    if kind.endswith(_DEFINITION):
        spec = mapping(props, "spec")
        spec = {key: spec[key] for key in _OF_DEFINITION if key in spec}
        props = {**{key: props[key] for key in _HEAD if key in props}, "spec": spec}
    known: Mapping[str, Any] = _known(serialize_properties(props))
    return known


def _known(value: Any) -> Any:
    """Return a value without what is not known before the plan is carried out.

    Numbers come as floating-point ones, whatever they were.
    """
    if isinstance(value, Mapping):
        if SIGNATURE in value:
            return HIDDEN
        return {key: _known(each) for key, each in value.items() if not _is_unknown(each)}
    if isinstance(value, list):
        return [_known(each) for each in value if not _is_unknown(each)]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _is_unknown(value: Any) -> bool:
    return isinstance(value, str) and value in _UNKNOWN


def _key(finding: Finding) -> tuple[str, str | None, str]:
    return finding.kind, finding.namespace, finding.object_name
