"""The record of one lab: its ports, its processes, and who works on it now.

Writes replace the file as a whole. One command at a time works on a lab (a file lock); inside
it, several threads may change the record.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from lab.errors import BusyError, StateError
from lab.folder import LabFolder, private_folder, write_private
from lab.kwokctl import PORTS
from lab.ports import CONTROLLERS, MANAGERS, health_port, manager_ports
from lab.processes import Process
from lab.report import Report

# The layout of lab.json; a lab of another layout is ended, not guessed at.
VERSION = 1
# An `up` that builds nothing takes about a minute; who waits longer than this has a stuck one.
LOCK_SECONDS_MAX = 300.0
_LOCK_POLL_SECONDS = 0.2
_PORT_MAX = 65_535


@dataclass(frozen=True)
class LabState:
    """What is known of a lab.

    `overlay` is the spec's file; ports are by name of their use; `has_cluster` says that the
    control plane was once complete, so that it can be started again with its data. `begun` is
    a hash of what Pulumi was to make when it worked without keeping its state, empty when none
    such run is left unfinished.
    """

    name: str
    overlay: str = ""
    ports: Mapping[str, int] | None = None
    processes: tuple[Process, ...] = ()
    has_cluster: bool = False
    begun: str = ""
    version: int = VERSION

    def process(self, name: str) -> Process | None:
        """Return the process of this name."""
        return next((p for p in self.processes if p.name == name), None)

    def port(self, name: str) -> int:
        """Return the port of this use.

        Raises:
            KeyError: no port was chosen for it.
        """
        return (self.ports or {})[name]

    def with_process(self, process: Process) -> LabState:
        """Return the state with this process in place of an earlier one of its name."""
        others = tuple(p for p in self.processes if p.name != process.name)
        return replace(self, processes=(*others, process))

    def with_processes(self, processes: Iterable[Process]) -> LabState:
        """Return the state with all of these in place of earlier ones of their names."""
        return reduce(LabState.with_process, processes, self)

    def without_process(self, name: str) -> LabState:
        """Return the state without the process of this name."""
        return replace(self, processes=tuple(p for p in self.processes if p.name != name))

    def with_ports(self, ports: Mapping[str, int]) -> LabState:
        """Return the state with these ports in place of earlier ones of the same use."""
        return replace(self, ports={**(self.ports or {}), **ports})


_ADAPTER = TypeAdapter(LabState)


class StateFile:
    """The record on disk. `update` is safe to call from several threads."""

    def __init__(self, folder: LabFolder) -> None:
        self._folder = folder
        self._turn = threading.Lock()

    def read(self) -> LabState | None:
        """Return what is recorded, of a lost record its copy; None when there is no such lab.

        Raises:
            StateError: the file is there and cannot be understood.
        """
        try:
            return self._read(self._folder.state)
        except FileNotFoundError:
            with suppress(OSError, StateError):
                return self._read(self._copy)
            return None
        except OSError as error:
            raise self._broken(_first_line(error)) from error

    def _read(self, path: Path) -> LabState:
        state = self._parse(path)
        if fault := _fault(state):
            raise self._broken(fault)
        return state

    def _parse(self, path: Path) -> LabState:
        try:
            state = _ADAPTER.validate_json(path.read_bytes())
        except ValidationError as error:
            raise self._broken(_first_line(error)) from error
        if state.version != VERSION or state.name != self._folder.name:
            raise self._broken(f"it is of version {state.version}, of the lab {state.name!r}")
        return state

    def current(self) -> LabState:
        """Return what is recorded, or the empty record of a lab that is not there yet.

        Raises:
            StateError: the file is there and cannot be understood.
        """
        return self.read() or LabState(self._folder.name)

    def update(self, change: Callable[[LabState], LabState]) -> LabState:
        """Change the record and return it; a lab that is not recorded yet begins empty."""
        with self._turn:
            state = change(self.current())
            content = _ADAPTER.dump_json(state, indent=2)
            write_private(self._folder.state, content)
            write_private(self._copy, content)
            return state

    def recover(self) -> LabState:
        """Return the best record there is, for ending a lab whose record is broken.

        What lacks a port still tells which processes there are.
        """
        for path in (self._folder.state, self._copy):
            with suppress(OSError, StateError):
                return self._parse(path)
        return LabState(self._folder.name)

    @property
    def _copy(self) -> Path:
        return self._folder.state.with_suffix(".json.copy")

    def _broken(self, why: str) -> StateError:
        return StateError(
            f"the record of the lab {self._folder.name!r} cannot be read",
            why=why,
            advice=f"Run `tally lab down --name {self._folder.name}`, then `up` again",
            log=self._folder.state,
        )


@contextmanager
def locked(
    folder: LabFolder, report: Report, *, seconds_max: float = LOCK_SECONDS_MAX
) -> Iterator[None]:
    """Be the only command that works on this lab; wait for another one to finish.

    Raises:
        BusyError: the other one did not finish in time.
    """
    handle = _acquire(folder, report, time.monotonic() + seconds_max)
    try:
        yield
    finally:
        # Removed while it is still held: who waits for it sees that and makes a new one.
        folder.lock.unlink(missing_ok=True)
        os.close(handle)
        with suppress(OSError):
            folder.base.rmdir()


def _acquire(folder: LabFolder, report: Report, deadline: float) -> int:
    told = False
    while True:
        private_folder(folder.base)
        try:
            handle = os.open(folder.lock, os.O_RDWR | os.O_CREAT, 0o600)
        except FileNotFoundError:
            continue  # the folder was just removed by a `down`
        if _take(handle, folder.lock):
            # Only for whoever waits; a full disk must not keep a lab from being ended.
            with suppress(OSError):
                os.ftruncate(handle, 0)
                os.write(handle, str(os.getpid()).encode())
            return handle
        holder = os.pread(handle, 20, 0).decode() or "unknown"
        os.close(handle)
        if time.monotonic() > deadline:
            raise BusyError(
                f"the lab {folder.name!r} is in use",
                why=f"process {holder} is working on it",
                advice="Wait for it or end it, then run the command again",
            )
        if not told:
            report.step(f"waiting for process {holder}, which works on the lab {folder.name!r}")
            told = True
        time.sleep(_LOCK_POLL_SECONDS)


def _take(handle: int, path: Path) -> bool:
    """Lock the file; say whether it is locked and still the one that others will find."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.fstat(handle).st_ino == path.stat().st_ino
    except (BlockingIOError, FileNotFoundError):
        return False


def _fault(state: LabState) -> str:
    """Return what a record lacks that others rely on; empty when it is whole."""
    ports = state.ports or {}
    for name, port in ports.items():
        if not 1 <= port <= _PORT_MAX:
            return f"{port} is no port (of {name})"
    managers = (manager_ports(name) for name in MANAGERS if state.process(name))
    needed = ((PORTS if state.has_cluster else ()), *managers)
    if state.process(CONTROLLERS):
        needed = (*needed, (health_port(CONTROLLERS),))
    missing = [name for name in chain.from_iterable(needed) if name not in ports]
    return f"it has no port of {', '.join(missing)}" if missing else ""


def _first_line(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return ".".join(str(part) for part in first["loc"]) + " " + first["msg"]
    return str(error).splitlines()[0]
