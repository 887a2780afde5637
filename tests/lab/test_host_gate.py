"""The host gate on a real control plane: no work on a host that is not what the spec says.

The controllers run as their own service account, and the hosts join closed, as kubelets'
`registerWithTaints` have them.
"""

from __future__ import annotations

import copy
import datetime as dt
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from lab import certificates
from lab.certificates import Pair
from lab.folder import write_private
from lab.kubeconfigs import kubeconfig
from lab.nodes import FAKE, node_objects
from lab.toolchain.ensure import Toolchain
from tallyard import labels
from tallyard.cli.application import run_application
from tallyard.cli.exit_codes import ExitCode
from tallyard.spec.model import Platform
from tests.controllers.gated import PROMISED_SECONDS, Gated, installed

PCI = "feature.node.kubernetes.io/pci-10de.present"
A100 = {
    labels.NODE_POOL: "training",
    labels.NODE_MODEL: "A100-SXM4-40GB",
    labels.GPU_VENDOR: "nvidia",
    labels.GPU_MODEL: "A100-SXM4-40GB",
    labels.GPU_MEMORY: "40Gi",
}


@pytest.fixture(scope="module")
def gated(
    tmp_path_factory: pytest.TempPathFactory, platform: Platform, toolchain: Toolchain
) -> Iterator[Gated]:
    """A control plane whose hosts joined closed and were opened by the gate."""
    with installed(tmp_path_factory.mktemp("gated"), "gated", platform, toolchain) as gated:
        for node in node_objects(platform, is_gated=True):
            gated.add(node)
        assert gated.is_held("a100-00")
        gated.start("gate")
        yield gated


@pytest.fixture(autouse=True)
def all_open(gated: Gated, platform: Platform) -> Iterator[None]:
    """Every test begins and ends with all hosts as in the spec, and open."""
    if not gated.replicas:
        gated.start("gate")
    _wait_open(gated, platform)
    yield
    if not gated.replicas:
        gated.start("gate")
    for node in node_objects(platform, is_gated=True):
        gated.add(node)
    _wait_open(gated, platform)


def _wait_open(gated: Gated, platform: Platform) -> None:
    hosts = {node.name for node in platform.nodes}
    gated.until(lambda: not gated.held() & hosts, seconds=60)


def _host(name: str, host_labels: Mapping[str, str], *, cards: int = 0) -> dict[str, Any]:
    """A host that no kubelet has told to register closed."""
    offered = {"cpu": "64", "memory": "256Gi", "pods": "110"}
    if cards:
        offered["nvidia.com/gpu"] = str(cards)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {labels.NODE_HOSTNAME: name, **host_labels},
            "annotations": {FAKE: "fake"},
        },
        "spec": {},
        "status": {"capacity": offered, "allocatable": offered},
    }


def _closed(node: dict[str, Any]) -> dict[str, Any]:
    taints = [*node["spec"].get("taints", ()), _UNVERIFIED]
    return {**node, "spec": {**node["spec"], "taints": taints}}


_UNVERIFIED = {"key": labels.UNVERIFIED_TAINT, "effect": labels.NO_SCHEDULE}


def _pod(name: str, selector: Mapping[str, str], *, cards: int = 0) -> dict[str, Any]:
    """A pod as Kueue lets it go: with the flavor's labels and its toleration."""
    asked = {"cpu": "1"} | ({"nvidia.com/gpu": str(cards)} if cards else {})
    tolerations = [
        {"key": labels.POOL_TAINT, "operator": "Equal", "value": "training", "effect": "NoSchedule"}
    ]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "nodeSelector": dict(selector),
            "tolerations": tolerations,
            "containers": [{"name": "main", "image": "busybox", "resources": {"limits": asked}}],
        },
    }


def _bound(gated: Gated) -> dict[str, str]:
    """Return on which host each pod of the namespace is that has one."""
    pods = gated.lab.get("pods", "-n", "default")["items"]
    return {p["metadata"]["name"]: p["spec"]["nodeName"] for p in pods if "nodeName" in p["spec"]}


