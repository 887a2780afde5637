"""A lab whose folder was removed is found by the paths of its processes, and nobody else is."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab import orphans, processes
from lab.folder import LabFolder, lab_folder
from lab.processes import Process

type Start = Callable[..., Process]
SLEEP = Path("/bin/sleep")
NAP = "import time; time.sleep(60)"


@pytest.fixture
def folder(tmp_path: Path) -> LabFolder:
    return lab_folder("demo", tmp_path)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start what must not outlive the test."""
    started: list[Process] = []

    def start(*command: object) -> Process:
        parts = [str(part) for part in command]
        process = processes.start("x", parts, log=tmp_path / "log", environment={})
        started.append(process)
        return process

    yield start
    processes.stop(started)


def _program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(SLEEP, path)
    return path


def _pids(folder: LabFolder) -> set[int]:
    return {process.pid for process in orphans.find(folder)}


def test_a_program_in_the_folder_is_found_also_after_the_folder_is_gone(
    folder: LabFolder, start: Start
) -> None:
    process = start(_program(folder.cluster / "bin" / "etcd"), 60)
    assert _pids(folder) == {process.pid}
    shutil.rmtree(folder.root)
    (found,) = orphans.find(folder)
    assert (found.pid, found.name) == (process.pid, "etcd")
    processes.stop([found])
    assert not processes.is_running(process)


def test_a_link_in_the_folder_to_a_program_elsewhere_is_found(
    folder: LabFolder, start: Start
) -> None:
    """So kwokctl starts them all."""
    link = folder.cluster / "bin" / "etcd"
    link.parent.mkdir(parents=True)
    link.symlink_to(SLEEP)
    process = start(link, 60)
    shutil.rmtree(folder.root)
    assert _pids(folder) == {process.pid}


def test_a_program_that_was_given_a_file_of_the_lab_is_found(
    folder: LabFolder, start: Start
) -> None:
    """So Kueue's manager is started; `--option=path` counts as well."""
    file = folder.kueue / "configuration.yaml"
    both = {
        start(sys.executable, "-c", NAP, "--config", file).pid,
        start(sys.executable, "-c", NAP, f"--config={file}").pid,
    }
    assert _pids(folder) == both


def test_what_only_looks_alike_is_left_alone(folder: LabFolder, start: Start) -> None:
    neighbour = folder.base / "demo-2"
    start(_program(neighbour / "bin" / "etcd"), 60)
    start(sys.executable, "-c", NAP, "--config", neighbour / "kueue" / "configuration.yaml")
    start(sys.executable, "-c", NAP, folder.root)
    start(sys.executable, "-c", NAP, f"see {folder.root}/lab.json")
    assert _pids(folder) == set()


@pytest.fixture
def terminal() -> Iterator[str]:
    """The name of a terminal."""
    ours, theirs = pty.openpty()
    yield os.ttyname(theirs)
    os.close(ours)
    os.close(theirs)


def test_whoever_reads_a_file_of_the_lab_is_left_alone(folder: LabFolder, terminal: str) -> None:
    """In a script's own session, and at a terminal as the first of its session."""
    command = [sys.executable, "-c", NAP, str(folder.logs / "kueue.log")]
    sitting = ["/bin/sh", "-c", 'exec <"$0"; exec "$@"', terminal, *command]
    with (
        subprocess.Popen(command) as reader,
        subprocess.Popen(sitting, start_new_session=True) as person,
    ):
        try:
            while not processes.has_terminal(person.pid):
                time.sleep(0.01)
            assert _pids(folder) == set()
        finally:
            reader.kill()
            person.kill()
