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

from lab import processes
from lab.api import Api
from lab.beside import TOKEN_SECONDS, Beside
from lab.errors import LabError
from lab.folder import CHECKOUT, LabFolder, write_private
from lab.kubeconfigs import account_of, of_token
from lab.nodes import FAKE
from lab.ports import CONTROLLERS, LOOPBACK, health_port
from lab.state import StateFile
from tallyard import labels
from tallyard.controllers.hosts.reasons import Cause, Reason
from tallyard.controllers.hosts.verdict import is_kept_off, taints_of

# They open all hosts of a lab within a second of their start.
RELEASED_SECONDS_MAX = 60.0
_POLL_SECONDS = 0.1
_REASONS_SHOWN_MAX = 3
_PACKAGE = CHECKOUT / "tallyard"


@dataclass(frozen=True)
class Controllers:
    """The controllers of one lab."""

    folder: LabFolder
    file: StateFile

    @property
    def beside(self) -> Beside:
        """Return their process."""
        return Beside(
            CONTROLLERS,
            "the controllers' process",
            (health_port(CONTROLLERS),),
            "say that it has read the cluster",
            self.folder,
            self.file,
        )

    def ensure(self) -> bool:
        """Make them run and be ready.

        Returns:
            Whether they had to be started.

        Raises:
            PortError: another program was faster at their port.
            LabError: they ended, or were not ready in time.
        """
        api = Api(self.folder.admin)
        account = api.account_uid(labels.SYSTEM_NAMESPACE, labels.CONTROLLERS)
        is_fit = self._started_with() == _code() and account_of(self._kubeconfig) == account
        if is_fit and self.beside.is_ready():
            return False
        self.beside.stop()
        self._start(api)
        self.beside.wait_ready()
        return True

    def _start(self, api: Api) -> None:
        token = api.token(labels.SYSTEM_NAMESPACE, labels.CONTROLLERS, TOKEN_SECONDS)
        write_private(self._kubeconfig, of_token(self.folder.admin, token))
        with self.beside.hold_ports() as held:
            port = held.ports[health_port(CONTROLLERS)]
        command = [
            *(sys.executable, "-P", "-m", "tallyard.controllers"),
            *("--kubeconfig", str(self._kubeconfig)),
            # The same after a restart: the one before has ended, and nobody waits for its lease.
            *("--identity", f"lab-{self.folder.name}"),
            *("--bind", LOOPBACK, "--port", str(port)),
        ]
        write_private(self._version, _code().encode())
        process = processes.start(CONTROLLERS, command, log=self.beside.log, environment=os.environ)
        self.file.update(lambda state: state.with_process(process))

    def _started_with(self) -> str:
        try:
            return self._version.read_text()
        except OSError:
            return ""

    @property
    def _kubeconfig(self) -> Path:
        return self.folder.root / CONTROLLERS / "kubeconfig"

    @property
    def _version(self) -> Path:
        return self.folder.root / CONTROLLERS / "version"


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
            held[name] = Reason(Cause.NOT_IN_CLUSTER).text()
        elif is_kept_off(taints_of(node)):
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
