"""In which ways an admission policy, or its binding, can let through what it should not.

What must hold is written here once more, and not taken from what renders the policies: that is
what a change may have broken.
"""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from policies.finding import Text
from policies.planned import at, items, mapping, mappings, texts
from tallyard import labels
from tallyard.render.admission.policies import PEOPLE
from tallyard.render.manifest import Manifest

_ALWAYS = ("CREATE", "UPDATE")
_SUBMITTED: frozenset[tuple[str, str, str]] = frozenset(
    {
        ("CREATE", "", "pods"),
        *((o, "batch", r) for o in _ALWAYS for r in ("jobs", "cronjobs")),
        *((o, "apps", r) for o in _ALWAYS for r in ("deployments", "statefulsets")),
        *((o, labels.JOBSET_GROUP, "jobsets") for o in _ALWAYS),
    }
)
_NOT_SYSTEM = (labels.NAMESPACE_NAME, "NotIn", tuple(sorted(labels.SYSTEM_NAMESPACES)))


@dataclass(frozen=True)
class Held:
    """What a policy must hold to, whatever the code that renders it has become.

    `kind` is the policy's, `covers` what it is asked about, `operator` whether that is in the
    projects' namespaces or in all others.
    """

    kind: str
    covers: frozenset[tuple[str, str, str]]
    operator: str

    @property
    def selector(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """Return the namespaces in which it is asked."""
        return sorted([_NOT_SYSTEM, (labels.PROJECT, self.operator, ())])


VALIDATING, MUTATING = "ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"
HELD: Mapping[str, Held] = {
    labels.STAMP_POLICY: Held(MUTATING, _SUBMITTED, "Exists"),
    labels.LOCK_POLICY: Held(VALIDATING, _SUBMITTED, "Exists"),
    labels.ELSEWHERE_POLICY: Held(VALIDATING, frozenset({("CREATE", "", "pods")}), "DoesNotExist"),
}
BINDING = "Binding"


def openings(name: str, held: Held, found: Manifest, right: Mapping[str, Any]) -> Iterator[Text]:
    """Yield each way in which a policy or a binding lets through what it should not."""
    spec = mapping(found.object, "spec")
    if found.kind.endswith(BINDING):
        yield from _openings_of_binding(name, held, spec)
    else:
        yield from _openings_of_policy(held, spec, right)


def _openings_of_policy(
    held: Held, spec: Mapping[str, Any], right: Mapping[str, Any]
) -> Iterator[Text]:
    if spec.get("failurePolicy") != "Fail":
        yield Text(
            "lets through what it fails on: set failurePolicy Fail",
            "出错时会放行：应设 failurePolicy Fail",
        )
    missing = sorted(held.covers - _covered(spec))
    if missing:
        kinds = ", ".join(f"{operation} {resource}" for operation, _, resource in missing)
        yield Text(f"does not look at {kinds}: add them", f"不检查 {kinds}：请补上")
    conditions = {str(each.get("expression")) for each in mappings(spec, "matchConditions")}
    if not conditions <= {PEOPLE} or (conditions and held.operator != "Exists"):
        yield Text(
            "has another condition under which it is asked: remove it",
            "多了一个适用条件：请删除",
        )
    for part in ("variables", "validations", "mutations"):
        if spec.get(part) != right.get(part):
            yield Text(
                f"has other {part} than this version is made with: restore them",
                f"的 {part} 与本版本生成的不同：请恢复",
            )
    yield from _elsewhere(held, mapping(spec, "matchConstraints"))


def _elsewhere(held: Held, constraints: Mapping[str, Any]) -> Iterator[Text]:
    selector = mapping(constraints, "namespaceSelector")
    found = sorted(
        (str(e.get("key")), str(e.get("operator")), tuple(sorted(texts(e, "values"))))
        for e in mappings(selector, "matchExpressions")
    )
    if found != held.selector or mapping(selector, "matchLabels"):
        yield Text(
            "is asked in other namespaces than all but the system's: restore its namespaceSelector",
            "的适用命名空间被改动：请恢复其 namespaceSelector",
        )
    narrowed = [
        part
        for part, is_there in (
            ("objectSelector", any(mapping(constraints, "objectSelector").values())),
            ("excludeResourceRules", bool(items(constraints, "excludeResourceRules"))),
            ("matchPolicy Exact", constraints.get("matchPolicy") == "Exact"),
        )
        if is_there
    ]
    for part in narrowed:
        yield Text(f"leaves work out by {part}: remove it", f"通过 {part} 放过部分作业：请删除")


def _openings_of_binding(name: str, held: Held, spec: Mapping[str, Any]) -> Iterator[Text]:
    if spec.get("policyName") != name:
        yield Text(f"binds another policy than {name}", f"绑定的不是 {name}")
    if held.kind == VALIDATING and "Deny" not in items(spec, "validationActions"):
        yield Text(
            "only tells and lets through: set validationActions [Deny]",
            "只提示而不拒绝：应设 validationActions [Deny]",
        )
    if at(spec, "paramRef", "parameterNotFoundAction") != "Deny":
        yield Text(
            "lets everything through without its table: set parameterNotFoundAction Deny",
            "在没有参数表时会放行：应设 parameterNotFoundAction Deny",
        )
    if at(spec, "paramRef", "name") != labels.PROJECT_TABLE:
        yield Text(
            f"looks into another table than {labels.PROJECT_TABLE}: name that one",
            f"使用的不是参数表 {labels.PROJECT_TABLE}：请改用它",
        )
    resources = mapping(spec, "matchResources")
    if items(resources, "resourceRules"):
        yield Text(
            "leaves work out by resourceRules: remove it", "通过 resourceRules 放过部分作业：请删除"
        )
    yield from _elsewhere(held, resources)


def _covered(spec: Mapping[str, Any]) -> frozenset[tuple[str, str, str]]:
    return frozenset(
        (operation, group, resource)
        for rule in mappings(spec, "matchConstraints", "resourceRules")
        # One that is for some names, or for what is in no namespace, looks at no work.
        if not items(rule, "resourceNames") and rule.get("scope") != "Cluster"
        for resource in texts(rule, "resources")
        for group in texts(rule, "apiGroups")
        for operation in texts(rule, "operations")
    )
