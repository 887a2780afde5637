"""The lab's verbs on a real control plane: idempotent, crash-proof, and gone when ended."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from lab import control_plane, processes, session
from lab.errors import LabError, StateError
from lab.folder import CHECKOUT
from lab.kwokctl import COMPONENTS
from lab.ports import wait_free
from lab.report import Silence
from lab.session import Lab
from lab.state import StateFile
from lab.toolchain.ensure import Toolchain
from tallyard.spec.model import Platform
from tests.running_lab import OVERLAY, RunningLab

Make = Callable[[str], RunningLab]

# An `up` in a process of its own, to be killed.
UP = """
import json, sys
from pathlib import Path
from lab import session
from lab.report import Silence
from lab.toolchain.ensure import Toolchain
from tallyard.spec.load import load
name, base, overlay, programs, stages = sys.argv[1:]
paths = {name: Path(path) for name, path in json.loads(programs).items()}
toolchain = Toolchain(paths, Path(), Path(), Path(stages), None)
platform = load(Path(overlay)).platform
session.up(
    name, Path(overlay), platform, toolchain, Silence(), base=Path(base), make_stack=lambda _: None
)
"""


def test_a_second_up_of_a_healthy_lab_starts_nothing(shared_lab: RunningLab) -> None:
    before = shared_lab.state.processes
    status = shared_lab.up()
    assert status.is_ready
    assert {c.name for c in status.components} == set(COMPONENTS)
    assert shared_lab.state.processes == before


def test_the_status_tells_ports_processes_memory_and_logs(shared_lab: RunningLab) -> None:
    status = session.look(shared_lab.name, base=shared_lab.base)
    assert status.is_ready
    assert status.server == f"https://127.0.0.1:{shared_lab.state.port('kube-apiserver')}"
    assert status.overlay.endswith("stacks/local.yaml")
    for component in status.components:
        assert component.memory_bytes is not None
        assert component.memory_bytes > 10 * 2**20
        assert component.log is not None
        assert Path(component.log).stat().st_size > 0
    assert status.memory_bytes < 1.2e9


def test_components_that_are_killed_come_back_with_the_data(own_lab: Make) -> None:
    """Each alone, then all at once."""
    lab = own_lab("killed")
    lab.up()
    lab.kubectl("create", "namespace", "kept")
    for names in (*((name,) for name in COMPONENTS), tuple(COMPONENTS)):
        victims = [p for p in lab.state.processes if p.name in names]
        assert len(victims) == len(names)
        for victim in victims:
            os.kill(victim.pid, signal.SIGKILL)
            assert processes.wait(victim, 10)
        status = lab.up()
        assert status.is_ready, names
        assert not set(victims) & set(lab.state.processes)
        assert lab.get("namespace", "kept")["status"]["phase"] == "Active"


def test_two_labs_that_start_at_once_do_not_meet_and_one_ends_alone(own_lab: Make) -> None:
    labs = [own_lab("left"), own_lab("right")]
    with ThreadPoolExecutor() as pool:
        for started in [pool.submit(lab.up) for lab in labs]:
            started.result()
    left, right = labs
    ports = [*(left.state.ports or {}).values(), *(right.state.ports or {}).values()]
    assert len(ports) == len(set(ports)) == 2 * (len(COMPONENTS) + 1)
    left.kubectl("create", "namespace", "only-left")
    assert right.kubectl("get", "namespace", "only-left").returncode != 0
    assert left.down()
    assert session.look("right", base=right.base).is_ready


def test_down_leaves_no_process_no_port_and_no_file(own_lab: Make) -> None:
    lab = own_lab("gone")
    lab.up()
    state = lab.state
    assert all(processes.is_running(p) for p in state.processes)
    assert lab.down()
    assert not any(processes.is_running(p) for p in state.processes)
    assert state.ports
    assert not wait_free(state.ports.values())
    assert not lab.base.exists() or not [p for p in lab.base.iterdir() if "gone" in p.name]
    assert not lab.down()


def test_down_ends_a_lab_whose_up_was_killed_in_the_middle(
    own_lab: Make, toolchain: Toolchain
) -> None:
    lab = own_lab("half")
    programs = json.dumps({name: str(path) for name, path in toolchain.programs.items()})
    arguments = [lab.name, str(lab.base), str(OVERLAY), programs, str(toolchain.kwok_stages)]
    with subprocess.Popen([sys.executable, "-c", UP, *arguments], cwd=CHECKOUT) as command:
        deadline = time.monotonic() + 60
        while not (lab.folder.cluster / "pids" / "kube-apiserver.pid").exists():
            assert command.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        command.kill()
    started = {int(f.read_text()) for f in (lab.folder.cluster / "pids").iterdir()}
    assert started
    lab.down()
    # kwokctl was ended as well, so nothing it would have started comes later.
    time.sleep(1)
    assert not [pid for pid in started if processes.identify("x", pid, Path())]
    assert not lab.folder.root.exists()


def test_down_ends_the_processes_of_a_lab_whose_record_is_broken(own_lab: Make) -> None:
    lab = own_lab("broken")
    command = ["/bin/sleep", "60"]
    ours = processes.start("kueue", command, log=lab.folder.logs / "log", environment={})
    StateFile(lab.folder).update(lambda state: state.with_process(ours))
    lab.folder.state.write_text('{"name": "bro')
    with pytest.raises(StateError, match="cannot be read"):
        lab.up()
    assert processes.is_running(ours)
    lab.down()
    assert not processes.is_running(ours)
    assert not lab.folder.root.exists()


def test_down_ends_a_lab_whose_folder_was_removed_and_says_so(own_lab: Make) -> None:
    """`git clean -fdx` while it runs."""
    lab = own_lab("cleaned")
    lab.up()
    running = lab.state.processes
    shutil.rmtree(lab.base)
    told: list[str] = []

    class Listener(Silence):
        def done(self, text: str) -> None:
            told.append(text)

    assert session.down(lab.name, Listener(), base=lab.base)
    assert not any(processes.is_running(p) for p in running)
    assert told == [
        "the lab 'cleaned' is gone; its folder was gone before, and 5 processes of it still ran"
    ]
    assert not lab.base.exists()
    assert not lab.down()


def test_up_ends_what_a_removed_lab_has_left_and_begins_anew(own_lab: Make) -> None:
    lab = own_lab("again")
    lab.up()
    before = lab.state.processes
    shutil.rmtree(lab.folder.root)
    assert lab.up().is_ready
    assert not any(processes.is_running(p) for p in before)


def test_up_goes_on_with_the_copy_of_a_lost_record(own_lab: Make) -> None:
    lab = own_lab("copied")
    lab.up()
    before = lab.state.processes
    lab.folder.state.unlink()
    assert lab.up().is_ready
    assert lab.state.processes == before


def test_a_component_that_hangs_is_started_anew(
    own_lab: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was halted at once; one of which only its silence tells after the wait."""
    lab = own_lab("hung")
    lab.up()
    lab.kubectl("create", "namespace", "kept")
    victim = lab.state.process("kube-apiserver")
    assert victim
    os.kill(victim.pid, signal.SIGSTOP)
    begin = time.monotonic()
    assert lab.up().is_ready
    assert time.monotonic() - begin < control_plane.READY_SECONDS_MAX
    assert not processes.is_running(victim)
    monkeypatch.setattr(processes, "is_stopped", lambda _: False)
    monkeypatch.setattr(control_plane, "READY_SECONDS_MAX", 20.0)
    victim = lab.state.process("kube-scheduler")
    assert victim
    os.kill(victim.pid, signal.SIGSTOP)
    assert lab.up().is_ready
    assert not processes.is_running(victim)
    assert lab.get("namespace", "kept")["status"]["phase"] == "Active"


