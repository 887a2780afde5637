from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from syrupy.assertion import SnapshotAssertion

from lab import kueue_manager
from tallyard import labels
from tallyard.render.environment import TEMPLATES
from tallyard.render.manifest import Manifest
from tallyard.render.platform import render
from tallyard.spec.model import Platform, User
from tests.render.test_controllers import ALL as OUR_OWN

type Objects = Mapping[tuple[str, str], Mapping[str, Any]]


def test_the_shipped_spec_renders_to_these_objects(
    manifests: tuple[Manifest, ...], snapshot: SnapshotAssertion
) -> None:
    # What the policies are is tried on an API server, rule by rule.
    of_policies = {"MutatingAdmissionPolicy", "ValidatingAdmissionPolicy"}
    assert {m.path: m.object for m in manifests if m.kind not in of_policies} == snapshot


def test_the_same_spec_gives_the_same_objects(
    platform: Platform, manifests: tuple[Manifest, ...]
) -> None:
    assert render(platform) == manifests


def test_no_two_objects_go_into_one_file(manifests: tuple[Manifest, ...]) -> None:
    assert len({m.path for m in manifests}) == len(manifests) > 0


def test_users_add_no_object(platform: Platform, manifests: tuple[Manifest, ...]) -> None:
    """What Pulumi keeps and compares grows with projects; a thousand users are no resource."""
    nlp = platform.projects["nlp"]
    more = tuple(User(f"user-{n}", (f"oidc:{n}@corp.example",), 100) for n in range(1000))
    larger = replace(
        platform, projects={**platform.projects, "nlp": replace(nlp, users=nlp.users + more)}
    )
    assert [m.path for m in render(larger)] == [m.path for m in manifests]


def test_every_object_is_owned_by_one_field_manager_and_repaired_by_force(
    manifests: tuple[Manifest, ...],
) -> None:
    for manifest in manifests:
        annotations = manifest.object["metadata"]["annotations"]
        assert annotations["pulumi.com/patchFieldManager"] == labels.FIELD_MANAGER
        assert annotations["pulumi.com/patchForce"] == "true"


def test_a_rank_becomes_a_pair_with_one_value_and_the_scheduler_never_preempts(
    platform: Platform, objects: Objects
) -> None:
    for priority in platform.priorities.values():
        pod = objects["PriorityClass", priority.name]
        workload = objects["WorkloadPriorityClass", priority.name]
        assert pod["value"] == workload["value"] == priority.value
        assert pod["preemptionPolicy"] == "Never"


def test_a_person_works_only_in_the_namespaces_of_their_projects(objects: Objects) -> None:
    binding = objects["RoleBinding", "nlp/tallyard:member"]
    assert [s["name"] for s in binding["subjects"]] == ["oidc:li.wei@corp.example", "chen.yu"]
    assert binding["roleRef"]["kind"] == "ClusterRole"


def test_members_cannot_write_what_decides_quota_or_identity(objects: Objects) -> None:
    """A member creates work; queues, workloads, roles, namespaces and nodes are not theirs.

    A pod may be made and not changed.
    """
    rules = objects["ClusterRole", "tallyard:member"]["rules"]
    makes, changes = (
        {resource for rule in rules if verbs & set(rule["verbs"]) for resource in rule["resources"]}
        for verbs in ({"create"}, {"update", "patch"})
    )
    decides = {
        "localqueues", "workloads", "clusterqueues", "namespaces", "nodes", "roles",
        "rolebindings", "pods", "pods/ephemeralcontainers", "priorityclasses", "limitranges",
        "resourcequotas", "*",
    }  # fmt: skip
    assert "jobs" in makes & changes
    assert makes & decides == {"pods"}
    assert not changes & decides


def test_every_template_is_used(manifests: tuple[Manifest, ...]) -> None:
    shapes = {p.name.removesuffix(".yaml.j2") for p in TEMPLATES.glob("[!_]*.j2")}
    everything = (*manifests, *OUR_OWN)
    rendered = {_SHAPES.get(m.kind, _dashed(m.kind)) for m in everything}
    roles = {"role-admin", "role-member", "role-operator", "role-reader"}
    assert shapes - roles == rendered


_SHAPES = {
    "CustomResourceDefinition": "crd-project-table",
    "MutatingAdmissionPolicy": "mutating-policy",
    "MutatingAdmissionPolicyBinding": "mutating-binding",
    "ValidatingAdmissionPolicy": "validating-policy",
    "ValidatingAdmissionPolicyBinding": "validating-binding",
}


def _dashed(kind: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "-", kind).lower()


def test_a_projects_namespace_and_queues_tell_what_people_call_it(platform: Platform) -> None:
    """`id` is what labels and names have; the key may be any text."""
    key, project = next(iter(platform.projects.items()))
    renamed = replace(project, key="语言: no", id="p7")
    told = replace(platform, projects={**platform.projects, key: renamed})
    own = [m for m in render(told) if m.object["metadata"]["labels"].get(labels.PROJECT) == "p7"]
    keys = {m.kind: m.object["metadata"]["annotations"].get(labels.PROJECT_KEY) for m in own}
    assert keys["Namespace"] == keys["ClusterQueue"] == "语言: no"


def test_operators_may_read_each_kind_of_kueue_and_write_none(
    objects: Objects,
) -> None:
    (rule,) = (
        rule
        for rule in objects["ClusterRole", labels.OPERATOR_ROLE]["rules"]
        if labels.KUEUE_GROUP in rule["apiGroups"]
    )
    assert rule["resources"] == list(kueue_manager.KIND.definitions)
    assert rule["verbs"] == ["get", "list", "watch"]
