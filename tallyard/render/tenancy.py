"""A namespace for each project, what its pods must be like, and who may do what in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tallyard import labels
from tallyard.render.capacity import CPU, MEMORY, STORAGE
from tallyard.render.manifest import Manifest, manifest
from tallyard.spec.model import Platform, Project, User

_RBAC_GROUP = "rbac.authorization.k8s.io"

# Kubernetes refuses what could leave its container, tells whoever submits such a template, and
# notes it. The version is the floor of stacks/versions.yaml: a newer cluster may know more
# rules, and none of them comes into force by an upgrade alone.
POD_SECURITY_LEVEL = "restricted"
POD_SECURITY_VERSION = "v1.36"

# What a container gets that asks for nothing, so that it is counted at all: a small share of
# any host. Work with cards is given more for each card.
DEFAULT_CPU = "1"
DEFAULT_MEMORY = "1Gi"


def namespace_manifests(platform: Platform) -> Iterator[Manifest]:
    """Yield one namespace for each project."""
    for project in platform.projects.values():
        yield manifest(
            "namespace",
            name=project.namespace,
            project=project.id,
            annotations={labels.PROJECT_KEY: project.key},
            pod_security=pod_security(),
        )


def limit_range_manifests(platform: Platform) -> Iterator[Manifest]:
    """Yield what a container of each project asks for when it names nothing.

    Kueue counts these defaults too, so every resource in them must be one that every queue
    covers: a work that gets another one by itself would wait for ever.
    """
    for project in platform.projects.values():
        yield manifest(
            "limit-range",
            name=labels.CONTAINER_DEFAULTS,
            namespace=project.namespace,
            project=project.id,
            requests={
                CPU: DEFAULT_CPU,
                MEMORY: DEFAULT_MEMORY,
                STORAGE: platform.defaults.ephemeral_storage,
            },
        )


def role_manifests(platform: Platform) -> Iterator[Manifest]:
    """Yield the roles and who holds them.

    A member works in the project's namespace; a project's admin is a member who also says who
    else is one. Everyone whom the spec names may read the quotas. Operators may read all of
    it; only the platform's administrators write queues.
    """
    yield manifest("role-member", name=labels.MEMBER_ROLE)
    yield manifest("role-admin", name=labels.ADMIN_ROLE)
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
        yield _binding(project, labels.MEMBER_ROLE, project.users)
        yield _binding(project, labels.ADMIN_ROLE, (u for u in project.users if u.is_admin))


def pod_security() -> Mapping[str, str]:
    """Return the labels of a namespace that hold its pods to the level above."""
    prefix = "pod-security.kubernetes.io"
    modes = ("audit", "enforce", "warn")
    return {f"{prefix}/{mode}": POD_SECURITY_LEVEL for mode in modes} | {
        f"{prefix}/{mode}-version": POD_SECURITY_VERSION for mode in modes
    }


def _binding(project: Project, role: str, users: Iterable[User]) -> Manifest:
    """Return who holds a role in a project; with nobody in it too, so that it stays the same."""
    return manifest(
        "role-binding",
        name=role,
        namespace=project.namespace,
        project=project.id,
        role=role,
        subjects=_subjects("User", (login for user in users for login in user.logins)),
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