def test_a_spec_that_changed_after_a_broken_first_up_begins_on_an_empty_cluster(
    own_lab: Make, platform: Platform, toolchain: Toolchain
) -> None:
    """Nobody would know of what the first one had made: Pulumi kept no state of it."""
    lab = own_lab("changed")
    file = StateFile(lab.folder)
    lab.up()
    lab.kubectl("create", "namespace", "old-project")
    made = session.what_is_made(Lab(lab.folder, file, platform, toolchain, Silence()))
    file.update(lambda state: replace(state, begun=made))
    lab.up()
    assert lab.get("namespace", "old-project")
    less = replace(platform, projects=dict(list(platform.projects.items())[1:]))
    changed = RunningLab(lab.base, lab.name, less, toolchain)
    before = lab.state.processes
    assert changed.up().is_ready
    assert not any(processes.is_running(p) for p in before)
    assert lab.kubectl("get", "namespace", "old-project").returncode != 0


def test_up_does_not_start_in_a_folder_with_a_blank(
    tmp_path: Path, platform: Platform, toolchain: Toolchain
) -> None:
    lab = RunningLab(tmp_path / "my labs", "demo", platform, toolchain)
    with pytest.raises(LabError, match="cannot run in"):
        lab.up()
    assert not lab.base.exists()


def test_down_leaves_a_process_alone_that_only_has_a_recorded_pid(own_lab: Make) -> None:
    """A pid that was ours belongs to somebody else after a reboot."""
    lab = own_lab("reused")
    stranger = processes.start(
        "stranger", ["/bin/sleep", "60"], log=lab.base / "stranger.log", environment={}
    )
    try:
        recorded = processes.Process("etcd", stranger.pid, 1, stranger.executable, "x")
        StateFile(lab.folder).update(lambda state: state.with_process(recorded))
        pids = lab.folder.cluster / "pids"
        pids.mkdir(parents=True)
        (pids / "etcd.pid").write_text(str(stranger.pid))
        lab.down()
        assert processes.is_running(stranger)
    finally:
        processes.stop([stranger])


def test_a_log_that_is_not_there_is_told_with_those_that_are(shared_lab: RunningLab) -> None:
    path = session.logs(shared_lab.name, "kube-apiserver", base=shared_lab.base)
    assert path.stat().st_size > 0
    with pytest.raises(LabError, match="kube-scheduler"):
        session.logs(shared_lab.name, "kueue", base=shared_lab.base)
