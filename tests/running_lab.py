"""A lab for tests: a real control plane, bare or with everything of the spec in it."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab import session
from lab.api import Api
from lab.folder import CHECKOUT, LabFolder, lab_folder
from lab.report import Silence
from lab.session import Lab
from lab.stack import STACK, environment
from lab.state import LabState, StateFile
from lab.status import LabStatus
from lab.toolchain.ensure import Toolchain
from tallyard.spec.model import Platform

OVERLAY = CHECKOUT / "stacks" / "local.yaml"


class RunningLab:
    """A control plane with the spec's hosts. What `up` installs in it is the caller's choice."""

    def __init__(
        self,
        base: Path,
        name: str,
        platform: Platform,
        toolchain: Toolchain,
        *,
        overlay: Path = OVERLAY,
    ) -> None:
        self.base, self.name = base, name
        self._overlay = overlay
        self._platform, self._toolchain = platform, toolchain
        self.folder: LabFolder = lab_folder(name, base)

    def up(self, make_stack: Callable[[Lab], None] | None = lambda _: None) -> LabStatus:
        """Make it run, whatever state it is in; None installs the whole platform."""
        return session.up(
            self.name,
            self._overlay,
            self._platform,
            self._toolchain,
            Silence(),
            base=self.base,
            make_stack=make_stack,
        )

    def down(self) -> bool:
        """End it."""
        return session.down(self.name, base=self.base)

    @property
    def state(self) -> LabState:
        """Return its record."""
        return StateFile(self.folder).current()

    @property
    def api(self) -> Api:
        """Return a connection as its administrator."""
        return Api(self.folder.admin)

    def kubectl(
        self, *arguments: str, user: str = "admin", objects: list[dict[str, Any]] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run kubectl as somebody; `objects` are its standard input."""
        return subprocess.run(
            [
                str(self._toolchain.programs["kubectl"]),
                *("--kubeconfig", str(self.folder.kubeconfigs / user)),
                *("--cache-dir", str(self.base / "kubectl-cache")),
                *arguments,
            ],
            input=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects or []}),
            text=True,
            capture_output=True,
            check=False,
            timeout=60,
        )

    def get(self, *arguments: str) -> Mapping[str, Any]:
        """Return what `kubectl get` finds."""
        found = self.kubectl("get", *arguments, "-o", "json")
        assert found.returncode == 0, found.stderr
        content: Mapping[str, Any] = json.loads(found.stdout)
        return content

    def pulumi(self, *arguments: str, **changes: str | None) -> subprocess.CompletedProcess[str]:
        """Run Pulumi on this lab's stack as a person would after reading `env`.

        Args:
            arguments: the command, without the stack.
            changes: variables to set, or to leave out (None).
        """
        tools = self.folder.tools
        told = {**os.environ, **environment(self.folder, tools), **changes}
        return subprocess.run(
            [str(tools / "pulumi"), *arguments, "--stack", STACK, "--non-interactive"],
            cwd=CHECKOUT,
            env={name: value for name, value in told.items() if value is not None},
            stdin=subprocess.DEVNULL,
            text=True,
            capture_output=True,
            check=False,
            timeout=300,
        )


@contextmanager
def counted(path: Path, change: int) -> Iterator[int]:
    """Change a number that all workers see, and be alone with it."""
    with path.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        number = int(file.read() or 0) + change
        file.truncate(0)
        file.write(str(number))
        file.flush()
        yield number


@contextmanager
def turn(path: Path, *, is_alone: bool) -> Iterator[None]:
    """Wait for one's turn with what all workers use: with others, or alone.

    Who waits to be alone stands at the gate, so nobody who came later goes before them.
    """
    with path.open("a+") as place:
        with path.with_suffix(".gate").open("a+") as gate:
            fcntl.flock(gate, fcntl.LOCK_EX)
            fcntl.flock(place, fcntl.LOCK_EX if is_alone else fcntl.LOCK_SH)
        yield
