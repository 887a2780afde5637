"""A process is known by pid, start time and program, and ended by nothing less."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lab import processes
from lab.processes import Process

SLEEP = "/bin/sleep"
# Says when it is deaf to SIGTERM, so that no test is too early.
STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    " print('deaf', flush=True); time.sleep(60)"
)


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[Process]:
    process = processes.start("sleeper", [SLEEP, "60"], log=tmp_path / "log", environment={})
    yield process
    processes.stop([process])


def test_a_started_process_has_its_own_session_its_log_and_its_environment(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "told"
    command = ["/bin/sh", "-c", "echo $WORD; echo worse >&2"]
    process = processes.start("told", command, log=log, environment={"WORD": "good"})
    assert processes.wait(process, 10)
    assert processes.reap(process.pid) == 0
    assert log.read_text().split() == ["good", "worse"]


def test_a_process_leads_a_session_of_its_own(sleeper: Process) -> None:
    assert os.getsid(sleeper.pid) == sleeper.pid != os.getsid(0)


def test_a_program_that_is_not_there_cannot_be_started(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        processes.start("none", [str(tmp_path / "none")], log=tmp_path / "log", environment={})


def test_a_process_is_itself_until_it_ends(sleeper: Process) -> None:
    assert processes.is_running(sleeper)
    processes.stop([sleeper])
    assert not processes.is_running(sleeper)


@pytest.mark.parametrize(
    "change", [{"started": 1}, {"executable": "/bin/other"}, {"pid": os.getpid()}]
)
def test_another_process_of_the_same_pid_is_neither_taken_for_ours_nor_ended(
    sleeper: Process, change: dict[str, object]
) -> None:
    other = replace(sleeper, **change)  # type: ignore[arg-type]
    assert not processes.is_running(other)
    assert processes.memory_bytes(other) is None
    processes.stop([other])
    assert processes.is_running(sleeper)


def test_a_process_that_ended_and_was_not_collected_is_not_running(tmp_path: Path) -> None:
    """Children of kwokctl become such while it waits for others."""
    with subprocess.Popen([SLEEP, "60"]) as child:
        process = processes.identify("child", child.pid, tmp_path)
        assert process
        child.send_signal(signal.SIGKILL)
        assert processes.wait(process, 10)
        assert Path(f"/proc/{child.pid}/stat").exists()
        assert not processes.is_running(process)
        assert processes.identify("child", child.pid, tmp_path) is None


def test_who_does_not_end_when_asked_is_killed(tmp_path: Path) -> None:
    log = tmp_path / "log"
    stubborn = processes.start(
        "stubborn", [sys.executable, "-c", STUBBORN], log=log, environment={}
    )
    while "deaf" not in log.read_text():
        time.sleep(0.02)
    begin = time.monotonic()
    processes.stop([stubborn], seconds_max=0.3)
    assert time.monotonic() - begin >= 0.3
    assert not processes.is_running(stubborn)


def test_who_is_killed_takes_along_what_it_has_started(tmp_path: Path, sleeper: Process) -> None:
    """Pulumi's providers are groups of their own in its session."""
    log = tmp_path / "log"
    script = (
        "import subprocess as s, time; print(s.Popen(['/bin/sleep', '60'], process_group=0).pid);"
        + STUBBORN
    )
    leader = processes.start("leader", [sys.executable, "-c", script], log=log, environment={})
    while "deaf" not in log.read_text():
        time.sleep(0.02)
    started = processes.identify("started", int(log.read_text().split()[0]), log)
    assert started
    assert os.getpgid(started.pid) != os.getpgid(leader.pid)
    processes.stop([leader], seconds_max=0.2)
    assert processes.wait(started, 10)
    assert processes.is_running(sleeper)


def test_several_are_asked_at_once(tmp_path: Path) -> None:
    sleepers = [
        processes.start(f"s{n}", [SLEEP, "60"], log=tmp_path / "log", environment={})
        for n in range(5)
    ]
    begin = time.monotonic()
    processes.stop(sleepers)
    assert time.monotonic() - begin < processes.STOP_SECONDS_MAX
    assert not any(processes.is_running(process) for process in sleepers)


def test_a_program_whose_file_was_replaced_is_still_itself(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(Path(SLEEP).read_bytes())
    program.chmod(0o755)
    process = processes.start("p", [str(program), "60"], log=tmp_path / "log", environment={})
    try:
        program.unlink()
        assert processes.is_running(process)
    finally:
        processes.stop([process])
    assert not processes.is_running(process)


def test_a_shim_that_became_another_program_is_still_itself(tmp_path: Path) -> None:
    shim = ["/bin/sh", "-c", "read wait < gate; exec sleep 60"]
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    shim[2] = shim[2].replace("gate", str(gate))
    environment = {"PATH": os.defpath}
    process = processes.start(
        "shim", shim, log=tmp_path / "log", environment=environment, may_be_shim=True
    )
    before = Path(f"/proc/{process.pid}/exe").readlink()
    gate.write_text("go\n")
    while Path(f"/proc/{process.pid}/exe").readlink() == before:
        time.sleep(0.01)
    assert processes.is_running(process)
    processes.stop([process])
    assert not processes.is_running(process)


def test_memory_is_the_proportional_share(tmp_path: Path) -> None:
    myself = processes.identify("test", os.getpid(), tmp_path)
    assert myself
    memory = processes.memory_bytes(myself)
    assert memory is not None
    assert 2**20 < memory < 2**32
