"""The Pulumi program on a real control plane, as a person runs it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lab.folder import CHECKOUT
from tallyard.cluster.client import connect
from tallyard.cluster.dry_run import server_dry_run
from tallyard.render.manifest import Manifest
from tallyard.render.platform import render
from tallyard.spec.model import Platform
from tests.running_lab import RunningLab

NO_CHANGES = 0
# One stack takes one operation at a time.
pytestmark = pytest.mark.xdist_group("stack-of-the-full-lab")


def _config(tmp_path: Path, overlay: Path) -> str:
    """Return a stack file that names another spec; it also has the lab's salt."""
    shipped = (CHECKOUT / "stacks" / "Pulumi.local.yaml").read_text()
    file = tmp_path / "Pulumi.local.yaml"
    file.write_text(shipped.replace("overlay: local.yaml", f"overlay: {overlay}"))
    return str(file)


def _state(lab: RunningLab) -> Mapping[str, Any]:
    """Return the stack's state: its resources by URN, with what they are."""
    exported = json.loads(lab.pulumi("stack", "export").stdout)
    return {
        resource["urn"]: (resource["type"], resource.get("inputs"))
        for resource in exported["deployment"]["resources"]
    }


def _told(done: Any) -> str:
    return str(done.stdout + done.stderr)


def test_a_second_up_changes_nothing(full_lab: RunningLab) -> None:
    done = full_lab.pulumi("up", "--yes", "--skip-preview", "--expect-no-changes")
    assert done.returncode == NO_CHANGES, _told(done)
    assert "unchanged" in done.stdout


def test_the_state_agrees_with_the_cluster(full_lab: RunningLab) -> None:
    done = full_lab.pulumi("preview", "--refresh", "--expect-no-changes")
    assert done.returncode == NO_CHANGES, _told(done)


def test_the_api_server_would_take_every_object_as_it_is_rendered(
    full_lab: RunningLab, platform: Platform
) -> None:
    objects = [dict(manifest.object) for manifest in render(platform)]
    assert len(objects) > 30
    with connect(path=str(full_lab.folder.admin)) as admin:
        assert server_dry_run(objects, admin) == ()


def test_every_rendered_object_is_in_the_cluster_and_of_one_field_manager(
    full_lab: RunningLab, platform: Platform
) -> None:
    for manifest in render(platform):
        place = ["-n", manifest.namespace] if manifest.namespace else []
        kind = _resource(manifest)
        found = full_lab.get(kind, manifest.name, *place, "--show-managed-fields")
        managers = {m["manager"] for m in found["metadata"]["managedFields"] if _owns_spec(m)}
        assert managers <= {"tallyard"}, manifest.path


def test_a_hand_edit_is_seen_and_repaired(full_lab: RunningLab) -> None:
    """One of a field that the spec decides, one of a field that is Kueue's default."""
    quota = "/spec/resourceGroups/0/flavors/0/resources/4/nominalQuota"
    edits = [
        {"op": "replace", "path": quota, "value": "99"},
        {"op": "replace", "path": "/spec/queueingStrategy", "value": "StrictFIFO"},
    ]
    edited = full_lab.kubectl(
        "patch", "clusterqueue", "vision-training", "--type=json", "-p", json.dumps(edits)
    )
    assert edited.returncode == 0, edited.stderr
    seen = full_lab.pulumi("preview", "--refresh", "--expect-no-changes", "--diff")
    repaired = full_lab.pulumi("up", "--yes", "--skip-preview", "--refresh")
    assert seen.returncode != NO_CHANGES
    assert "StrictFIFO" in seen.stdout
    assert "99" in seen.stdout
    assert repaired.returncode == 0, _told(repaired)
    spec = full_lab.get("clusterqueue", "vision-training")["spec"]
    assert spec["queueingStrategy"] == "BestEffortFIFO"
    assert spec["resourceGroups"][0]["flavors"][0]["resources"][4]["nominalQuota"] == "2"


def test_another_cluster_is_refused_before_anything_is_registered(
    full_lab: RunningLab, shared_lab: RunningLab
) -> None:
    before = _state(full_lab)
    done = full_lab.pulumi(
        *("up", "--yes", "--skip-preview"),
        KUBECONFIG=str(shared_lab.folder.admin),
        TALLYARD_KUBE_CONTEXT=None,
    )
    assert done.returncode != 0
    assert "is not this stack's cluster" in _told(done)
    assert "Nothing was changed" in _told(done)
    assert "Traceback" not in _told(done)
    assert _state(full_lab) == before
    foreign = shared_lab.kubectl("get", "namespace", "kueue-system")
    assert "not found" in foreign.stderr


def test_no_kubeconfig_is_one_clear_message(full_lab: RunningLab, tmp_path: Path) -> None:
    done = full_lab.pulumi("preview", KUBECONFIG=str(tmp_path / "none"))
    assert done.returncode != 0
    assert "no kubeconfig" in _told(done)
    assert "Traceback" not in _told(done)


