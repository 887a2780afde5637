"""Everything that is in a cluster, and everything that a stack's state says is in it."""

from __future__ import annotations

import json
from dataclasses import dataclass

from tests.running_lab import RunningLab

# What the cluster writes by itself, at any time.
_NEVER = {"Event", "Lease", "PodMetrics", "NodeMetrics", "APIService", "ComponentStatus"}
# What it makes because of something of ours: of each Service, each namespace, each definition.
_FOLLOWS = {"Endpoints", "EndpointSlice", "ReplicaSet", "ControllerRevision", "IPAddress"}
_OF_EACH_NAMESPACE = {("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default")}
# The lab fills these itself, because no key may pass through Pulumi.
_OF_THE_LAB = {
    ("Secret", "kueue-webhook-server-cert"),
    ("Secret", "jobset-webhook-server-cert"),
}
_LINE = "{.apiVersion}|{.kind}|{.metadata.namespace}|{.metadata.name}|{.metadata.deletionTimestamp}"

type Key = tuple[str, str, str]


@dataclass(frozen=True)
class Objects:
    """Kind, namespace (empty for none) and name of each object; `ending` are being deleted."""

    keys: frozenset[Key]
    ending: frozenset[Key]

    def made_by_us(self, bare: Objects) -> frozenset[Key]:
        """Return what was not there before, without what follows from it by itself."""
        return frozenset(
            key
            for key in self.keys - bare.keys
            if key[0] not in _FOLLOWS and (key[0], key[2]) not in _OF_EACH_NAMESPACE | _OF_THE_LAB
        )


@dataclass(frozen=True)
class State:
    """The objects in a state, and what should not be in it: operations, duplicates, leftovers."""

    objects: frozenset[Key]
    odd: tuple[str, ...]


def in_cluster(lab: RunningLab) -> Objects:
    """Return every object that can be listed, but those that the cluster writes all the time."""
    names = lab.kubectl("api-resources", "--verbs=list", "-o", "name").stdout.split()
    assert len(names) > 30, names
    template = f'{{range .items[*]}}{_LINE}{{"\\n"}}{{end}}'
    listed = lab.kubectl("get", ",".join(names), "-A", "-o", f"jsonpath={template}")
    assert listed.returncode == 0, listed.stderr
    keys, ending = set(), set()
    for line in listed.stdout.splitlines():
        _, kind, namespace, name, deleted = line.split("|")
        if kind in _NEVER:
            continue
        keys.add((kind, namespace, name))
        if deleted:
            ending.add((kind, namespace, name))
    return Objects(frozenset(keys), frozenset(ending))


def in_state(lab: RunningLab) -> State:
    """Return the objects of a lab's stack."""
    exported = lab.pulumi("stack", "export")
    assert exported.returncode == 0, exported.stderr
    deployment = json.loads(exported.stdout)["deployment"]
    resources = [
        each
        for each in deployment.get("resources", [])
        if each["custom"] and each["type"].startswith("kubernetes:")
    ]
    keys = [_key(each) for each in resources]
    odd = [
        f"pending: {each['type']} {each['resource']['urn']}"
        for each in deployment.get("pending_operations", [])
    ]
    odd += [f"to be deleted: {each['urn']}" for each in resources if each.get("delete")]
    odd += [f"twice: {key}" for key in sorted({k for k in keys if keys.count(k) > 1})]
    return State(frozenset(keys), tuple(odd))


def _key(resource: dict[str, object]) -> Key:
    kind = str(resource["type"]).rpartition(":")[2]
    namespace, _, name = str(resource["id"]).rpartition("/")
    return kind, namespace, name
