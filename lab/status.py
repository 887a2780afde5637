"""What a lab is made of and how it is doing, as data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lab import beside, control_plane, kwokctl, processes
from lab.api import is_healthy
from lab.folder import LabFolder
from lab.kwokctl import COMPONENTS
from lab.ports import CONTROLLERS, MANAGERS, health_port, manager_ports
from lab.state import LabState


@dataclass(frozen=True)
class ComponentStatus:
    """One process of the lab. `memory_bytes` is its proportional set size while it runs."""

    name: str
    pid: int | None
    port: int | None
    is_running: bool
    is_ready: bool
    memory_bytes: int | None
    log: str | None


@dataclass(frozen=True)
class LabStatus:
    """One lab. Without `exists` everything else is empty."""

    name: str
    exists: bool
    overlay: str
    server: str | None
    environment: Path
    components: tuple[ComponentStatus, ...]

    @property
    def is_ready(self) -> bool:
        """Say whether all its parts run and work."""
        return bool(self.components) and all(c.is_ready for c in self.components)

    @property
    def memory_bytes(self) -> int:
        """Return the proportional memory of all its processes together."""
        return sum(c.memory_bytes or 0 for c in self.components)


def of(folder: LabFolder, state: LabState | None) -> LabStatus:
    """Look at the processes of a lab now."""
    if state is None or not state.ports:
        return LabStatus(folder.name, state is not None, "", None, folder.environment, ())
    has_plane = state.ports.keys() >= set(kwokctl.PORTS)
    urls = control_plane.health(state) if has_plane else {}
    for name in MANAGERS:
        if state.ports.keys() >= set(manager_ports(name)):
            urls[name] = beside.health(state, name)
    if health_port(CONTROLLERS) in state.ports:
        urls[CONTROLLERS] = beside.health(state, CONTROLLERS)
    return LabStatus(
        name=folder.name,
        exists=True,
        overlay=state.overlay,
        server=control_plane.server(state) if has_plane else None,
        environment=folder.environment,
        components=tuple(_component(state, name, url) for name, url in urls.items()),
    )


def _component(state: LabState, name: str, url: str) -> ComponentStatus:
    process = state.process(name)
    is_running = process is not None and processes.is_running(process)
    ports = {
        CONTROLLERS: health_port(CONTROLLERS),
        **{each: manager_ports(each)[0] for each in MANAGERS},
    }
    port = name if name in COMPONENTS else ports[name]
    return ComponentStatus(
        name=name,
        pid=process.pid if process and is_running else None,
        port=state.port(port),
        is_running=is_running,
        is_ready=is_running and is_healthy(url),
        memory_bytes=processes.memory_bytes(process) if process and is_running else None,
        log=process.log if process else None,
    )