def test_hosts_that_are_as_in_the_spec_are_opened_and_that_is_told(gated: Gated) -> None:
    assert not gated.why("a100-00")
    told = [event["message"] for event in gated.events("a100-00")]
    assert told == ["open for work of pool training: it is as in the spec"]


def test_a_host_whose_discovery_ran_too_early_is_closed_and_listed_with_the_reason(
    gated: Gated, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its PCI label is there, its gpu labels are not; nobody has told it to register closed."""
    gated.add(_host("new-00", {PCI: "true"}))
    try:
        gated.until(lambda: gated.is_held("new-00"), seconds=PROMISED_SECONDS)
        gated.apply(_pod("for-new", {labels.NODE_HOSTNAME: "new-00"}))
        assert gated.why("new-00") == f"it is not in the spec; it has the label {PCI}=true"
        (event,) = gated.events("new-00")
        assert (event["reason"], event["type"]) == ("HostNotInSpec", "Warning")
        assert event["message"] == f"kept from new work: {gated.why('new-00')}"
        assert gated.metric("gate", 'tallyard_hosts{state="not-in-spec"}') == 1
        gated.pass_over("for-new")
        assert "for-new" not in _bound(gated)
        admin = str(gated.lab.folder.admin)
        code = run_application(["node", "check", "--kubeconfig", admin, "-o", "json"])
        assert code == ExitCode.CHANGES
        last = json.loads(capsys.readouterr().out)["items"][-1]
        assert (last["name"], last["state"], last["open"]) == ("new-00", "not-in-spec", False)
        assert last["reason"] == gated.why("new-00")
        described = gated.lab.kubectl("describe", "node", "new-00").stdout
        assert described.count("it is not in the spec") == 2, "as an annotation and as an Event"
    finally:
        gated.lab.kubectl("delete", "pod", "for-new", "-n", "default", "--force")
        gated.remove("new-00")


def test_a_host_that_is_no_business_of_the_gate_is_left_alone(gated: Gated) -> None:
    gated.add(_host("control-00", {"node-role.kubernetes.io/control-plane": ""}))
    try:
        gated.add(_host("new-01", {PCI: "true"}))
        gated.until(lambda: gated.is_held("new-01"))
        assert not gated.is_held("control-00")
        assert gated.events("control-00") == []
    finally:
        gated.remove("control-00", "new-01")


def test_a_kubelet_may_not_move_its_host_and_what_it_may_change_closes_it(
    gated: Gated,
) -> None:
    """With the certificate that a kubelet has, so that the API server's own plugin decides."""
    lab = gated.lab
    keys = lab.folder.cluster / "pki"
    authority = Pair((keys / "ca.crt").read_bytes(), (keys / "ca.key").read_bytes())
    login, groups = "system:node:a100-00", ("system:nodes",)
    pair = certificates.client(login, groups, authority, dt.datetime.now(dt.UTC))
    server = json.loads(lab.folder.admin.read_bytes())["clusters"][0]["cluster"]["server"]
    config = kubeconfig("kubelet", server, authority.certificate, pair)
    write_private(lab.folder.kubeconfigs / "kubelet", json.dumps(config).encode())

    moved = lab.kubectl(
        "label", "node", "a100-00", f"{labels.NODE_POOL}=inference", "--overwrite", user="kubelet"
    )
    assert moved.returncode != 0
    assert labels.NODE_POOL in moved.stderr
    assert "forbidden" in moved.stderr.lower()
    opened = lab.kubectl(
        *("patch", "node", "a100-00", "--type=merge", "-p", '{"spec":{"taints":[]}}'),
        user="kubelet",
    )
    assert opened.returncode != 0
    assert not gated.is_held("a100-00")

    renamed = lab.kubectl(
        *("label", "node", "a100-00", f"{labels.GPU_MODEL}=A800-SXM4-80GB", "--overwrite"),
        user="kubelet",
    )
    assert renamed.returncode == 0, renamed.stderr
    gated.until(lambda: gated.is_held("a100-00"), seconds=PROMISED_SECONDS)
    assert gated.why("a100-00") == (
        "the label gpu.model is A800-SXM4-80GB, the spec says A100-SXM4-40GB"
    )


def test_no_pod_lands_on_hosts_that_join_wrongly_labelled_over_and_over(gated: Gated) -> None:
    """20 hosts, all with what the waiting pods select, in ways that differ from the spec.

    That the pods would land is shown at the end: one host, opened by hand without the gate.
    """
    pods = [_pod(f"waits-{n:02}", A100, cards=9) for n in range(4)]
    place = {labels.NODE_BLOCK: "b0", labels.NODE_RACK: "r0"}
    gated.apply(*pods)
    hosts = [_closed(_host(f"rogue-{n:02}", A100 | place, cards=16)) for n in range(18)]
    known = _host("a100-00", A100 | place, cards=16)
    known["spec"]["taints"] = [
        {"key": labels.POOL_TAINT, "value": "training", "effect": "NoSchedule"}
    ]
    other = copy.deepcopy(known)
    other["metadata"] |= {"name": "a100-01", "labels": {**A100, **place, labels.NODE_RACK: "r9"}}
    hosts += [_closed(known), _closed(other)]
    names = [host["metadata"]["name"] for host in hosts]
    try:
        for turn in range(3):
            gated.remove("a100-00", "a100-01")
            for host in hosts:
                gated.add(host)
            gated.until(lambda: all(gated.reasons().get(name) for name in names), seconds=60)
            # One that comes after them: what the others are told may be of an earlier round.
            gated.apply(_pod(f"comes-{turn}", A100, cards=9))
            gated.pass_over(f"comes-{turn}")
            assert _bound(gated) == {}
            assert gated.held() >= set(names)
            gated.remove(*names[:18])
        gated.stop()
        opened = _host("rogue-99", A100 | place, cards=16)
        gated.add(opened)
        gated.until(lambda: "rogue-99" in _bound(gated).values())
    finally:
        gated.lab.kubectl("delete", "pods", "--all", "-n", "default", "--force")
        gated.remove(*names, "rogue-99")


def _change_label(gated: Gated, name: str) -> None:
    done = gated.lab.kubectl("label", "node", name, f"{labels.NODE_RACK}=r9", "--overwrite")
    assert done.returncode == 0, done.stderr


def _change_cards(gated: Gated, name: str) -> None:
    offered = {"nvidia.com/gpu": "7"}
    patch = json.dumps({"status": {"allocatable": offered, "capacity": offered}})
    done = gated.lab.kubectl(
        "patch", "node", name, "--subresource=status", "--type=merge", "-p", patch
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("change", [_change_label, _change_cards])
def test_a_host_that_stops_agreeing_is_closed_in_time(gated: Gated, change: Any) -> None:
    change(gated, "a800-00")
    gated.until(lambda: gated.is_held("a800-00"), seconds=PROMISED_SECONDS)
    assert gated.why("a800-00")


def test_a_change_while_no_controllers_ran_is_seen_when_they_are_back(gated: Gated) -> None:
    gated.kill("gate")
    _change_label(gated, "a800-00")
    _change_cards(gated, "a800-01")
    assert not gated.is_held("a800-00")
    gated.start("gate")
    both = ("a800-00", "a800-01")
    gated.until(lambda: all(map(gated.is_held, both)), seconds=PROMISED_SECONDS)


def test_a_host_that_agrees_again_is_opened_and_work_that_runs_on_it_stays(gated: Gated) -> None:
    selector = {**A100, labels.NODE_HOSTNAME: "a100-02"}
    gated.apply(_pod("runs", selector, cards=1))
    try:
        gated.until(lambda: "runs" in _bound(gated))
        _change_label(gated, "a100-02")
        gated.until(lambda: gated.is_held("a100-02"))
        gated.apply(_pod("comes", selector, cards=1))
        gated.pass_over("comes")
        assert _bound(gated) == {"runs": "a100-02"}
        right = gated.lab.kubectl(
            "label", "node", "a100-02", f"{labels.NODE_RACK}=r1", "--overwrite"
        )
        assert right.returncode == 0
        gated.until(lambda: not gated.is_held("a100-02"))
        gated.until(lambda: _bound(gated) == {"runs": "a100-02", "comes": "a100-02"})
    finally:
        gated.lab.kubectl("delete", "pods", "--all", "-n", "default", "--force")


def test_the_taints_of_others_are_kept(gated: Gated) -> None:
    done = gated.lab.kubectl("taint", "node", "a100-03", "corp.example/repair=yes:NoSchedule")
    assert done.returncode == 0, done.stderr
    _change_label(gated, "a100-03")
    gated.until(lambda: gated.is_held("a100-03"))
    gated.lab.kubectl("label", "node", "a100-03", f"{labels.NODE_RACK}=r1", "--overwrite")
    gated.until(lambda: not gated.is_held("a100-03"))
    keys = {taint["key"] for taint in gated.node("a100-03")["spec"]["taints"]}
    assert keys == {labels.POOL_TAINT, "corp.example/repair"}


def test_nothing_is_written_while_nothing_changes(gated: Gated) -> None:
    """Though all hosts are listed and judged anew."""
    _change_label(gated, "a800-02")
    gated.until(lambda: gated.is_held("a800-02"))
    gated.until(lambda: bool(gated.events("a800-02")))
    before = {n: gated.node(n)["metadata"]["resourceVersion"] for n in ("a800-02", "cpu-00")}
    counts = [event["count"] for event in gated.events("a800-02")]
    gated.list_anew("gate")
    # What comes after the list is worked on after it.
    _change_label(gated, "a800-03")
    gated.until(lambda: gated.is_held("a800-03"))
    assert before == {n: gated.node(n)["metadata"]["resourceVersion"] for n in before}
    assert counts == [event["count"] for event in gated.events("a800-02")]


def test_a_spec_that_cannot_be_loaded_leaves_the_last_one_in_force_and_is_told(
    gated: Gated,
) -> None:
    overlay = gated.spec_overlay()
    gated.write_spec(overlay.replace("hosts:", "host:", 1), gated.spec_base())
    try:
        gated.until(lambda: gated.metric("gate", "tallyard_spec_loaded ") == 0)
        assert not gated.is_held("a100-00")
        _change_label(gated, "a100-00")
        gated.until(lambda: gated.is_held("a100-00"))
        place = ("-n", labels.SYSTEM_NAMESPACE, "--field-selector", "reason=SpecRefused")
        gated.until(lambda: bool(gated.lab.get("events", *place)["items"]))
        (event,) = gated.lab.get("events", *place)["items"]
        assert "an earlier one is followed" in event["message"]
        assert "local.yaml:" in event["message"]
        assert "tallyard-spec-" not in event["message"], "the folder is of no use to a reader"
    finally:
        gated.write_spec(overlay, gated.spec_base())
        gated.until(lambda: gated.metric("gate", "tallyard_spec_loaded ") == 1)


def test_a_host_that_the_spec_gives_another_place_is_closed_until_it_has_moved(
    gated: Gated,
) -> None:
    overlay = gated.spec_overlay()
    gated.write_spec(overlay.replace('rack: "r[2-3]"', 'rack: "r[7-8]"'), gated.spec_base())
    try:
        gated.until(lambda: gated.is_held("a800-00"))
        assert "the spec says r7" in gated.why("a800-00")
        moved = gated.lab.kubectl(
            "label", "node", "a800-00", f"{labels.NODE_RACK}=r7", "--overwrite"
        )
        assert moved.returncode == 0
        gated.until(lambda: not gated.is_held("a800-00"))
    finally:
        gated.write_spec(overlay, gated.spec_base())
