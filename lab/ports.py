"""Free ports on the loopback address, held until their owner takes them.

They are chosen below the range from which the system takes ports for outgoing connections:
any program on the machine could otherwise be given one between our choice and its use.
"""

from __future__ import annotations

import random
import socket
import time
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self

from lab.errors import LabError

LOOPBACK = "127.0.0.1"
# How programs say in their logs that a port belongs to another one, but for capitals.
IN_USE = "address already in use"
# How the record calls the controllers with webhooks that run beside the control plane.
KUEUE = "kueue"
JOBSET = "jobset"
MANAGERS = (KUEUE, JOBSET)
# Our own controllers, which have that port alone by which every such process tells its health.
CONTROLLERS = "controllers"
_LOWEST = 10_240
_TRIES_MAX = 200
_CLOSING_SECONDS_MAX = 5.0
_CLOSING_POLL_SECONDS = 0.05
_OUTGOING = Path("/proc/sys/net/ipv4/ip_local_port_range")


def health_port(name: str) -> str:
    """Return the name of the port by which a process beside the control plane tells its health."""
    return f"{name}-health"


def manager_ports(name: str) -> tuple[str, ...]:
    """Return the names of a manager's ports, that of its webhooks first."""
    return (f"{name}-webhook", f"{name}-metrics", health_port(name))


class HeldPorts:
    """Ports that nobody else can take until they are released; a context manager."""

    def __init__(self, sockets: Mapping[str, socket.socket]) -> None:
        self._sockets = dict(sockets)
        self.ports = MappingProxyType({n: s.getsockname()[1] for n, s in sockets.items()})

    def release(self, *names: str) -> None:
        """Let go of these ports, for the programs that will listen on them now."""
        for name in names:
            if held := self._sockets.pop(name, None):
                held.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let go of all."""
        self.release(*tuple(self._sockets))


def hold(names: Iterable[str]) -> HeldPorts:
    """Choose one free port for each name and hold them all.

    Raises:
        LabError: no free port was found.
    """
    sockets: dict[str, socket.socket] = {}
    try:
        for name in names:
            sockets[name] = _bind_any()
    except BaseException:
        HeldPorts(sockets).release(*sockets)
        raise
    return HeldPorts(sockets)


def hold_again(ports: Mapping[str, int]) -> HeldPorts:
    """Hold ports that were chosen earlier, as far as they are free; see `ports` of the result."""
    sockets = {name: s for name, port in ports.items() if (s := _bind(port))}
    return HeldPorts(sockets)


def wait_free(ports: Collection[int]) -> set[int]:
    """Wait for ports whose owners were just killed; return those that stay taken.

    The kernel tells that a process is dead a moment before it closes what that had open.
    """
    deadline = time.monotonic() + _CLOSING_SECONDS_MAX
    while taken := {port for port in ports if not is_free(port)}:
        if time.monotonic() > deadline:
            break
        time.sleep(_CLOSING_POLL_SECONDS)
    return taken


def is_free(port: int) -> bool:
    """Say whether a program could listen on this port now."""
    held = _bind(port)
    if held:
        held.close()
    return held is not None


def _bind_any() -> socket.socket:
    highest = int(_OUTGOING.read_text().split()[0]) if _OUTGOING.exists() else 32_768
    choice = random.SystemRandom()
    for _ in range(_TRIES_MAX):
        # Where the outgoing range leaves no room below it, the system chooses.
        port = choice.randrange(_LOWEST, highest) if highest > _LOWEST + _TRIES_MAX else 0
        if held := _bind(port):
            return held
    raise LabError(
        "no free port was found",
        why=f"{_TRIES_MAX} ports between {_LOWEST} and {highest} were tried and all are in use",
        advice="End programs that listen on many ports, then run the command again",
    )


def _bind(port: int) -> socket.socket | None:
    held = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    # A port whose last connections are still closing is free for a server, and only so. Two
    # such sockets may share a port until one listens, so the holder listens as well.
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        held.bind((LOOPBACK, port))
        held.listen(1)
    except OSError:
        held.close()
        return None
    return held
