"""In which ways an admission policy, or its binding, can let through what it should not.

What must hold is written here once more, and not taken from what renders the policies: that is
what a change may have broken. Of the expressions there is no second copy; which of them are not
what they were is told by `expressions.py`.
"""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from policies.finding import Text
from policies.planned import at, items, mapping, mappings, texts
from tallyard import labels
from tallyard.render.manifest import Manifest

# What is looked at: operation, group, version, resource.
type Asked = tuple[str, str, str, str]

# Who is looked at: everybody but those who write on behalf of what a person has submitted.
_PEOPLE = (
    "!(request.userInfo.username in ['system:kube-controller-manager', "
    "'system:serviceaccount:kueue-system:kueue-controller-manager', "
    "'system:serviceaccount:jobset-system:jobset-controller']) && "
    "!request.userInfo.username.startsWith('system:serviceaccount:kube-system:')"
)
_ALWAYS = ("CREATE", "UPDATE")
_PODS: frozenset[Asked] = frozenset({("CREATE", "", "v1", "pods")})
_SUBMITTED: frozenset[Asked] = frozenset(
    {
        *_PODS,
        *((o, "batch", "v1", r) for o in _ALWAYS for r in ("jobs", "cronjobs")),
        *((o, "apps", "v1", r) for o in _ALWAYS for r in ("deployments", "statefulsets")),
        *((o, "jobset.x-k8s.io", "v1alpha2", "jobsets") for o in _ALWAYS),
    }
)
_ALL = "*"
NOT_SYSTEM = (labels.NAMESPACE_NAME, "NotIn", tuple(sorted(labels.SYSTEM_NAMESPACES)))


@dataclass(frozen=True)
class Held:
    """What a policy must hold to, whatever the code that renders it has become.

    `kind` is the policy's, `covers` what it is asked about, `operator` whether that is in the
    projects' namespaces or in all others.
    """

    kind: str
    covers: frozenset[Asked]
    operator: str

    @property
    def selector(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """Return the namespaces in which it is asked."""
        return sorted([NOT_SYSTEM, (labels.PROJECT, self.operator, ())])


VALIDATING, MUTATING = "ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"
HELD: Mapping[str, Held] = {
    labels.STAMP_POLICY: Held(MUTATING, _SUBMITTED, "Exists"),
    labels.LOCK_POLICY: Held(VALIDATING, _SUBMITTED, "Exists"),
    labels.ELSEWHERE_POLICY: Held(VALIDATING, _PODS, "DoesNotExist"),
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
    yield from unlooked(held.covers, mappings(spec, "matchConstraints", "resourceRules"))
    conditions = {str(each.get("expression")) for each in mappings(spec, "matchConditions")}
    if not conditions <= {_PEOPLE} or (conditions and held.operator != "Exists"):
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


def unlooked(covers: Iterable[Asked], rules: Sequence[Mapping[str, Any]]) -> Iterator[Text]:
    """Yield what of that which must be looked at no rule is about."""
    missing = sorted(each for each in covers if not is_covered(each, rules))
    if missing:
        kinds = ", ".join(_shown(*each) for each in missing)
        yield Text(f"does not look at {kinds}: add them", f"不检查 {kinds}：请补上")


def is_covered(wanted: Asked, rules: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether one of some rules is about something.

    Of a kind that is served in several versions one is enough, as long as `matchPolicy` is not
    `Exact`; it must be one that there is.
    """
    return any(
        all(
            texts(rule, part) & {each, _ALL}
            for part, each in zip(
                ("operations", "apiGroups", "apiVersions", "resources"), wanted, strict=True
            )
        )
        # One that is for some names, or for what is in no namespace, looks at no work.
        and not items(rule, "resourceNames")
        and rule.get("scope") != "Cluster"
        for rule in rules
    )


def _shown(operation: str, group: str, version: str, resource: str) -> str:
    return f"{operation} {f'{group}/' if group else ''}{version} {resource}"
