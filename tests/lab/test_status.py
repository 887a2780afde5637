"""The status of labs that are not there, half there, or have lost a part."""

from __future__ import annotations

from pathlib import Path

from lab import session, status
from lab.folder import lab_folder
from lab.kwokctl import COMPONENTS, PORTS
from lab.ports import hold
from lab.processes import Process
from lab.state import LabState


def test_a_lab_that_is_not_there_is_no_error(tmp_path: Path) -> None:
    seen = session.look("none", base=tmp_path)
    assert not seen.exists
    assert not seen.is_ready
    assert seen.components == ()
    assert seen.memory_bytes == 0


def test_a_lab_without_ports_has_begun_and_has_nothing_yet(tmp_path: Path) -> None:
    seen = status.of(lab_folder("demo", tmp_path), LabState("demo"))
    assert seen.exists
    assert not seen.is_ready


def test_a_component_that_has_ended_keeps_its_port_and_its_log(tmp_path: Path) -> None:
    gone = Process("etcd", 2**22 + 1, 1, "/tools/etcd", "/logs/etcd.log")
    with hold(PORTS) as held:
        ports = held.ports
    state = LabState("demo", ports=ports, processes=(gone,))
    seen = status.of(lab_folder("demo", tmp_path), state)
    assert [c.name for c in seen.components] == list(COMPONENTS)
    etcd = seen.components[0]
    assert (etcd.pid, etcd.is_running, etcd.is_ready, etcd.memory_bytes) == (
        None,
        False,
        False,
        None,
    )
    assert (etcd.port, etcd.log) == (ports["etcd"], "/logs/etcd.log")
    assert seen.server == f"https://127.0.0.1:{ports['kube-apiserver']}"
