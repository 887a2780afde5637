"""Processes that outlive the command that started them.

A process is known by its pid, its start time and its program, because a bare pid may belong
to somebody else by the time it is read again. Nothing is ever ended by name. Where the record
is lost, `orphans.py` finds a lab's processes again.
"""

from __future__ import annotations

import os
import re
import select
import signal
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from lab.folder import private_folder

# A program may take this long to end by itself before it is killed.
STOP_SECONDS_MAX = 5.0
# A killed process is gone at once, unless the kernel is busy writing for it.
KILL_SECONDS_MAX = 10.0
# The kernel appends this to the name of a program whose file was replaced while it ran.
_REPLACED = " (deleted)"


@dataclass(frozen=True)
class Process:
    """One process. `started` is in clock ticks since boot (field 22 of /proc/PID/stat).

    `executable` is empty for a program that may be a shim, which replaces itself by another.
    """

    name: str
    pid: int
    started: int
    executable: str
    log: str


def start(
    name: str,
    command: Sequence[str],
    *,
    log: Path,
    environment: Mapping[str, str],
    may_be_shim: bool = False,
) -> Process:
    """Start a program in a session of its own; its output is appended to the log.

    Args:
        name: how the record calls it.
        command: the program's path and its arguments.
        log: the file for its output.
        environment: all of its environment.
        may_be_shim: it comes from a person's PATH, and may become another program.

    Raises:
        OSError: the program cannot be run.
    """
    private_folder(log.parent)
    pid = os.posix_spawn(
        command[0],
        list(command),
        dict(environment),
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
        # Python ignores this one, and a program inherits what is ignored.
        setsigdef=[signal.SIGPIPE],
    )
    process = identify(name, pid, log) or Process(name, pid, 0, command[0], str(log))
    return replace(process, executable="") if may_be_shim else process


def identify(name: str, pid: int, log: Path) -> Process | None:
    """Return who has this pid now; None when nobody has, or only a process that ended."""
    started = _start_time(pid)
    if started is None:
        return None
    try:
        executable = str(Path(f"/proc/{pid}/exe").readlink()).removesuffix(_REPLACED)
    except OSError:
        return None
    return Process(name, pid, started, executable, str(log))


def is_running(process: Process) -> bool:
    """Say whether the pid is still this very process, and it has not ended."""
    now = identify(process.name, process.pid, Path(process.log))
    return (
        now is not None
        and now.started == process.started
        and (not process.executable or now.executable == process.executable)
    )


def is_stopped(process: Process) -> bool:
    """Say whether a process was halted by a signal (SIGSTOP) and does nothing."""
    fields = _stat(process.pid)
    return fields is not None and fields[0] == "T" and is_running(process)


def has_terminal(pid: int) -> bool:
    """Say whether a process belongs to a terminal, and so to somebody who sits there."""
    fields = _stat(pid)
    return fields is not None and fields[4] != "0"


def parent(pid: int) -> int | None:
    """Return who started a process; None when that cannot be seen."""
    fields = _stat(pid)
    return int(fields[1]) if fields else None


def session(pid: int) -> int | None:
    """Return the session that a process belongs to; None when that cannot be seen."""
    fields = _stat(pid)
    return int(fields[3]) if fields else None


def working_folder(pid: int) -> Path | None:
    """Return the folder in which a process runs; None when that cannot be seen."""
    try:
        return Path(f"/proc/{pid}/cwd").readlink()
    except OSError:
        return None


def memory_bytes(process: Process) -> int | None:
    """Return the proportional set size: private pages, and its share of shared ones."""
    try:
        rollup = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
    except OSError:
        return None
    found = re.search(r"^Pss:\s+(\d+) kB$", rollup, re.MULTILINE)
    return int(found[1]) * 1024 if found and is_running(process) else None


def stop(processes: Iterable[Process], *, seconds_max: float = STOP_SECONDS_MAX) -> None:
    """End processes together: ask all (SIGTERM), wait, kill those that are left.

    What is not that very process any more is left alone.
    """
    handles = {p: h for p in processes if (h := _handle(p)) is not None}
    try:
        _signal(handles, signal.SIGTERM)
        left = _wait(handles, seconds_max)
        for process in left:
            kill(process)
        _wait(left, KILL_SECONDS_MAX)
    finally:
        for process, handle in handles.items():
            os.close(handle)
            reap(process.pid)


def kill(process: Process) -> None:
    """End a process at once (SIGKILL), with those of its session, without waiting.

    What it has started, as Pulumi its providers, would not hear of its end for minutes.
    """
    if (handle := _handle(process)) is None:
        return
    followers = [pid for pid in _pids() if pid != process.pid and session(pid) == process.pid]
    _signal({process: handle}, signal.SIGKILL)
    os.close(handle)
    for pid in followers:
        follower = identify(process.name, pid, Path(process.log))
        if follower and session(pid) == process.pid and (handle := _handle(follower)) is not None:
            _signal({follower: handle}, signal.SIGKILL)
            os.close(handle)


def wait(process: Process, seconds_max: float) -> bool:
    """Wait until a process has ended; say whether it has."""
    handle = _handle(process)
    if handle is None:
        return True
    try:
        return not _wait({process: handle}, seconds_max)
    finally:
        os.close(handle)


def reap(pid: int) -> int | None:
    """Return the exit code of a child that has ended; None when it is not our child."""
    with suppress(ChildProcessError):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
    return None


def _pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _start_time(pid: int) -> int | None:
    fields = _stat(pid)
    return None if fields is None or fields[0] in "ZX" else int(fields[19])


def _stat(pid: int) -> list[str] | None:
    """Return what the kernel tells of a process, from its state on (field 3 of its stat)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    # The second field is the program's name and may hold blanks and brackets.
    return stat[stat.rindex(")") + 2 :].split()


def _handle(process: Process) -> int | None:
    """Return a descriptor of exactly this process; a pid that is reused cannot be meant by it."""
    try:
        handle = os.pidfd_open(process.pid)
    except (OSError, OverflowError):
        return None
    if is_running(process):
        return handle
    os.close(handle)
    return None


def _signal(handles: Mapping[Process, int], number: signal.Signals) -> None:
    for handle in handles.values():
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(handle, number)


def _wait(handles: Mapping[Process, int], seconds_max: float) -> dict[Process, int]:
    """Return those that have not ended after the given time."""
    left = dict(handles)
    ends = select.poll()
    for handle in left.values():
        ends.register(handle, select.POLLIN)
    deadline = time.monotonic() + seconds_max
    while left and (seconds := deadline - time.monotonic()) > 0:
        ended = {handle for handle, _ in ends.poll(seconds * 1000)}
        for handle in ended:
            ends.unregister(handle)
        left = {p: h for p, h in left.items() if h not in ended}
    return left
