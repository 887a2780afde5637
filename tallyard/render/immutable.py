"""Which objects could only be changed by deleting them and making them again, and which go away.

Deleting and making an object again under the same name is what a preview must never do
unasked: it may delete the new one, and what refers to it stands without it in between. The
way out is a new name, and the old object beside it for as long as something uses it. Pulumi
does the same to an object that its program calls otherwise than before, by another URN.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tallyard.render.fates import Fate, fate_of
from tallyard.render.manifest import Manifest

# Kind, namespace, name: what tells two objects of a cluster apart, whatever their version.
type Key = tuple[str, str | None, str]

_WHEN_SET = "spec.topologyName"
_URN = "pulumi: a URN is made of the parents, the apiVersion, the kind and the resource's name"


@dataclass(frozen=True)
class Rule:
    """A field that cannot be changed. `source` is where that is written.

    `unless` is a field whose absence from the object before makes it changeable.
    """

    field: str
    source: str
    unless: str | None = None


def _rules(source: str, *fields: str, unless: str | None = None) -> tuple[Rule, ...]:
    return tuple(Rule(field, source, unless) for field in fields)


# Seen in Kubernetes 1.36.3 (the functions that validate updates) and in the rules of the CRDs
# of Kueue 0.17.0's chart.
IMMUTABLE: Mapping[str, tuple[Rule, ...]] = {
    "PriorityClass": _rules(
        "kubernetes: pkg/apis/scheduling/validation, ValidatePriorityClassUpdate",
        "value",
        "preemptionPolicy",
    ),
    # Kueue itself takes another value, and gives it to what waits. But it would then differ
    # from its PriorityClass, which does not take one; so ours is protected as that one is.
    "WorkloadPriorityClass": _rules(
        "tallyard: kept equal to its PriorityClass; Kueue would take another value", "value"
    ),
    "ResourceFlavor": _rules(
        "kueue: CRD resourceflavors, rules on spec (immutable when topologyName is set)",
        "spec.nodeLabels",
        "spec.tolerations",
        "spec.topologyName",
        unless=_WHEN_SET,
    ),
    "Topology": _rules("kueue: CRD topologies, rule on spec.levels", "spec.levels"),
    "LocalQueue": _rules("kueue: CRD localqueues, rule on spec.clusterQueue", "spec.clusterQueue"),
    "AdmissionCheck": _rules(
        "kueue: CRD admissionchecks, rule on spec.controllerName", "spec.controllerName"
    ),
    # Its size can grow, and it is given a volume once.
    "PersistentVolumeClaim": _rules(
        "kubernetes: pkg/apis/core/validation, ValidatePersistentVolumeClaimUpdate",
        "spec.accessModes",
        "spec.selector",
        "spec.storageClassName",
        "spec.volumeMode",
        "spec.dataSource",
        "spec.dataSourceRef",
    ),
    "RoleBinding": _rules(
        "kubernetes: pkg/apis/rbac/validation, ValidateRoleBindingUpdate", "roleRef"
    ),
    "ClusterRoleBinding": _rules(
        "kubernetes: pkg/apis/rbac/validation, ValidateClusterRoleBindingUpdate", "roleRef"
    ),
    # Of a suspended job parts of the template can be changed, and completions of an indexed
    # one; what runs has neither.
    "Job": _rules(
        "kubernetes: pkg/apis/batch/validation, ValidateJobSpecUpdate",
        "spec.template",
        "spec.completions",
        "spec.completionMode",
        "spec.selector",
        "spec.podFailurePolicy",
        "spec.backoffLimitPerIndex",
        "spec.successPolicy",
        "spec.managedBy",
    ),
    "CustomResourceDefinition": _rules(
        "kubernetes: apiextensions-apiserver, ValidateCustomResourceDefinitionUpdate",
        "spec.scope",
        "spec.group",
        "spec.names.kind",
        "spec.names.plural",
    ),
    "Deployment": _rules(
        "kubernetes: pkg/apis/apps/validation, ValidateDeploymentUpdate", "spec.selector"
    ),
    "StatefulSet": _rules(
        "kubernetes: pkg/apis/apps/validation, ValidateStatefulSetUpdate",
        "spec.selector",
        "spec.serviceName",
        "spec.podManagementPolicy",
        "spec.volumeClaimTemplates",
    ),
}


@dataclass(frozen=True)
class FieldChange:
    """An immutable field, before and after, and where it is said to be immutable."""

    field: str
    before: Any
    after: Any
    source: str


def urn_change(before: str, after: str) -> FieldChange:
    """Return an object's change from one URN to another."""
    return FieldChange("URN", before, after, _URN)


