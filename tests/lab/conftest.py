"""Labs for tests: one that all share, and as many own ones as a test has to break."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lab import session
from lab.api import Api
from lab.folder import CHECKOUT, LabFolder, lab_folder
from lab.report import Silence
from lab.state import LabState, StateFile
from lab.status import LabStatus
from lab.toolchain.ensure import Toolchain
from tallyard.spec.load import load
from tallyard.spec.model import Platform

OVERLAY = CHECKOUT / "stacks" / "local.yaml"
SHARED = "shared"


class RunningLab:
    """A control plane with the spec's hosts; nothing is installed in it."""

    def __init__(self, base: Path, name: str, platform: Platform, toolchain: Toolchain) -> None:
        self.base, self.name = base, name
        self._platform, self._toolchain = platform, toolchain
        self.folder: LabFolder = lab_folder(name, base)

    def up(self) -> LabStatus:
        """Make it run, whatever state it is in."""
        return session.up(
            self.name,
            OVERLAY,
            self._platform,
            self._toolchain,
            Silence(),
            base=self.base,
            make_stack=lambda _: None,
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


@pytest.fixture(scope="session")
def platform() -> Platform:
    loaded = load(OVERLAY)
    assert loaded.platform is not None, loaded.problems
    return loaded.platform


@pytest.fixture(scope="session")
def shared_lab(
    tmp_path_factory: pytest.TempPathFactory, platform: Platform, toolchain: Toolchain
) -> Iterator[RunningLab]:
    """The lab that all tests of all workers of this run use; none may break it."""
    base = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        base = base.parent
    lab = RunningLab(base / "labs", SHARED, platform, toolchain)
    users = base / "shared-lab.users"
    with _counted(users, +1):
        lab.up()
    yield lab
    with _counted(users, -1) as left:
        if left == 0:
            lab.down()


@pytest.fixture
def own_lab(
    tmp_path: Path, platform: Platform, toolchain: Toolchain
) -> Iterator[Callable[[str], RunningLab]]:
    """Make labs that this test may break; they are ended after it."""
    made: list[RunningLab] = []

    def make(name: str) -> RunningLab:
        lab = RunningLab(tmp_path / "labs", name, platform, toolchain)
        made.append(lab)
        return lab

    yield make
    for lab in made:
        lab.down()


@contextmanager
def _counted(path: Path, change: int) -> Iterator[int]:
    """Change a number that all workers see, and be alone with it."""
    with path.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        number = int(file.read() or 0) + change
        file.truncate(0)
        file.write(str(number))
        file.flush()
        yield number
