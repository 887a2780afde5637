"""Our controllers as a process beside the control plane, in the rights of their own account.

Without the namespace, the account and the spec, which Pulumi makes, they can do nothing; so
they start when `pulumi up` has ended, and `up` ends when they have opened every host.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab import certificates, processes
from lab.api import Api, is_healthy
from lab.errors import LabError, PortError
from lab.folder import CHECKOUT, LabFolder, write_private
from lab.kubeconfigs import of_token
from lab.last_words import last_words
from lab.nodes import FAKE
from lab.ports import CONTROLLERS, CONTROLLERS_PORT, LOOPBACK, hold, hold_again, wait_free
from lab.state import LabState, StateFile
from tallyard import labels

NAME = CONTROLLERS
READY_SECONDS_MAX = 60.0
# They open all hosts of a lab within a second of their start.
RELEASED_SECONDS_MAX = 60.0
# As long as the lab's certificates are valid; each start makes a new one.
_TOKEN_SECONDS = int(certificates.VALIDITY.total_seconds())
_POLL_SECONDS = 0.1
_REASONS_SHOWN_MAX = 3
_PACKAGE = CHECKOUT / "tallyard"


@dataclass(frozen=True)
class Controllers:
    """The controllers of one lab."""

    folder: LabFolder
    file: StateFile

    @property
    def log(self) -> Path:
        """Return their log."""
        return self.folder.logs / f"{NAME}.log"

    def ensure(self) -> bool:
        """Make them run and be ready.

        Returns:
            Whether they had to be started.

        Raises:
            PortError: another program was faster at their port.
            LabError: they ended, or were not ready in time.
        """
        if self.is_ready() and self._started_with() == _code():
            return False
        self.stop()
        self._start()
        self._wait_ready()
        return True

    def is_running(self) -> bool:
        """Say whether the recorded process lives, whatever state it is in."""
        process = self.file.current().process(NAME)
        return process is not None and processes.is_running(process)

    def is_ready(self) -> bool:
        """Say whether it runs and has read the cluster."""
        return self.is_running() and is_healthy(health(self.file.current()))

    def stop(self) -> None:
        """End them; they give their lease back."""
        if process := self.file.current().process(NAME):
            processes.stop([process])

    def _start(self) -> None:
        token = Api(self.folder.admin).token(
            labels.SYSTEM_NAMESPACE, labels.CONTROLLERS, _TOKEN_SECONDS
        )
        write_private(self._kubeconfig, of_token(self.folder.admin, token))
        port = self._choose_port()
        command = [
            *(sys.executable, "-P", "-m", "tallyard.controllers"),
            *("--kubeconfig", str(self._kubeconfig)),
            # The same after a restart: the one before has ended, and nobody waits for its lease.
            *("--identity", f"lab-{self.folder.name}"),
            *("--bind", LOOPBACK, "--port", str(port)),
        ]
        write_private(self._version, _code().encode())
        process = processes.start(NAME, command, log=self.log, environment=os.environ)
        self.file.update(lambda state: state.with_process(process))

    def _choose_port(self) -> int:
        """Return the port of before, if it is free, or another one; it is recorded."""
        before = (self.file.current().ports or {}).get(CONTROLLERS_PORT)
        if before:
            wait_free([before])
            with hold_again({CONTROLLERS_PORT: before}) as again:
                if again.ports:
                    return before
        with hold([CONTROLLERS_PORT]) as held:
            ports = held.ports
            self.file.update(lambda state: state.with_ports(ports))
            return int(ports[CONTROLLERS_PORT])

    def _wait_ready(self) -> None:
        deadline = time.monotonic() + READY_SECONDS_MAX
        while not self.is_ready():
            if not self.is_running():
                why = last_words(self.log)
                kind = PortError if "in use" in why else LabError
                raise kind(
                    "the controllers ended",
                    why=why,
                    advice="Run `up` again; if they end again, run `tally lab down` first",
                    log=self.log,
                )
            if time.monotonic() > deadline:
                raise LabError(
                    "the controllers are not ready",
                    why=f"after {READY_SECONDS_MAX:.0f} s they have not read the cluster",
                    advice="See their log, free processors and memory, then run `up` again",
                    log=self.log,
                )
            time.sleep(_POLL_SECONDS)

    def _started_with(self) -> str:
        try:
            return self._version.read_text()
        except OSError:
            return ""

    @property
    def _kubeconfig(self) -> Path:
        return self.folder.root / NAME / "kubeconfig"

    @property
    def _version(self) -> Path:
        return self.folder.root / NAME / "version"


def health(state: LabState) -> str:
    """Return the address by which the controllers say that they are ready."""
    return f"http://{LOOPBACK}:{state.port(CONTROLLERS_PORT)}/readyz"


def wait_released(api: Api, hosts: Iterable[str], log: Path) -> None:
    """Wait until the gate has opened all these hosts.

    Raises:
        LabError: one of them is held back; with the gate's reasons.
    """
    wanted = tuple(hosts)
    deadline = time.monotonic() + RELEASED_SECONDS_MAX
    while held := held_back(api.nodes(FAKE), wanted):
        if time.monotonic() > deadline:
            first = "; ".join(f"{n}: {why}" for n, why in list(held.items())[:_REASONS_SHOWN_MAX])
            raise LabError(
                f"{len(held)} of {len(wanted)} hosts are kept from work",
                why=f"after {RELEASED_SECONDS_MAX:.0f} s the host gate has not opened them: {first}",
                advice="`tally node check` tells it of all; mend that, then run `up` again",
                log=log,
            )
        time.sleep(_POLL_SECONDS)


def held_back(nodes: Mapping[str, Mapping[str, Any]], hosts: Iterable[str]) -> dict[str, str]:
    """Return the hosts that carry the gate's taint or are not there, with the reasons."""
    held = {}
    for name in hosts:
        node = nodes.get(name)
        if node is None:
            held[name] = "the cluster has no node of this name"
            continue
        taints = (node.get("spec") or {}).get("taints") or ()
        if any(taint["key"] == labels.UNVERIFIED_TAINT for taint in taints):
            told = (node["metadata"].get("annotations") or {}).get(labels.HELD)
            held[name] = told or "the controllers have not looked at it"
    return held


def _code() -> str:
    """Return a hash of the program: a lab that is brought up runs the code of today."""
    seen = hashlib.sha256()
    for file in sorted(_PACKAGE.rglob("*.py")):
        if "cli" not in file.relative_to(_PACKAGE).parts:
            seen.update(file.read_bytes())
    return seen.hexdigest()