@dataclass(frozen=True)
class Replaced:
    """An object that has the same name before and after, and could not stay as it is.

    `fields` are those in which it differs and that are immutable. `is_moved` says that Pulumi
    would know it by another URN, which stands in `fields` too.
    """

    kind: str
    name: str
    namespace: str | None
    fields: tuple[FieldChange, ...]
    is_moved: bool = False

    @property
    def is_refused(self) -> bool:
        """Return whether `infra` protects the object, so that `pulumi up` does nothing at all."""
        return fate_of(self.kind) is Fate.PROTECTED


@dataclass(frozen=True)
class Removed:
    """An object that is no longer asked for."""

    kind: str
    name: str
    namespace: str | None
    fate: Fate


def replaced(
    before: Iterable[Manifest],
    after: Iterable[Manifest],
    *,
    moved: Mapping[Key, FieldChange] | None = None,
) -> tuple[Replaced, ...]:
    """Return the objects that would have to be deleted and made again under their names.

    Args:
        before: the objects that are there.
        after: those that will be.
        moved: of those that Pulumi would know by another URN, the two URNs: it makes the new one
            onto the one that is there, and then deletes that by its old URN. None where no state
            is known; then another `apiVersion`, which is part of each URN, says so.
    """
    old = by_name(before)
    found = []
    for key, manifest in by_name(after).items():
        if key not in old:
            continue
        was, now = old[key].object, manifest.object
        moves = _versions(manifest.kind, was, now) if moved is None else moved.get(key)
        fields = (*((moves,) if moves else ()), *_fields(manifest.kind, was, now))
        if fields:
            found.append(Replaced(*_titled(manifest), fields, is_moved=moves is not None))
    return tuple(found)


def removed(before: Iterable[Manifest], after: Iterable[Manifest]) -> tuple[Removed, ...]:
    """Return the objects that are no longer asked for, in the order of those before."""
    left = by_name(after)
    return tuple(
        Removed(each.kind, each.name, each.namespace, fate_of(each.kind))
        for key, each in by_name(before).items()
        if key not in left
    )


def by_name(manifests: Iterable[Manifest]) -> Mapping[Key, Manifest]:
    """Return objects by what tells them apart in a cluster."""
    return {(each.kind, each.namespace, each.name): each for each in manifests}


def _titled(each: Manifest) -> tuple[str, str, str | None]:
    return each.kind, each.name, each.namespace


def _versions(kind: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> FieldChange | None:
    """Return another `apiVersion`; what Pulumi only forgets is not deleted by it."""
    old, new = before.get("apiVersion"), after.get("apiVersion")
    if old == new or fate_of(kind) is Fate.KEPT:
        return None
    return FieldChange("apiVersion", old, new, _URN)


def _fields(
    kind: str, before: Mapping[str, Any], after: Mapping[str, Any]
) -> tuple[FieldChange, ...]:
    return tuple(
        FieldChange(rule.field, old, new, rule.source)
        for rule in IMMUTABLE.get(kind, ())
        if (old := _at(before, rule.field)) != (new := _at(after, rule.field))
        and (rule.unless is None or _at(before, rule.unless) is not None)
    )


def _at(content: Mapping[str, Any], field: str) -> Any:
    """Return a field by its path with dots; None where it is not there."""
    found: Any = content
    for step in field.split("."):
        if not isinstance(found, Mapping):
            return None
        found = found.get(step)
    return found
