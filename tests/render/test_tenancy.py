"""A project's namespace: what its pods must be like, what they are given, and whose it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tallyard import labels
from tallyard.render.tenancy import POD_SECURITY_VERSION
from tallyard.spec.model import Platform
from tallyard.spec.versions import read_versions
from tests.spec.specs import STACKS

type Objects = Mapping[tuple[str, str], Mapping[str, Any]]


def _groups(objects: Objects) -> list[Mapping[str, Any]]:
    return [
        group
        for (kind, _), item in objects.items()
        if kind == "ClusterQueue"
        for group in item["spec"]["resourceGroups"]
    ]


def test_what_a_container_is_given_is_counted_by_every_queue(objects: Objects) -> None:
    """Kueue counts it too: one resource that no queue covers, and no work is ever admitted."""
    given = {
        resource
        for (kind, _), item in objects.items()
        if kind == "LimitRange"
        for limit in item["spec"]["limits"]
        for resource in limit["defaultRequest"]
    }
    assert {"cpu", "memory", "ephemeral-storage"} == given
    groups = _groups(objects)
    assert groups
    for group in groups:
        assert given <= set(group["coveredResources"])


def test_every_project_has_the_defaults_and_no_bound(platform: Platform, objects: Objects) -> None:
    for project in platform.projects.values():
        found = objects["LimitRange", f"{project.namespace}/{labels.CONTAINER_DEFAULTS}"]
        (limit,) = found["spec"]["limits"]
        assert limit["type"] == "Container"
        assert limit["defaultRequest"]["ephemeral-storage"] == platform.defaults.ephemeral_storage
        assert set(limit) == {"type", "defaultRequest"}


def test_pods_are_held_to_the_strictest_standard_in_the_version_that_is_the_floor(
    platform: Platform, objects: Objects
) -> None:
    floor = read_versions(STACKS / "versions.yaml").kubernetes.floor
    assert f"v{floor}" == POD_SECURITY_VERSION
    for project in platform.projects.values():
        found = objects["Namespace", project.namespace]["metadata"]["labels"]
        for mode in ("enforce", "warn", "audit"):
            assert found[f"pod-security.kubernetes.io/{mode}"] == "restricted"
            assert found[f"pod-security.kubernetes.io/{mode}-version"] == POD_SECURITY_VERSION


def test_a_projects_admin_is_a_member_with_a_role_beside_it(objects: Objects) -> None:
    def names(role: str) -> list[str]:
        binding = objects["RoleBinding", f"nlp/{role}"]
        assert binding["roleRef"]["name"] == role
        return [subject["name"] for subject in binding["subjects"]]

    assert names(labels.ADMIN_ROLE) == ["chen.yu"]
    assert set(names(labels.ADMIN_ROLE)) < set(names(labels.MEMBER_ROLE))
    # A project without one has the binding all the same, and nobody in it.
    assert "subjects" not in objects["RoleBinding", f"vision/{labels.ADMIN_ROLE}"]


def test_an_admin_may_bind_the_members_role_and_no_other(objects: Objects) -> None:
    rules = objects["ClusterRole", labels.ADMIN_ROLE]["rules"]
    (bind,) = (rule for rule in rules if "bind" in rule["verbs"])
    assert bind["resourceNames"] == [labels.MEMBER_ROLE]
    assert bind["verbs"] == ["bind"]
    assert not any("escalate" in rule["verbs"] for rule in rules)
