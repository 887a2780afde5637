"""A namespace for each project, and who may do what in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tallyard import labels
from tallyard.render.manifest import Manifest, manifest
from tallyard.spec.model import Platform

_RBAC_GROUP = "rbac.authorization.k8s.io"


def namespace_manifests(platform: Platform) -> Iterator[Manifest]:
    """Yield one namespace for each project."""
    for project in platform.projects.values():
        yield manifest(
            "namespace",
            name=project.namespace,
            project=project.id,
            annotations={labels.PROJECT_KEY: project.key},
        )


def role_manifests(platform: Platform) -> Iterator[Manifest]:
    """Yield the roles and who holds them.

    A member works in the project's namespace. Everyone whom the spec names may read the
    quotas. Operators may read all of it; only administrators write queues.
    """
    yield manifest("role-member", name=labels.MEMBER_ROLE)
    yield manifest("role-reader", name=labels.READER_ROLE)
    yield manifest("role-operator", name=labels.OPERATOR_ROLE)
    yield manifest(
        "cluster-role-binding",
        name=labels.OPERATOR_ROLE,
        role=labels.OPERATOR_ROLE,
        subjects=_subjects("Group", [labels.OPERATOR_GROUP]),
    )
    yield manifest(
        "cluster-role-binding",
        name=labels.READER_ROLE,
        role=labels.READER_ROLE,
        subjects=_subjects("User", _all_logins(platform)),
    )
    for project in platform.projects.values():
        yield manifest(
            "role-binding",
            name=labels.MEMBER_ROLE,
            namespace=project.namespace,
            project=project.id,
            role=labels.MEMBER_ROLE,
            subjects=_subjects("User", (login for user in project.users for login in user.logins)),
        )


def _subjects(kind: str, names: Iterable[str]) -> list[Mapping[str, str]]:
    return [{"apiGroup": _RBAC_GROUP, "kind": kind, "name": name} for name in names]


def _all_logins(platform: Platform) -> list[str]:
    """Return each login once: a person may be in several projects."""
    logins = (
        login
        for project in platform.projects.values()
        for user in project.users
        for login in user.logins
    )
    return list(dict.fromkeys(logins))