def test_a_cluster_that_does_not_answer_leaves_the_state_as_it_is(
    full_lab: RunningLab, tmp_path: Path
) -> None:
    before = _state(full_lab)
    kubeconfig = json.loads(full_lab.folder.admin.read_text())
    kubeconfig["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    (tmp_path / "config").write_text(json.dumps(kubeconfig))
    done = full_lab.pulumi(
        *("up", "--yes", "--skip-preview"),
        KUBECONFIG=str(tmp_path / "config"),
        TALLYARD_KUBE_CONTEXT=None,
    )
    assert done.returncode != 0
    assert "cannot be reached" in _told(done)
    assert "Traceback" not in _told(done)
    assert _state(full_lab) == before


def test_a_wrong_key_in_the_spec_is_told_with_its_place(
    full_lab: RunningLab, tmp_path: Path
) -> None:
    overlay = tmp_path / "wrong.yaml"
    overlay.write_text(f"base: {CHECKOUT}/stacks/platform.yaml\nnods: []\n")
    done = full_lab.pulumi("preview", "--config-file", _config(tmp_path, overlay))
    assert done.returncode != 0
    assert "wrong.yaml:2:1" in _told(done)
    assert 'Did you mean "nodes"?' in _told(done)
    assert "Traceback" not in _told(done)


def test_a_stack_that_would_pull_images_refuses_digests_that_nobody_looked_up(
    full_lab: RunningLab,
) -> None:
    done = full_lab.pulumi("preview", TALLYARD_KUEUE_MANAGER=None)
    assert done.returncode != 0
    assert "charts.kueue.digest: unverified" in _told(done)
    assert "make pins" in _told(done)
    assert "Traceback" not in _told(done)


def test_no_key_is_in_the_state(full_lab: RunningLab) -> None:
    state = full_lab.pulumi("stack", "export", "--show-secrets").stdout
    assert "kueue-webhook-server-cert" in state
    key = (full_lab.folder.kueue / "certificates" / "tls.key").read_text().splitlines()[1]
    assert key not in state
    assert "-----BEGIN" not in state
    assert str(full_lab.folder.kubeconfigs) not in state


def test_a_kubelet_cannot_move_its_host_into_another_pool(full_lab: RunningLab) -> None:
    label = "tallyard.dev.node-restriction.kubernetes.io/pool=inference"
    moved = full_lab.kubectl(
        *("label", "node", "a100-00", label, "--overwrite"),
        *("--as", "system:node:a100-00", "--as-group", "system:nodes"),
    )
    assert moved.returncode != 0
    assert "is not allowed to modify labels" in moved.stderr


@pytest.mark.parametrize(
    ("user", "verb", "what"),
    [
        ("li.wei", "create", "localqueues.kueue.x-k8s.io -n nlp"),
        ("li.wei", "update", "workloads.kueue.x-k8s.io -n nlp"),
        ("li.wei", "patch", "clusterqueues.kueue.x-k8s.io"),
        ("li.wei", "create", "jobs.batch -n vision"),
        ("li.wei", "get", "jobs.batch -n vision"),
        ("li.wei", "create", "pods -n nlp"),
        ("li.wei", "update", "namespaces"),
        ("operator", "create", "jobs.batch -n nlp"),
        ("operator", "get", "secrets -n kueue-system"),
        ("operator", "patch", "clusterqueues.kueue.x-k8s.io"),
    ],
)
def test_nobody_may_do_what_is_not_theirs(
    full_lab: RunningLab, user: str, verb: str, what: str
) -> None:
    answer = full_lab.kubectl("auth", "can-i", verb, *what.split(), user=user)
    assert answer.stdout.strip() == "no"


def test_a_member_may_do_what_is_theirs(full_lab: RunningLab) -> None:
    for verb, what in (("create", "jobs.batch"), ("get", "workloads.kueue.x-k8s.io")):
        answer = full_lab.kubectl("auth", "can-i", verb, what, "-n", "nlp", user="li.wei")
        assert answer.stdout.strip() == "yes"


def test_a_namespace_of_a_project_can_be_deleted_in_the_end(full_lab: RunningLab) -> None:
    """An APIService that nothing answers would make every deletion hang."""
    assert full_lab.kubectl("create", "namespace", "short-lived").returncode == 0
    began = time.monotonic()
    gone = full_lab.kubectl("delete", "namespace", "short-lived", "--timeout=30s")
    assert gone.returncode == 0, gone.stderr
    assert time.monotonic() - began < 30


def _resource(manifest: Manifest) -> str:
    group = str(manifest.object["apiVersion"]).rpartition("/")[0].partition("/")[0]
    return f"{manifest.kind}.{group}" if group else manifest.kind


def _owns_spec(entry: Mapping[str, Any]) -> bool:
    fields = entry.get("fieldsV1", {})
    return entry.get("subresource") is None and any(
        name in fields for name in ("f:spec", "f:rules", "f:value", "f:subjects")
    )
