"""A namespace for each project, and who may do what in it."""

from __future__ import annotations

from collections.abc import Iterator

from tallyard.render.manifest import Manifest, manifest
from tallyard.spec.model import Platform

MEMBER_ROLE = "tallyard:member"
READER_ROLE = "tallyard:reader"
OPERATOR_ROLE = "tallyard:operator"
OPERATOR_GROUP = "tallyard:operators"


def namespace_manifests(platform: Platform) -> Iterator[Manifest]:
    """Yield one namespace for each project."""
    for project in platform.projects.values():
        yield manifest("namespace", name=project.namespace, project=project.id)


def role_manifests(platform: Platform) -> Iterator[Manifest]:
    """Yield the roles and who holds them.

    A member works in the project's namespace. Everyone whom the spec names may read the
    quotas. Operators may read all of it; only administrators write queues.
    """
    yield manifest("role-member", name=MEMBER_ROLE)
    yield manifest("role-reader", name=READER_ROLE)
    yield manifest("role-operator", name=OPERATOR_ROLE)
    yield manifest(
        "cluster-role-binding",
        name=OPERATOR_ROLE,
        role=OPERATOR_ROLE,
        subjects=[{"kind": "Group", "name": OPERATOR_GROUP}],
    )
    yield manifest(
        "cluster-role-binding",
        name=READER_ROLE,
        role=READER_ROLE,
        subjects=[{"kind": "User", "name": login} for login in _all_logins(platform)],
    )
    for project in platform.projects.values():
        yield manifest(
            "role-binding",
            name=MEMBER_ROLE,
            namespace=project.namespace,
            project=project.id,
            role=MEMBER_ROLE,
            subjects=[
                {"kind": "User", "name": login} for user in project.users for login in user.logins
            ],
        )


def _all_logins(platform: Platform) -> list[str]:
    """Return each login once: a person may be in several projects."""
    logins = (
        login
        for project in platform.projects.values()
        for user in project.users
        for login in user.logins
    )
    return list(dict.fromkeys(logins))
