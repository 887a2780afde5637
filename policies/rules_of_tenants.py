"""That nobody of a project holds the key to the gate in the API server."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from policies.finding import Finding, Text, about
from policies.planned import Planned, at, mapping, mappings, texts
from policies.rights import RBAC, harm
from tallyard import labels
from tallyard.render.manifest import Manifest

_EVERYBODY = frozenset({"system:unauthenticated", "system:anonymous"})
_ACCOUNT, _ACCOUNTS = "system:serviceaccount:", "system:serviceaccounts:"
# Who may be in any other group only the login's provider knows.
_NO_TENANTS = frozenset({labels.OPERATOR_GROUP, "system:masters", "system:nodes"})
# Kubernetes' own roles that only read what everybody may know.
_HARMLESS = frozenset(
    {"view", "system:basic-user", "system:discovery", "system:public-info-viewer"}
)


@dataclass(frozen=True)
class _Held:
    """A role that tenants hold or can take; `is_wide` where that is beyond their namespaces."""

    kind: str
    namespace: str | None
    name: str
    is_wide: bool

    @classmethod
    def by(cls, binding: Manifest) -> _Held:
        """Return what a binding gives."""
        ref = mapping(binding.object, "roleRef")
        kind = str(ref.get("kind"))
        namespace = binding.namespace if kind == "Role" else None
        is_wide = binding.namespace is None or binding.namespace in labels.SYSTEM_NAMESPACES
        return cls(kind, namespace, str(ref.get("name")), is_wide)

    def is_known(self, planned: Planned) -> bool:
        """Return whether it can be told what the role holds."""
        is_planned = bool(planned.all_named(self.kind, self.name, self.namespace))
        return is_planned or self.name in _HARMLESS

    def taken_by(self, planned: Planned, rules: Iterable[Mapping[str, Any]]) -> Iterator[_Held]:
        """Yield the roles that this one lets bind by their names."""
        for rule in rules:
            if texts(rule, "verbs") & {"bind", "*"} and texts(rule, "apiGroups") & {RBAC, "*"}:
                resources = texts(rule, "resources")
                for name in sorted(texts(rule, "resourceNames")):
                    if resources & {"clusterroles", "*"}:
                        yield _Held("ClusterRole", None, name, self.is_wide)
                    if resources & {"roles"}:
                        named = [e.namespace for e in planned.of_kind("Role") if e.name == name]
                        for place in named or [self.namespace]:
                            yield _Held("Role", place, name, self.is_wide)


def tenants_fenced(planned: Planned) -> Iterator[Finding]:
    """Nobody of a project may write a queue, a quota, a policy, a role or a namespace.

    What a role lets its holders bind, they hold too.

    Seen: users who owned their namespace made a LocalQueue to another team's cards.
    """
    tenants = _Tenants.of(planned)
    held: list[_Held] = []
    for each in planned.of_kind("RoleBinding", "ClusterRoleBinding"):
        if any(map(tenants.has, mappings(each.object, "subjects"))):
            role = _Held.by(each)
            held.append(role)
            if not role.is_known(planned):
                yield _unknown(each, role)
    yield from dict.fromkeys(_of_roles(planned, held))


def _of_roles(planned: Planned, held: list[_Held]) -> Iterator[Finding]:
    left, seen = list(dict.fromkeys(held)), set(held)
    # What a role lets take is looked at after it.
    for role in left:
        for each, rules in _objects(planned, role):
            manages = role.name == labels.ADMIN_ROLE and not role.is_wide
            is_own = each.name == role.name
            by = Text("", "") if is_own else Text(f" by {each.name}", f"（经由 {each.name}）")
            for english, chinese in harm(rules, is_wide=role.is_wide, manages=manages):
                text = Text(
                    f"{role.kind} {role.name}, which users hold, may {english}{by.english}: "
                    "take it out",
                    f"用户持有的 {role.kind} {role.name} 可以{chinese}{by.chinese}：请去掉",
                )
                yield about("tenants-fenced", text, each)
            for other in role.taken_by(planned, rules):
                if not other.is_known(planned):
                    yield _unknown(each, other)
                elif other not in seen:
                    seen.add(other)
                    left.append(other)


def _objects(planned: Planned, role: _Held) -> Iterator[tuple[Manifest, list[Mapping[str, Any]]]]:
    """Yield the objects that say what a role holds, with their rules.

    One of Kubernetes' own is not in the plan, and the cluster gathers into it whatever has its
    label (kubernetes.io/docs, "Aggregated ClusterRoles").
    """
    planned_ones = planned.all_named(role.kind, role.name, role.namespace)
    yield from ((each, list(_rules(planned, each))) for each in planned_ones)
    if not planned_ones and role.kind == "ClusterRole":
        for other in _gathered(planned, {f"{RBAC}/aggregate-to-{role.name}": "true"}):
            yield other, list(mappings(other.object, "rules"))


def _unknown(giver: Manifest, role: _Held) -> Finding:
    text = Text(
        f"{giver.kind} {giver.name} gives users {role.kind} {role.name}, which is not in the plan "
        "and may hold anything: give them a role of the plan",
        f"{giver.kind} {giver.name} 授予用户 {role.kind} {role.name}，它不在计划中，权限不明："
        "请改用计划中的角色",
    )
    return about("tenants-fenced", text, giver)


def _rules(planned: Planned, role: Manifest) -> Iterator[Mapping[str, Any]]:
    """Yield a role's rules, and those that are gathered into it by their labels."""
    yield from mappings(role.object, "rules")
    for selector in mappings(role.object, "aggregationRule", "clusterRoleSelectors"):
        for other in _gathered(planned, mapping(selector, "matchLabels")):
            yield from mappings(other.object, "rules")


def _gathered(planned: Planned, wanted: Mapping[str, Any]) -> Iterator[Manifest]:
    """Yield the cluster roles of the plan that have these labels."""
    for each in planned.of_kind("ClusterRole"):
        if wanted.items() <= mapping(each.object, "metadata", "labels").items():
            yield each


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
        # Who may submit a pod acts as each account of the namespace.
        for beginning in (_ACCOUNTS, _ACCOUNT):
            if name.startswith(beginning):
                return name.removeprefix(beginning).partition(":")[0] in self.namespaces
        if kind == "Group":
            return name not in _NO_TENANTS
        return name in _EVERYBODY or name in self.logins
