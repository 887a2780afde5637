"""The table of immutable fields is what the API servers of Kubernetes and Kueue really refuse."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from tallyard import labels
from tallyard.render.immutable import IMMUTABLE
from tallyard.render.platform import render
from tallyard.spec.model import Platform
from tests.running_lab import RunningLab

# Kinds of which the spec renders none, as small as they can be; nothing of them runs.
_POD = {"containers": [{"name": "main", "image": "registry.example.com/x:1"}]}
_TEMPLATE = {"metadata": {"labels": {"app": "immutable"}}, "spec": _POD}
_SAMPLES: tuple[dict[str, Any], ...] = (
    {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "spec": {
            "suspend": False,
            "parallelism": 0,
            "completions": 3,
            "completionMode": "Indexed",
            "template": {"spec": {**_POD, "restartPolicy": "Never"}},
        },
    },
    {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": {"app": "immutable"}},
            "template": _TEMPLATE,
        },
    },
    {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "spec": {
            "replicas": 0,
            "serviceName": "immutable",
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": {"app": "immutable"}},
            "template": _TEMPLATE,
        },
    },
    {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": "immutable",
            "volumeMode": "Filesystem",
        },
    },
    {
        "apiVersion": f"{labels.KUEUE_API}",
        "kind": "AdmissionCheck",
        "spec": {"controllerName": "tallyard.dev/immutable"},
    },
)
# What each field is changed to; where it depends on the object, `_other` says so.
_OTHERS: dict[str, Any] = {
    "preemptionPolicy": "PreemptLowerPriority",
    "spec.topologyName": None,
    "spec.clusterQueue": "another",
    "spec.controllerName": "tallyard.dev/another",
    "spec.accessModes": ["ReadOnlyMany"],
    "spec.storageClassName": "another",
    "spec.volumeMode": "Block",
    "spec.dataSource": {"kind": "PersistentVolumeClaim", "name": "another"},
    "spec.dataSourceRef": {"kind": "PersistentVolumeClaim", "name": "another"},
    "spec.completions": 5,
    "spec.completionMode": "NonIndexed",
    "spec.serviceName": "another",
    "spec.podManagementPolicy": "OrderedReady",
    "spec.managedBy": "example.com/another",
    "spec.backoffLimitPerIndex": 1,
    "spec.successPolicy": {"rules": [{"succeededCount": 1}]},
    "spec.podFailurePolicy": {
        "rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [7]}}]
    },
    "spec.selector": {"matchLabels": {"app": "another"}},
    "spec.nodeLabels": {labels.GPU_MODEL: "another"},
    "spec.tolerations": [],
    "spec.scope": "Namespaced",
    "spec.group": "example.com",
    "spec.names.kind": "Another",
    "spec.names.plural": "anothers",
    "spec.levels": [{"nodeLabel": labels.NODE_HOSTNAME}],
    "spec.volumeClaimTemplates": [
        {
            "metadata": {"name": "data"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
        }
    ],
}
# Rules that are ours and not an API server's.
_OURS = {("WorkloadPriorityClass", "value")}
_CASES = [(kind, rule.field) for kind, rules in IMMUTABLE.items() for rule in rules]


@pytest.fixture(scope="module")
def present(full_lab: RunningLab, platform: Platform) -> Iterator[dict[str, dict[str, Any]]]:
    """One object of each kind of the table, as the server has it."""
    objects = {each.kind: dict(each.object) for each in render(platform)}
    samples = []
    for sample in _SAMPLES:
        metadata = {"name": "immutable"}
        if sample["kind"] != "AdmissionCheck":
            metadata["namespace"] = "default"
        samples.append({**sample, "metadata": metadata})
    made = full_lab.kubectl("create", "-f", "-", objects=samples)
    assert made.returncode == 0, made.stderr
    objects |= {sample["kind"]: sample for sample in samples}
    try:
        yield {kind: _live(full_lab, objects[kind]) for kind in IMMUTABLE}
    finally:
        full_lab.kubectl("delete", "-f", "-", "--wait=false", objects=samples)


@pytest.mark.parametrize(("kind", "field"), _CASES, ids=str)
def test_the_server_refuses_another_value(
    kind: str, field: str, full_lab: RunningLab, present: dict[str, dict[str, Any]]
) -> None:
    changed = _with(present[kind], field, _other(present[kind], field))
    assert changed != present[kind]
    told = full_lab.kubectl("replace", "--dry-run=server", "-f", "-", objects=[changed])
    if (kind, field) in _OURS:
        assert told.returncode == 0, told.stderr
        return
    assert told.returncode != 0, f"the server takes another {field} of a {kind}"
    refusals = ("immutable", "Forbidden", "may not", "cannot change")
    assert any(words in told.stderr for words in refusals), told.stderr


def test_a_field_that_the_table_does_not_name_can_be_changed(
    full_lab: RunningLab, present: dict[str, dict[str, Any]]
) -> None:
    """Or the test above would pass for any refusal."""
    changed = _with(present["PriorityClass"], "description", "another")
    told = full_lab.kubectl("replace", "--dry-run=server", "-f", "-", objects=[changed])
    assert told.returncode == 0, told.stderr


def _live(lab: RunningLab, wanted: dict[str, Any]) -> dict[str, Any]:
    metadata = wanted["metadata"]
    group = wanted["apiVersion"].rpartition("/")[0]
    kind = f"{wanted['kind']}.{group}" if group else wanted["kind"]
    namespace = ("-n", metadata["namespace"]) if "namespace" in metadata else ()
    return dict(lab.get(kind, metadata["name"], *namespace))


def _other(found: dict[str, Any], field: str) -> Any:
    if field == "value":
        return found["value"] + 1
    if field == "roleRef":
        return {**found["roleRef"], "name": "another"}
    if field == "spec.template":
        template = copy.deepcopy(found["spec"]["template"])
        template["spec"]["containers"][0]["image"] = "registry.example.com/another:1"
        return template
    return _OTHERS[field]


def _with(found: dict[str, Any], field: str, value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(found)
    changed["metadata"].pop("managedFields", None)
    *above, last = field.split(".")
    here = changed
    for step in above:
        here = here[step]
    if value is None:
        here.pop(last)
    else:
        here[last] = value
    return changed
