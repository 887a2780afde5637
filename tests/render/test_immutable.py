"""Objects that could only be deleted and made again, and objects that go away."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from lab.toolchain.ensure import Toolchain
from tallyard import labels
from tallyard.render.check import Schemas, crd_schemas
from tallyard.render.fates import Fate
from tallyard.render.immutable import IMMUTABLE, removed, replaced, urn_change
from tallyard.render.manifest import Manifest
from tallyard.render.platform import render
from tallyard.spec.model import Level, Platform

type Edit = Callable[[dict[str, Any]], None]


@pytest.fixture(scope="session")
def crds(toolchain: Toolchain) -> Schemas:
    return crd_schemas(toolchain.kueue_chart)


def _edited(manifests: tuple[Manifest, ...], kind: str, edit: Edit) -> tuple[Manifest, ...]:
    """Return the manifests with the first one of a kind changed."""
    at = next(index for index, each in enumerate(manifests) if each.kind == kind)
    content = deepcopy(dict(manifests[at].object))
    edit(content)
    return (*manifests[:at], Manifest(content), *manifests[at + 1 :])


EDITS: Mapping[tuple[str, str], Edit] = {
    ("PriorityClass", "value"): lambda o: o.update(value=7),
    ("PriorityClass", "preemptionPolicy"): lambda o: o.update(preemptionPolicy="Always"),
    ("WorkloadPriorityClass", "value"): lambda o: o.update(value=7),
    ("ResourceFlavor", "spec.nodeLabels"): lambda o: o["spec"]["nodeLabels"].update(x="y"),
    ("ResourceFlavor", "spec.tolerations"): lambda o: o["spec"].pop("tolerations"),
    ("ResourceFlavor", "spec.topologyName"): lambda o: o["spec"].update(topologyName="t"),
    ("Topology", "spec.levels"): lambda o: o["spec"]["levels"].pop(),
    ("LocalQueue", "spec.clusterQueue"): lambda o: o["spec"].update(clusterQueue="q"),
    ("RoleBinding", "roleRef"): lambda o: o["roleRef"].update(name="r"),
    ("ClusterRoleBinding", "roleRef"): lambda o: o["roleRef"].update(name="r"),
    ("CustomResourceDefinition", "spec.scope"): lambda o: o["spec"].update(scope="Namespaced"),
    ("CustomResourceDefinition", "spec.group"): lambda o: o["spec"].update(group="g"),
    ("CustomResourceDefinition", "spec.names.kind"): lambda o: o["spec"]["names"].update(kind="K"),
    ("CustomResourceDefinition", "spec.names.plural"): (
        lambda o: o["spec"]["names"].update(plural="p")
    ),
}


@pytest.mark.parametrize(("kind", "field"), EDITS, ids=" ".join)
def test_what_is_immutable_can_only_be_made_again(
    kind: str, field: str, manifests: tuple[Manifest, ...]
) -> None:
    after = _edited(manifests, kind, EDITS[kind, field])
    (found,) = replaced(manifests, after)
    assert found.kind == kind
    (change,) = found.fields
    assert change.field == field
    assert change.before != change.after
    assert change.source
    assert removed(manifests, after) == ()


def test_each_field_of_a_rendered_kind_is_tried_above(manifests: tuple[Manifest, ...]) -> None:
    kinds = {each.kind for each in manifests}
    rules = {(kind, rule.field) for kind in kinds for rule in IMMUTABLE.get(kind, ())}
    assert rules == set(EDITS)


CHANGEABLE: Mapping[str, Edit] = {
    "PriorityClass": lambda o: o.update(description="another"),
    "ClusterQueue": lambda o: o["spec"]["fairSharing"].update(weight="9"),
    "Cohort": lambda o: o["spec"].update(parentName="another"),
    "RoleBinding": lambda o: o.pop("subjects"),
    "Namespace": lambda o: o["metadata"]["labels"].update(x="y"),
}


@pytest.mark.parametrize("kind", CHANGEABLE)
def test_everything_else_is_changed_in_place(kind: str, manifests: tuple[Manifest, ...]) -> None:
    after = _edited(manifests, kind, CHANGEABLE[kind])
    assert after != manifests
    assert replaced(manifests, after) == ()


@pytest.mark.parametrize("kind", ["ClusterQueue", "LocalQueue", "Cohort"])
def test_another_version_is_another_object_to_pulumi_and_the_same_to_the_cluster(
    kind: str, manifests: tuple[Manifest, ...]
) -> None:
    after = _edited(manifests, kind, lambda o: o.update(apiVersion="kueue.x-k8s.io/v1beta1"))
    (found,) = replaced(manifests, after)
    assert (found.kind, found.is_moved) == (kind, True)
    (change,) = found.fields
    assert (change.field, change.after) == ("apiVersion", "kueue.x-k8s.io/v1beta1")


@pytest.mark.parametrize("kind", ["ResourceFlavor", "Topology", "Namespace"])
def test_another_version_of_what_stays_in_the_cluster_deletes_nothing(
    kind: str, manifests: tuple[Manifest, ...]
) -> None:
    after = _edited(manifests, kind, lambda o: o.update(apiVersion="other/v1"))
    assert replaced(manifests, after) == ()


def test_where_the_urns_are_known_they_alone_say_what_is_moved(
    manifests: tuple[Manifest, ...],
) -> None:
    after = _edited(manifests, "Cohort", lambda o: o.update(apiVersion="kueue.x-k8s.io/v1beta1"))
    assert replaced(manifests, after, moved={}) == ()
    queue = next(each for each in manifests if each.kind == "ClusterQueue")
    moved = {(queue.kind, queue.namespace, queue.name): urn_change("urn:old", "urn:new")}
    (found,) = replaced(manifests, after, moved=moved)
    assert (found.name, found.is_moved) == (queue.name, True)
    assert [(each.field, each.before, each.after) for each in found.fields] == [
        ("URN", "urn:old", "urn:new")
    ]


def test_a_flavor_without_a_topology_can_be_changed(manifests: tuple[Manifest, ...]) -> None:
    """Kueue freezes a flavor only from the moment at which it has one."""
    before = _edited(manifests, "ResourceFlavor", lambda o: o["spec"].pop("topologyName"))
    assert replaced(before, manifests) == ()


def test_a_job_is_immutable_where_its_work_is_said() -> None:
    def job(**spec: Any) -> tuple[Manifest, ...]:
        name = {"name": "j", "namespace": "nlp"}
        return (
            Manifest({"apiVersion": "batch/v1", "kind": "Job", "metadata": name, "spec": spec}),
        )

    before = job(template={"a": 1}, completions=2, suspend=False, parallelism=1)
    after = job(template={"a": 2}, completions=3, suspend=True, parallelism=2)
    (found,) = replaced(before, after)
    assert (found.namespace, [each.field for each in found.fields]) == (
        "nlp",
        ["spec.template", "spec.completions"],
    )


def test_a_changed_priority_names_both_of_its_objects(platform: Platform) -> None:
    old = platform.priorities["training"]
    new = {**platform.priorities, "training": replace(old, value=old.value + 1)}
    found = replaced(render(platform), render(replace(platform, priorities=new)))
    assert [(each.kind, each.name) for each in found] == [
        ("PriorityClass", "training"),
        ("WorkloadPriorityClass", "training"),
    ]
    assert all(each.is_refused for each in found)


def test_a_changed_topology_is_a_new_object_beside_the_old_one(platform: Platform) -> None:
    before = render(platform)
    after = render(replace(platform, topology=(Level.RACK, Level.HOST)))
    assert replaced(before, after) == ()
    gone = removed(before, after)
    assert {each.kind for each in gone} == {"Topology", "ResourceFlavor"}
    assert {each.fate for each in gone} == {Fate.KEPT}


def test_of_a_project_that_goes_the_namespace_stays_and_the_queues_do_not(
    platform: Platform,
) -> None:
    projects = {key: each for key, each in platform.projects.items() if key != "vision"}
    gone = removed(render(platform), render(replace(platform, projects=projects)))
    fates = {(each.kind, each.namespace, each.name): each.fate for each in gone}
    assert fates["Namespace", None, "vision"] is Fate.KEPT
    assert fates["ClusterQueue", None, "vision-training"] is Fate.DELETED
    assert fates["LocalQueue", "vision", "training"] is Fate.DELETED
    assert fates["RoleBinding", "vision", labels.MEMBER_ROLE] is Fate.DELETED


def test_the_rules_of_kueues_kinds_are_those_of_its_chart(
    manifests: tuple[Manifest, ...], crds: Schemas
) -> None:
    kinds = {(str(each.object["apiVersion"]), each.kind) for each in manifests}
    ours = {key for key in kinds if key[0] == labels.KUEUE_API}
    assert len(ours) >= 6
    # Its value can be changed; ours is kept equal to its PriorityClass.
    ours.discard((labels.KUEUE_API, "WorkloadPriorityClass"))
    ours.add((labels.KUEUE_API, "AdmissionCheck"))
    for key in ours:
        in_table = {rule.field for rule in IMMUTABLE.get(key[1], ())}
        assert set(_frozen(crds[key])) == in_table, key


def _frozen(schema: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """Yield the fields that a schema's rules do not let change."""
    for rule in schema.get("x-kubernetes-validations", ()):
        if rule["rule"] == "self == oldSelf":
            yield path
        elif found := re.match(r"(\w+) (is|are) immutable", rule["message"]):
            assert "oldSelf" in rule["rule"]
            yield f"{path}.{found[1]}"
    for name, below in schema.get("properties", {}).items():
        yield from _frozen(below, f"{path}.{name}" if path else name)
