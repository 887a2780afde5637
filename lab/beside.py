"""One process beside the control plane, as the record of a lab knows it: Kueue's manager, JobSet's
controller, our own controllers.

Their ports, whether they run and are ready, and their end. How each is started is its own
business, in `manager.py` and `controllers.py`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from lab import processes
from lab.api import is_healthy
from lab.certificates import VALIDITY
from lab.errors import LabError, PortError
from lab.folder import LabFolder
from lab.last_words import last_words
from lab.ports import IN_USE, LOOPBACK, HeldPorts, health_port, hold, hold_again, wait_free
from lab.state import LabState, StateFile

READY_SECONDS_MAX = 60.0
# As long as the lab's certificates are valid; each start makes a new one.
TOKEN_SECONDS = int(VALIDITY.total_seconds())
_POLL_SECONDS = 0.1


@dataclass(frozen=True)
class Beside:
    """The process of one name in one lab.

    Attributes:
        name: what the record and its log are called.
        title: what people read, e.g. `Kueue's manager`.
        ports: the names of its ports.
        waited_for: what it does once it is ready, after `it does not`.
        folder: the lab's.
        file: the lab's record.
    """

    name: str
    title: str
    ports: tuple[str, ...]
    waited_for: str
    folder: LabFolder
    file: StateFile

    @property
    def log(self) -> Path:
        """Return its log."""
        return self.folder.logs / f"{self.name}.log"

    def is_running(self) -> bool:
        """Say whether the recorded process lives, whatever state it is in."""
        process = self.file.current().process(self.name)
        return process is not None and processes.is_running(process)

    def is_ready(self) -> bool:
        """Say whether it runs and says that it is ready."""
        return self.is_running() and is_healthy(health(self.file.current(), self.name))

    def hold_ports(self) -> HeldPorts:
        """Hold the ports of before, if all are free, or others; they are recorded."""
        recorded = self.file.current().ports or {}
        before = {name: port for name, port in recorded.items() if name in self.ports}
        wait_free(before.values())
        held = hold_again(before)
        if set(held.ports) != set(self.ports):
            held.release(*held.ports)
            held = hold(self.ports)
        self.file.update(lambda state: state.with_ports(held.ports))
        return held

    def wait_ready(self) -> None:
        """Wait until it is ready.

        Raises:
            PortError: another program was faster at one of its ports.
            LabError: it ended, or was not ready in time.
        """
        deadline = time.monotonic() + READY_SECONDS_MAX
        while not self.is_ready():
            if not self.is_running():
                why = last_words(self.log)
                # Python begins the same words with a capital.
                kind = PortError if IN_USE in why.lower() else LabError
                raise kind(
                    f"{self.title} ended",
                    why=why,
                    advice="Run `up` again; if it ends again, run `tally lab down` first",
                    log=self.log,
                )
            if time.monotonic() > deadline:
                raise LabError(
                    f"{self.title} is not ready",
                    why=f"after {READY_SECONDS_MAX:.0f} s it does not {self.waited_for}",
                    advice="See its log, free processors and memory, then run `up` again",
                    log=self.log,
                )
            time.sleep(_POLL_SECONDS)

    def stop(self) -> None:
        """End it, by force where it ignores the friendly signal."""
        if process := self.file.current().process(self.name):
            processes.stop([process])


def health(state: LabState, name: str) -> str:
    """Return the address by which the process of a name says that it is ready."""
    return f"http://{LOOPBACK}:{state.port(health_port(name))}/readyz"
