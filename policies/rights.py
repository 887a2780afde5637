"""What no role of a tenant may hold, by the rules of the role."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from policies.finding import Text
from policies.planned import items, texts
from tallyard import labels

_WRITING = frozenset({"create", "update", "patch", "delete", "deletecollection", "*"})
_READING = frozenset({"get", "list", "watch", "*"})
RBAC = "rbac.authorization.k8s.io"
# Whole groups, and single resources of a group, that give cards or open the gate.
_GROUPS = frozenset(
    {labels.KUEUE_GROUP, "admissionregistration.k8s.io", labels.DOMAIN, "scheduling.k8s.io", "*"}
)
_RESOURCES: Mapping[str, frozenset[str]] = {
    "": frozenset(
        {
            *("limitranges", "namespaces", "nodes", "resourcequotas"),
            # Past the scheduler, or past what was looked at when the pod was made.
            *("bindings", "pods/binding", "pods/ephemeralcontainers", "pods/resize", "pods/status"),
            # Their pods come from a controller, at which the admission policies do not look, as
            # they have looked at what it was made for; at these they have not.
            "replicationcontrollers",
        }
    ),
    "apps": frozenset({"daemonsets", "replicasets"}),
    RBAC: frozenset({"clusterroles", "clusterrolebindings", "roles"}),
    "apiextensions.k8s.io": frozenset({"customresourcedefinitions"}),
}
# A pod is made and unmade, never changed.
_CHANGING = frozenset({"update", "patch", "*"})
# What hands on rights, and so belongs to a project's admins alone.
_MANAGING: Mapping[str, frozenset[str]] = {
    "": frozenset({"serviceaccounts/token"}),
    RBAC: frozenset({"rolebindings"}),
}
# Whoever asks what he may do changes nothing by it.
_ASKING = frozenset({"authorization.k8s.io", "authentication.k8s.io"})
_ESCAPES = frozenset({"escalate", "impersonate"})
# Each of them has the secrets among what it names.
_SECRETS = frozenset({"secrets", "*"})
# Whom `*` lets one act as.
_PERSONS = frozenset({"users", "groups", "serviceaccounts", "userextras", "uids", "*"})


def harm(
    rules: Iterable[Mapping[str, Any]], *, is_wide: bool, manages: bool
) -> Iterator[tuple[str, str]]:
    """Yield what a role's rules let its holders do that no tenant may.

    Args:
        rules: the role's.
        is_wide: whether it is held beyond the namespace of a project; there a tenant reads only,
            and no secrets.
        manages: whether it is that of a project's admins, in its namespace.
    """
    for rule in rules:
        yield from _taking(rule)
        verbs = texts(rule, "verbs")
        for group in sorted(texts(rule, "apiGroups")):
            for resource in sorted(texts(rule, "resources")):
                name = f"{resource}.{group}" if group else resource
                if _is_refused(verbs, group, resource, is_wide=is_wide, manages=manages):
                    yield Text(f"write {name}", f"写 {name}")
                elif is_wide and verbs & _READING and group in ("", "*") and resource in _SECRETS:
                    yield Text(
                        "read the secrets of namespaces that are not their own",
                        "读取其他命名空间的 secrets",
                    )


def _taking(rule: Mapping[str, Any]) -> Iterator[Text]:
    verbs = texts(rule, "verbs")
    taken = verbs & _ESCAPES
    if "bind" in verbs and not items(rule, "resourceNames"):
        taken |= {"bind"}
    if "*" in verbs and texts(rule, "resources") & _PERSONS:
        taken |= {"impersonate"}
    if taken:
        what = ", ".join(sorted(taken))
        yield Text(f"take rights that it has not ({what})", f"获取本不具有的权限（{what}）")


def _is_refused(
    verbs: frozenset[str], group: str, resource: str, *, is_wide: bool, manages: bool
) -> bool:
    # Through a subresource such as `exec`, `get` does what it is there for.
    acts = verbs & _WRITING or ("/" in resource and resource != "pods/log" and verbs & {"get"})
    if is_wide and acts and group not in _ASKING:
        return True
    if not verbs & _WRITING:
        return False
    # A subresource, as `status` or `finalize`, is written by itself.
    whole = resource.partition("/")[0]
    if group in _GROUPS or whole == "*" or {whole, resource} & _RESOURCES.get(group, frozenset()):
        return True
    if (group, resource) == ("", "pods") and verbs & _CHANGING:
        return True
    return not manages and resource in _MANAGING.get(group, ())
