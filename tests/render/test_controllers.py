"""Our own namespace as objects: least rights, the spec, and what runs the controllers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from lab.folder import CHECKOUT
from tallyard import labels
from tallyard.controllers.main import parse
from tallyard.render.controllers import (
    SPEC_BYTES_MAX,
    SpecFile,
    SpecTooLargeError,
    access_manifests,
    deployment_manifests,
    namespace_manifest,
    spec_manifest,
)
from tallyard.render.environment import TEMPLATES

CONTAINERFILE = CHECKOUT / "Containerfile"
IMAGE = f"registry.example.com/tallyard/controllers@sha256:{'0' * 64}"
FILES = SpecFile("local.yaml", "base: platform.yaml\n"), SpecFile("platform.yaml", "{}\n")
ALL = (
    namespace_manifest(),
    *access_manifests(),
    spec_manifest(*FILES),
    *deployment_manifests(IMAGE),
)


def test_our_own_namespace_has_these_objects(snapshot: SnapshotAssertion) -> None:
    assert {manifest.path: manifest.object for manifest in ALL} == snapshot


def test_every_object_is_owned_by_one_field_manager() -> None:
    assert len({manifest.path for manifest in ALL}) == len(ALL)
    for manifest in ALL:
        annotations = manifest.object["metadata"]["annotations"]
        assert annotations["pulumi.com/patchFieldManager"] == labels.FIELD_MANAGER


def test_no_right_is_a_wildcard_and_none_writes_but_what_is_said() -> None:
    rules = [
        (manifest.name, rule)
        for manifest in ALL
        if manifest.kind == "ClusterRole"
        for rule in manifest.object["rules"]
    ]
    writes = {
        (name, rule["resources"][0], verb)
        for name, rule in rules
        for verb in rule["verbs"]
        if verb not in {"get", "list", "watch"}
    }
    assert "*" not in str(rules)
    assert writes == {
        (labels.CONTROLLERS_ROLE, "nodes", "patch"),
        # Overrides end by themselves.
        (labels.CONTROLLERS_ROLE, "clusterqueues", "patch"),
        (labels.CONTROLLERS_ROLE, "cohorts", "patch"),
        (labels.CONTROLLERS_ROLE, labels.PROJECT_TABLES, "patch"),
        (labels.CONTROLLERS_OWN_ROLE, "leases", "create"),
        (labels.CONTROLLERS_OWN_ROLE, "leases", "update"),
        (labels.EVENTS_ROLE, "events", "create"),
        (labels.EVENTS_ROLE, "events", "patch"),
        (labels.NODE_LABELLER_ROLE, "nodes", "patch"),
    }


def test_the_pods_are_as_restricted_as_their_namespace_asks() -> None:
    pod = _only("Deployment")["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    (container,) = pod["containers"]
    assert container["securityContext"]["allowPrivilegeEscalation"] is False
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    levels = _only("Namespace")["metadata"]["labels"]
    assert levels["pod-security.kubernetes.io/enforce"] == "restricted"


def test_the_controllers_can_start_while_every_host_waits_for_them() -> None:
    tolerated = _only("Deployment")["spec"]["template"]["spec"]["tolerations"]
    assert labels.UNVERIFIED_TAINT in {toleration["key"] for toleration in tolerated}


def test_each_role_reads_what_it_reads_and_no_more() -> None:
    reads = {
        (manifest.name, rule["resources"][0]): {*rule["verbs"]} & {"get", "list", "watch"}
        for manifest in ALL
        if manifest.kind == "ClusterRole"
        for rule in manifest.object["rules"]
        if "create" not in rule["verbs"]
    }
    assert reads == {
        (labels.CONTROLLERS_ROLE, "nodes"): {"list", "watch"},
        (labels.CONTROLLERS_ROLE, "clusterqueues"): {"get"},
        (labels.CONTROLLERS_ROLE, "cohorts"): {"get"},
        (labels.CONTROLLERS_ROLE, labels.PROJECT_TABLES): {"get"},
        (labels.CONTROLLERS_OWN_ROLE, "configmaps"): {"list", "watch"},
        (labels.CONTROLLERS_OWN_ROLE, "leases"): {"get"},
        (labels.NODE_LABELLER_ROLE, "nodes"): {"get"},
        (labels.SPEC_READER_ROLE, "configmaps"): {"get"},
    }


def test_the_pods_and_the_image_name_one_user() -> None:
    user, group = re.findall(r"(?m)^USER (\d+):(\d+)$", CONTAINERFILE.read_text())[0]
    context = _only("Deployment")["spec"]["template"]["spec"]["securityContext"]
    assert {str(context[key]) for key in ("runAsUser", "runAsGroup", "fsGroup")} == {user}
    assert user == group


def test_the_port_that_is_listened_on_is_the_one_that_is_let_in_and_probed() -> None:
    (container,) = _only("Deployment")["spec"]["template"]["spec"]["containers"]
    options = parse(container["args"])
    (port,) = container["ports"]
    assert port["containerPort"] == options.port
    ((ingress,),) = (rule["ports"] for rule in _only("NetworkPolicy")["spec"]["ingress"])
    assert ingress["port"] == options.port
    for probe in ("livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"]["port"] == port["name"]


def test_a_spec_that_is_too_large_is_refused_with_both_figures() -> None:
    large = SpecFile("platform.yaml", "语" * (SPEC_BYTES_MAX // 3))
    with pytest.raises(SpecTooLargeError, match=rf"{SPEC_BYTES_MAX}\.") as refused:
        spec_manifest(FILES[0], large)
    assert re.search(r"files have 104\d{4} bytes", str(refused.value))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("base: platform.yaml # ours\nnodes: []\n", "base: platform.yaml # ours\nnodes: []\n"),
        ("nodes: []\nbase: '../p.yaml'\n", 'nodes: []\nbase: "platform.yaml"\n'),
        ("{base: /a/平台.yaml, nodes: []}\n", '{base: "platform.yaml", nodes: []}\n'),
    ],
)
def test_only_the_name_of_the_base_is_changed_and_only_where_it_must_be(
    text: str, written: str
) -> None:
    config = spec_manifest(SpecFile("local.yaml", text), SpecFile("platform.yaml", "")).object
    assert config["data"]["local.yaml"] == written


def test_the_templates_of_our_own_namespace_are_all_used() -> None:
    own = {"service-account", "config-map", "network-policy", "pod-disruption-budget", "deployment"}
    kinds = {re.sub(r"(?<!^)(?=[A-Z])", "-", manifest.kind).lower() for manifest in ALL}
    assert own | {"cluster-role"} <= kinds
    assert all((TEMPLATES / f"{name}.yaml.j2").exists() for name in own)


def _only(kind: str) -> Mapping[str, Any]:
    (found,) = (manifest.object for manifest in ALL if manifest.kind == kind)
    return found
