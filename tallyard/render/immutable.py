"""Which objects could only be changed by deleting them and making them again, and which go away.

Deleting and making an object again under the same name is what a preview must never do
unasked: it may delete the new one, and what refers to it stands without it in between. The
way out is a new name, and the old object beside it for as long as something uses it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tallyard.render.fates import Fate, fate_of
from tallyard.render.manifest import Manifest

_WHEN_SET = "spec.topologyName"


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


@dataclass(frozen=True)
class Replaced:
    """An object that has the same name before and after, and differs in what is immutable."""

    kind: str
    name: str
    namespace: str | None
    fields: tuple[FieldChange, ...]

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


def replaced(before: Iterable[Manifest], after: Iterable[Manifest]) -> tuple[Replaced, ...]:
    """Return the objects that would have to be deleted and made again under their names."""
    old = _by_name(before)
    found = []
    for key, manifest in _by_name(after).items():
        if key in old and (fields := _fields(manifest.kind, old[key].object, manifest.object)):
            found.append(Replaced(manifest.kind, manifest.name, manifest.namespace, fields))
    return tuple(found)


def removed(before: Iterable[Manifest], after: Iterable[Manifest]) -> tuple[Removed, ...]:
    """Return the objects that are no longer asked for, in the order of those before."""
    left = _by_name(after)
    return tuple(
        Removed(each.kind, each.name, each.namespace, fate_of(each.kind))
        for key, each in _by_name(before).items()
        if key not in left
    )


def _by_name(manifests: Iterable[Manifest]) -> Mapping[tuple[str, str | None, str], Manifest]:
    return {(each.kind, each.namespace, each.name): each for each in manifests}


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
