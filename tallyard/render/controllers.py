"""Our own namespace: the controllers, what they may do, and the spec that they read.

Not part of `render`: what is made here does not follow from the spec alone, but from its files
as they are written and from how the controllers are run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import yaml

from tallyard import labels
from tallyard.render.manifest import Manifest, manifest
from tallyard.render.tenancy import pod_security

# etcd and the API server take no ConfigMap that is larger.
SPEC_BYTES_MAX = 2**20
REPLICAS = 2
PORT = 8080
_RBAC_GROUP = "rbac.authorization.k8s.io"
# A ConfigMap's key; another name of a file is replaced by a plain one.
_KEY = re.compile(r"[-._a-zA-Z0-9]{1,253}")
_PLAIN_OVERLAY, _PLAIN_BASE = "environment.yaml", "base.yaml"


@dataclass(frozen=True)
class SpecFile:
    """One file of the spec: its own name without a folder, and what is in it."""

    name: str
    text: str


class SpecTooLargeError(Exception):
    """The files do not go into a ConfigMap; the text says how large they are."""


def namespace_manifest() -> Manifest:
    """Return our own namespace."""
    return manifest(
        "namespace",
        name=labels.SYSTEM_NAMESPACE,
        project=None,
        annotations={},
        pod_security=pod_security(),
    )


def access_manifests() -> Iterator[Manifest]:
    """Yield the service accounts and what they may do, nothing that they need not.

    The controllers look at all nodes and change them, take back from queues, cohorts and the
    policies' table what an override gave, tell people by Events, and in their own namespace read
    the spec and hold a lease. The labeller of the playbooks reads and changes
    nodes. Operators read the spec.
    """
    for name in (labels.CONTROLLERS, labels.NODE_LABELLER):
        yield manifest("service-account", name=name, namespace=labels.SYSTEM_NAMESPACE)
    spec = {"group": "", "resource": "configmaps", "names": [labels.SPEC_CONFIG]}
    lease = {"group": "coordination.k8s.io", "resource": "leases"}
    roles = {
        labels.CONTROLLERS_ROLE: [
            _rule("", "nodes", "list", "patch", "watch"),
            _rule(labels.KUEUE_GROUP, "clusterqueues", "get", "patch"),
            _rule(labels.KUEUE_GROUP, "cohorts", "get", "patch"),
            {
                "group": labels.DOMAIN,
                "resource": labels.PROJECT_TABLES,
                "names": [labels.PROJECT_TABLE],
                "verbs": ["get", "patch"],
            },
        ],
        labels.CONTROLLERS_OWN_ROLE: [
            {**spec, "verbs": ["list", "watch"]},
            # A name cannot bound who makes an object, for it has none by then.
            {**lease, "names": [], "verbs": ["create"]},
            {**lease, "names": [labels.CONTROLLERS], "verbs": ["get", "update"]},
        ],
        labels.EVENTS_ROLE: [_rule("", "events", "create", "patch")],
        labels.NODE_LABELLER_ROLE: [_rule("", "nodes", "get", "patch")],
        labels.SPEC_READER_ROLE: [{**spec, "verbs": ["get"]}],
    }
    for role, rules in roles.items():
        yield manifest("cluster-role", name=role, rules=rules)
    yield _everywhere(labels.CONTROLLERS_ROLE, labels.CONTROLLERS)
    yield _everywhere(labels.NODE_LABELLER_ROLE, labels.NODE_LABELLER)
    own = labels.SYSTEM_NAMESPACE
    yield _within(own, labels.CONTROLLERS_OWN_ROLE, [_account(labels.CONTROLLERS)])
    # For the Events about nodes, and about the spec.
    for namespace in (labels.DEFAULT_NAMESPACE, own):
        yield _within(namespace, labels.EVENTS_ROLE, [_account(labels.CONTROLLERS)])
    operators = {"apiGroup": _RBAC_GROUP, "kind": "Group", "name": labels.OPERATOR_GROUP}
    yield _within(own, labels.SPEC_READER_ROLE, [operators])


def spec_manifest(overlay: SpecFile, base: SpecFile) -> Manifest:
    """Return the ConfigMap with the files of an environment.

    Both lie in one folder there, under names that a ConfigMap takes. Where the environment
    names its base otherwise, that one value is changed; all else stays as it is written.

    Args:
        overlay: The environment's file, which names its base.
        base: The platform's file.

    Raises:
        SpecTooLargeError: They are larger than a ConfigMap may be.
    """
    overlay_key = overlay.name if _KEY.fullmatch(overlay.name) else _PLAIN_OVERLAY
    is_usable = _KEY.fullmatch(base.name) and base.name != overlay_key
    base_key = base.name if is_usable else _PLAIN_BASE
    files = {overlay_key: _based_on(overlay.text, base_key), base_key: base.text}
    size = sum(len(text.encode()) for text in files.values())
    if size > SPEC_BYTES_MAX:
        raise SpecTooLargeError(
            f"the spec's files have {size} bytes together, and a ConfigMap, from which the "
            f"controllers read them, takes {SPEC_BYTES_MAX}. Write hosts as ranges and leave out "
            "comments, or serve the projects by two platforms."
        )
    return manifest(
        "config-map",
        name=labels.SPEC_CONFIG,
        namespace=labels.SYSTEM_NAMESPACE,
        annotations={labels.OVERLAY: overlay_key},
        data=files,
    )


def deployment_manifests(image: str) -> Iterator[Manifest]:
    """Yield what runs the controllers within the cluster.

    Args:
        image: The repository and the digest, `<repository>@sha256:<digest>`.
    """
    place = {"name": labels.CONTROLLERS, "namespace": labels.SYSTEM_NAMESPACE}
    selector = {"app.kubernetes.io/name": labels.CONTROLLERS}
    yield manifest("network-policy", **place, selector=selector, port=PORT)
    yield manifest("pod-disruption-budget", **place, selector=selector)
    yield manifest(
        "deployment", **place, selector=selector, image=image, replicas=REPLICAS, port=PORT
    )


def _rule(group: str, resource: str, *verbs: str) -> Mapping[str, object]:
    return {"group": group, "resource": resource, "names": [], "verbs": list(verbs)}


def _account(name: str) -> Mapping[str, str]:
    return {"kind": "ServiceAccount", "name": name, "namespace": labels.SYSTEM_NAMESPACE}


def _everywhere(role: str, account: str) -> Manifest:
    return manifest("cluster-role-binding", name=role, role=role, subjects=[_account(account)])


def _within(namespace: str, role: str, subjects: Iterable[Mapping[str, str]]) -> Manifest:
    return manifest(
        "role-binding",
        name=role,
        namespace=namespace,
        project=None,
        role=role,
        subjects=list(subjects),
    )


def _based_on(text: str, base: str) -> str:
    """Return an environment's text with another value of `base`, the same one unchanged."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    values = getattr(root, "value", ())
    found = next((value for key, value in values if key.value == "base"), None)
    if found is None or found.value == base:
        return text
    begin, end = found.start_mark.index, found.end_mark.index
    return f"{text[:begin]}{json.dumps(base)}{text[end:]}"
