"""That the gate in the API server stays shut, and that nobody holds its key."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from policies.finding import Finding, Text, about
from policies.openings import BINDING, HELD, VALIDATING, openings
from policies.planned import Planned, at, items, mapping, mappings, texts
from tallyard import labels
from tallyard.catalog import rules as catalog
from tallyard.render.admission.policies import binding_manifests, policy_manifests
from tallyard.render.manifest import Manifest

_WRITING = frozenset({"create", "update", "patch", "delete", "deletecollection", "*"})
# Whole groups, and single resources of a group, that give cards or open the gate.
_GROUPS = frozenset(
    {labels.KUEUE_GROUP, "admissionregistration.k8s.io", labels.DOMAIN, "scheduling.k8s.io", "*"}
)
_RESOURCES: Mapping[str, frozenset[str]] = {
    "": frozenset({"limitranges", "namespaces", "nodes", "resourcequotas"}),
    "rbac.authorization.k8s.io": frozenset({"clusterroles", "clusterrolebindings", "roles"}),
    "apiextensions.k8s.io": frozenset({"customresourcedefinitions"}),
}
_ESCAPES = frozenset({"escalate", "impersonate"})
# Whom `*` lets one act as.
_PERSONS = frozenset({"users", "groups", "serviceaccounts", "userextras", "uids", "*"})
_EVERYBODY = frozenset(
    {"system:authenticated", "system:unauthenticated", "system:serviceaccounts", "system:anonymous"}
)
_ACCOUNT, _ACCOUNTS = "system:serviceaccount:", "system:serviceaccounts:"
# Kubernetes' own roles that only read what everybody may know.
_HARMLESS = frozenset(
    {"view", "system:basic-user", "system:discovery", "system:public-info-viewer"}
)


def policies_bound(planned: Planned) -> Iterator[Finding]:
    """The admission policies are there, are bound as they were, and refuse where they fail.

    Seen: a policy that failed open on an error of its own expression let everything through; a
    binding that was removed in a cleanup was missed for weeks.
    """
    rendered = {(m.kind, m.name): m.object for m in (*policy_manifests(), *binding_manifests())}
    for name, held in HELD.items():
        for kind in (held.kind, f"{held.kind}{BINDING}"):
            found = planned.all_named(kind, name)
            if not found:
                text = Text(
                    f"{kind} {name} is missing: leave it in, without it everything is let through",
                    f"缺少 {kind} {name}：请保留，缺少它一切都会放行",
                )
                yield Finding("policies-bound", text, kind, name)
            for each in found:
                right = mapping(rendered.get((kind, name)), "spec")
                for english, chinese in openings(name, held, each, right):
                    told = Text(f"{kind} {name} {english}", f"{kind} {name} {chinese}")
                    yield about("policies-bound", told, each)
    if planned.all_named(VALIDATING, labels.LOCK_POLICY):
        yield from _unasked(planned)


def _unasked(planned: Planned) -> Iterator[Finding]:
    """Yield the rules that the catalog promises and no policy has."""
    policies = [p.object for name, held in HELD.items() for p in planned.all_named(held.kind, name)]
    expressions = json.dumps([mapping(policy, "spec") for policy in policies], default=str)
    for rule in catalog.RULES.values():
        # Its name is how each of its sentences ends.
        if catalog.Gate.ADMISSION in rule.gates and f"[{rule.name}]" not in expressions:
            text = Text(
                f"no admission policy has the rule {rule.name}: restore it",
                f"没有准入策略包含规则 {rule.name}：请恢复",
            )
            yield Finding("policies-bound", text)


def tenants_fenced(planned: Planned) -> Iterator[Finding]:
    """Nobody of a project may write a queue, a quota, a policy, a role or a namespace.

    Seen: users who owned their namespace made a LocalQueue to another team's cards.
    """
    held: dict[tuple[str, str | None, str], None] = {}
    tenants = _Tenants.of(planned)
    for each in planned.of_kind("RoleBinding", "ClusterRoleBinding"):
        if any(map(tenants.has, mappings(each.object, "subjects"))):
            ref = mapping(each.object, "roleRef")
            kind, name = str(ref.get("kind")), str(ref.get("name"))
            place = each.namespace if kind == "Role" else None
            held[kind, place, name] = None
            if not planned.all_named(kind, name, place) and name not in _HARMLESS:
                text = Text(
                    f"{each.kind} {each.name} gives users {kind} {name}, which is not in the plan "
                    "and may hold anything: give them a role of the plan",
                    f"{each.kind} {each.name} 授予用户 {kind} {name}，它不在计划中，权限不明："
                    "请改用计划中的角色",
                )
                yield about("tenants-fenced", text, each)
    for kind, place, name in held:
        for role in planned.all_named(kind, name, place):
            for english, chinese in dict.fromkeys(_keys(planned, role)):
                text = Text(
                    f"{kind} {name}, which users hold, may {english}: take it out",
                    f"用户持有的 {kind} {name} 可以{chinese}：请去掉",
                )
                yield about("tenants-fenced", text, role)


@dataclass(frozen=True)
class _Tenants:
    """Everybody of a project: its users by their logins, and what runs in its namespace."""

    logins: frozenset[str]
    namespaces: frozenset[str]

    @classmethod
    def of(cls, planned: Planned) -> _Tenants:
        """Return those of a plan."""
        projects = planned.platform.projects.values()
        logins = {login for project in projects for user in project.users for login in user.logins}
        own = {project.namespace for project in projects}
        labelled = {
            each.name
            for each in planned.of_kind("Namespace")
            if at(each.object, "metadata", "labels", labels.PROJECT) is not None
        }
        return cls(frozenset(logins), frozenset(own | labelled))

    def has(self, subject: Mapping[str, Any]) -> bool:
        """Return whether a subject of a binding is one of them, or a group with one in it."""
        kind, name = subject.get("kind"), str(subject.get("name"))
        if kind == "ServiceAccount":
            return subject.get("namespace") in self.namespaces
        if name in _EVERYBODY or name in self.logins:
            return True
        # Who may submit a pod acts as each account of the namespace.
        for beginning in (_ACCOUNTS, _ACCOUNT):
            if name.startswith(beginning):
                return name.removeprefix(beginning).partition(":")[0] in self.namespaces
        return False


def _keys(planned: Planned, role: Manifest) -> Iterator[Text]:
    for rule in _rules(planned, role):
        verbs, resources = texts(rule, "verbs"), texts(rule, "resources")
        taken = verbs & _ESCAPES
        if "bind" in verbs and not items(rule, "resourceNames"):
            taken |= {"bind"}
        if "*" in verbs and resources & _PERSONS:
            taken |= {"impersonate"}
        if taken:
            what = ", ".join(sorted(taken))
            yield Text(f"take rights that it has not ({what})", f"获取本不具有的权限（{what}）")
        if not verbs & _WRITING:
            continue
        for group in sorted(texts(rule, "apiGroups")):
            for resource in sorted(resources):
                # A subresource, as `status` or `finalize`, is written by itself.
                whole = resource.partition("/")[0]
                if group in _GROUPS or whole in _RESOURCES.get(group, ()) or whole == "*":
                    name = f"{resource}.{group}" if group else resource
                    yield Text(f"write {name}", f"写 {name}")


def _rules(planned: Planned, role: Manifest) -> Iterator[Mapping[str, Any]]:
    """Yield a role's rules, and those that are gathered into it by their labels."""
    yield from mappings(role.object, "rules")
    for selector in mappings(role.object, "aggregationRule", "clusterRoleSelectors"):
        wanted = mapping(selector, "matchLabels").items()
        for other in planned.of_kind("ClusterRole"):
            if wanted <= mapping(other.object, "metadata", "labels").items():
                yield from mappings(other.object, "rules")
