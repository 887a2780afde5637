"""The control plane checks what production's does, and listens to this machine only."""

from __future__ import annotations

import datetime as dt
import json
import time
from pathlib import Path

import pytest
import yaml

from lab import certificates, control_plane
from lab.certificates import Pair
from lab.control_plane import ControlPlane
from lab.errors import LabError, PortError
from lab.folder import lab_folder, write_private
from lab.kubeconfigs import kubeconfig
from lab.kwokctl import COMPONENTS, PORTS
from lab.ports import hold
from lab.state import StateFile
from tallyard import labels
from tests.running_lab import RunningLab

NODE = "a100-00"


@pytest.fixture(scope="module")
def kubelet(shared_lab: RunningLab) -> str:
    """The kubeconfig's name of the kubelet of one host."""
    keys = shared_lab.folder.cluster / "pki"
    authority = Pair((keys / "ca.crt").read_bytes(), (keys / "ca.key").read_bytes())
    now = dt.datetime.now(dt.UTC)
    pair = certificates.client(f"system:node:{NODE}", ("system:nodes",), authority, now)
    server = control_plane.server(shared_lab.state)
    name = "../kubelet"
    config = kubeconfig("kubelet", server, authority.certificate, pair)
    write_private(shared_lab.folder.kubeconfigs / name, json.dumps(config).encode())
    return name


@pytest.mark.parametrize(
    "label", [labels.NODE_POOL, labels.NODE_MODEL, labels.NODE_BLOCK, labels.NODE_RACK]
)
def test_a_host_cannot_move_itself_to_another_pool_price_or_place(
    shared_lab: RunningLab, kubelet: str, label: str
) -> None:
    refused = shared_lab.kubectl("label", "node", NODE, f"{label}=x", "--overwrite", user=kubelet)
    assert refused.returncode != 0
    assert "is not allowed to modify labels" in refused.stderr
    assert shared_lab.get("node", NODE)["metadata"]["labels"][label] != "x"


def test_a_host_may_write_its_own_unprotected_labels_only(
    shared_lab: RunningLab, kubelet: str
) -> None:
    """That the refusal above is about the label: the same request passes with another one."""
    own = shared_lab.kubectl("label", "node", NODE, "example.com/x=y", user=kubelet)
    assert own.returncode == 0, own.stderr
    other = shared_lab.kubectl("label", "node", "a100-01", "example.com/x=y", user=kubelet)
    assert "only its own Node object" in other.stderr


def test_a_host_reads_only_the_secrets_of_its_own_pods(
    shared_lab: RunningLab, kubelet: str
) -> None:
    """The node authorizer, which RBAC alone would not give."""
    refused = shared_lab.kubectl("get", "secrets", "--all-namespaces", user=kubelet)
    assert refused.returncode != 0
    assert "Forbidden" in refused.stderr


def test_every_component_listens_on_the_loopback_address_only(shared_lab: RunningLab) -> None:
    ports = {port for name, port in (shared_lab.state.ports or {}).items() if name in PORTS}
    assert len(ports) == len(PORTS)
    listening = _listening_addresses()
    for port in ports:
        assert listening[port] == {"0100007F"}, port


def test_the_scheduler_packs_cards(shared_lab: RunningLab) -> None:
    config = yaml.safe_load((shared_lab.folder.cluster / "scheduler.yaml").read_text())
    strategy = config["profiles"][0]["pluginConfig"][0]["args"]["scoringStrategy"]
    assert strategy["type"] == "MostAllocated"
    weights = {r["name"]: r["weight"] for r in strategy["resources"]}
    assert weights["nvidia.com/gpu"] > weights["cpu"]


def test_each_component_has_a_memory_limit(shared_lab: RunningLab) -> None:
    for name in COMPONENTS:
        process = shared_lab.state.process(name)
        assert process
        environment = Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0")
        assert [e for e in environment if e.startswith(b"GOMEMLIMIT=")], name


def test_a_control_plane_that_cannot_start_is_told_with_its_log(tmp_path: Path) -> None:
    folder = lab_folder("bad", tmp_path)
    programs = {name: Path("/bin/false") for name in (*COMPONENTS, "kubectl", "kwokctl")}
    plane = ControlPlane(folder, StateFile(folder), programs, {"kind": "x"})
    with pytest.raises(LabError, match="did not start") as caught:
        plane.ensure()
    assert caught.value.log
    assert caught.value.log.exists()


def test_a_kwokctl_that_starts_nothing_is_told_at_once(tmp_path: Path) -> None:
    folder = lab_folder("elsewhere", tmp_path)
    programs = {name: Path("/bin/true") for name in (*COMPONENTS, "kubectl", "kwokctl")}
    begin = time.monotonic()
    with pytest.raises(LabError, match="did not start") as caught:
        ControlPlane(folder, StateFile(folder), programs, {"kind": "x"}).ensure()
    assert time.monotonic() - begin < 20
    assert "left no pid of etcd" in caught.value.why


def test_a_taken_port_is_told_when_a_lab_starts_again(tmp_path: Path) -> None:
    folder = lab_folder("taken", tmp_path)
    file = StateFile(folder)
    (folder.cluster / "bin").mkdir(parents=True)
    programs = {name: Path("/bin/false") for name in (*COMPONENTS, "kubectl", "kwokctl")}
    with hold(PORTS) as held:
        file.update(lambda s: s.with_ports(held.ports))
        file.update(lambda s: type(s)(**{**s.__dict__, "has_cluster": True}))
        with pytest.raises(PortError, match=str(held.ports["kube-apiserver"])):
            ControlPlane(folder, file, programs, {}).ensure()


def _listening_addresses() -> dict[int, set[str]]:
    """Return by port the addresses in the kernel's own notation, also those of IPv6."""
    found: dict[int, set[str]] = {}
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            _, local, _, status, *_ = line.split()
            if status == "0A":
                address, port = local.split(":")
                found.setdefault(int(port, 16), set()).add(address)
    return found
