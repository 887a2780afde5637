"""The Pulumi program on a real control plane, as a person runs it."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lab.folder import CHECKOUT
from lab.ports import MANAGERS
from tallyard.cluster.client import connect
from tallyard.cluster.dry_run import server_dry_run
from tallyard.render.manifest import Manifest
from tallyard.render.platform import render
from tallyard.spec.model import Platform
from tests.running_lab import RunningLab

NO_CHANGES = 0


def _state(lab: RunningLab) -> Mapping[str, Any]:
    """Return the stack's state: its resources by URN, with what they are."""
    exported = json.loads(lab.pulumi("stack", "export").stdout)
    return {
        resource["urn"]: (resource["type"], resource.get("inputs"))
        for resource in exported["deployment"]["resources"]
    }


def _told(done: Any) -> str:
    return str(done.stdout + done.stderr)


@pytest.mark.changes_the_stack
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


@pytest.mark.changes_the_stack
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


@pytest.mark.changes_the_stack
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


@pytest.mark.changes_the_stack
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
    done = full_lab.pulumi("preview", TALLYARD_OVERLAY=str(overlay))
    assert done.returncode != 0
    assert "wrong.yaml:2:1" in _told(done)
    assert 'Did you mean "nodes"?' in _told(done)
    assert "Traceback" not in _told(done)


def test_a_production_stack_refuses_digests_that_nobody_looked_up_also_in_a_labs_shell(
    full_lab: RunningLab, tmp_path: Path
) -> None:
    config = tmp_path / "Pulumi.prod.yaml"
    salt = (CHECKOUT / "stacks" / "Pulumi.local.yaml").read_text().splitlines()[2]
    shipped = (CHECKOUT / "stacks" / "Pulumi.prod.yaml").read_text()
    config.write_text(f"{salt}\n{shipped}")
    done = full_lab.pulumi("preview", "--config-file", str(config))
    assert done.returncode != 0
    assert "charts.kueue.digest" in _told(done)
    assert "make pins" in _told(done)
    assert "Traceback" not in _told(done)


def test_a_labs_stack_without_its_environment_says_what_to_do(full_lab: RunningLab) -> None:
    done = full_lab.pulumi("preview", TALLYARD_KUEUE_MANAGER=None)
    assert done.returncode != 0
    assert ". .lab/default/env" in _told(done)
    assert "Traceback" not in _told(done)


@pytest.mark.changes_the_stack
def test_no_key_is_in_the_state_even_after_a_refresh(full_lab: RunningLab) -> None:
    """In a Secret a key is base64 of PEM, so that is looked for; decrypted, if it is there."""
    refreshed = full_lab.pulumi("refresh", "--yes", "--skip-preview")
    assert refreshed.returncode == 0, _told(refreshed)
    state = full_lab.pulumi("stack", "export", "--show-secrets").stdout
    kubeconfig = json.loads(full_lab.folder.admin.read_text())
    for manager in MANAGERS:
        own = full_lab.folder.told(manager).with_name("certificates")
        ca = base64.b64encode((own / "ca.crt").read_bytes()).decode()
        assert ca in state, "what is public and in the state can be found this way"
        for name in ("ca.key", "tls.key"):
            assert base64.b64encode((own / name).read_bytes()).decode()[:60] not in state
        account = json.loads(own.with_name("kubeconfig").read_text())
        assert account["users"][0]["user"]["token"] not in state
    assert kubeconfig["users"][0]["user"]["client-key-data"][:60] not in state
    assert str(full_lab.folder.kubeconfigs) not in state


@pytest.mark.changes_the_stack
def test_a_changed_priority_value_is_refused_before_anything_is_done(
    full_lab: RunningLab, tmp_path: Path
) -> None:
    overlay = _overlay(tmp_path, "name: training, value: 10000", "name: training, value: 20000")
    done = full_lab.pulumi("up", "--yes", "--skip-preview", TALLYARD_OVERLAY=overlay)
    assert done.returncode != 0
    assert "protect" in _told(done)
    for kind in ("priorityclass", "workloadpriorityclass.kueue.x-k8s.io"):
        assert full_lab.get(kind, "training")["value"] == 10000


@pytest.mark.changes_the_stack
def test_a_project_that_leaves_the_spec_loses_its_queues_and_keeps_its_namespace(
    full_lab: RunningLab, tmp_path: Path
) -> None:
    vision = (
        "  vision:\n    tier: bronze\n    default-user: zhao.min\n    users:\n      zhao.min: {}\n"
    )
    overlay = _overlay(tmp_path, vision, "")
    left = full_lab.pulumi("up", "--yes", "--skip-preview", TALLYARD_OVERLAY=overlay)
    assert left.returncode == 0, _told(left)
    try:
        queue = full_lab.kubectl("get", "clusterqueue", "vision-training")
        assert "not found" in queue.stderr
        assert full_lab.get("namespace", "vision")["status"]["phase"] == "Active"
    finally:
        back = full_lab.pulumi("up", "--yes", "--skip-preview")
    assert back.returncode == 0, _told(back)
    assert full_lab.get("clusterqueue", "vision-training")["spec"]["cohortName"] == "training"


@pytest.mark.changes_the_stack
def test_a_changed_flavor_is_a_new_one_beside_the_old_even_while_the_old_is_in_use(
    full_lab: RunningLab, tmp_path: Path
) -> None:
    """Kueue holds a flavor that a queue or a workload uses; `up` must not wait for that."""
    overlay = _overlay(tmp_path, "{vendor: nvidia, memory: 24Gi,", _LARGER)
    before = _flavors(full_lab)
    changed = full_lab.pulumi("up", "--yes", "--skip-preview", TALLYARD_OVERLAY=overlay)
    assert changed.returncode == 0, _told(changed)
    try:
        new = _flavors(full_lab) - before
        names = sorted(name.rpartition("-")[0] for name in new)
        assert names == ["inference-rtx-4090", "shared-rtx-4090"]
        assert _flavors(full_lab) >= before
    finally:
        back = full_lab.pulumi("up", "--yes", "--skip-preview")
    assert back.returncode == 0, _told(back)


_LARGER = "{vendor: nvidia, memory: 48Gi,"


def _flavors(lab: RunningLab) -> set[str]:
    return {f["metadata"]["name"] for f in lab.get("resourceflavors.kueue.x-k8s.io")["items"]}


def _overlay(tmp_path: Path, old: str, new: str) -> str:
    """Write the shipped spec with one change, and return its overlay's path."""
    stacks = CHECKOUT / "stacks"
    platform = (stacks / "platform.yaml").read_text()
    assert old in platform
    (tmp_path / "platform.yaml").write_text(platform.replace(old, new))
    (tmp_path / "local.yaml").write_text((stacks / "local.yaml").read_text())
    return str(tmp_path / "local.yaml")


@pytest.mark.parametrize(
    ("user", "verb", "what"),
    [
        ("li.wei", "create", "localqueues.kueue.x-k8s.io -n nlp"),
        ("li.wei", "update", "workloads.kueue.x-k8s.io -n nlp"),
        ("li.wei", "patch", "clusterqueues.kueue.x-k8s.io"),
        ("li.wei", "create", "jobs.batch -n vision"),
        ("li.wei", "get", "jobs.batch -n vision"),
        ("li.wei", "patch", "pods -n nlp"),
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
