"""The processes of a lab whose record is lost, found again in /proc.

Whoever removes the folder of a running lab removes its record, its pid files and its programs'
links; what runs goes on. It is found by the paths it was started with, and by nothing else: a
program of the same name elsewhere is somebody else's.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from lab import processes
from lab.folder import LabFolder
from lab.processes import Process

_PROC = Path("/proc")


def find(folder: LabFolder) -> frozenset[Process]:
    """Return the processes of this user that were started for this lab.

    Such a process runs a program in the lab's folder, or was started by a path in it; or it
    leads a session without a terminal, as all that the lab starts, and was given a file in the
    folder. A person who reads a log of the lab is none of them.
    """
    roots = {str(folder.root), str(folder.root.resolve())}
    mine = _ourselves()
    found = (
        _belongs(int(entry.name), roots, folder)
        for entry in _PROC.iterdir()
        if entry.name.isdigit() and int(entry.name) not in mine
    )
    return frozenset(process for process in found if process)


def _belongs(pid: int, roots: set[str], folder: LabFolder) -> Process | None:
    try:
        if (_PROC / str(pid)).stat().st_uid != os.getuid():
            return None
        command = (_PROC / str(pid) / "cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return None
    process = processes.identify(Path(command[0]).name, pid, folder.logs)
    if process is None:
        return None
    programs = (process.executable, command[0])
    if any(_is_under(path, roots) for path in programs):
        return process
    # A script's program is its interpreter, and Kueue's manager runs from the cache.
    is_told = any(_is_under(part.partition("=")[2] or part, roots) for part in command[1:])
    return process if is_told and _is_in_background(pid) else None


def _is_under(path: str, roots: set[str]) -> bool:
    return any(path.startswith(f"{root}{os.sep}") for root in roots)


def _is_in_background(pid: int) -> bool:
    with suppress(OSError):
        return os.getsid(pid) == pid and not processes.has_terminal(pid)
    return False


def _ourselves() -> set[int]:
    """Return this process and those that started it."""
    found: set[int] = set()
    pid: int | None = os.getpid()
    while pid and pid not in found:
        found.add(pid)
        pid = processes.parent(pid)
    return found
