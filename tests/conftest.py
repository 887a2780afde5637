"""What tests share: the toolchain from its cache, the shipped spec, and labs."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab.session import Lab
from lab.toolchain.ensure import Toolchain, ensure
from lab.toolchain.progress import report_to
from tallyard.cli import session
from tallyard.spec.load import load
from tallyard.spec.model import Platform
from tests.running_lab import OVERLAY, RunningLab, counted, turn


def pytest_configure() -> None:
    """Give the programs that tests start their signals back.

    A run in the background, as CI's may be, has Ctrl-C and hang-up ignored, and so would have
    what it starts. What is handled, even by nothing, is not inherited.
    """
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what needs a cluster, which takes minutes a file, so that all workers end together.

    Left to itself pytest-xdist begins with the files of most tests, and ends with the slowest.
    """
    slow = {item.path for item in items if "toolchain" in getattr(item, "fixturenames", ())}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture(autouse=True)
def choices_end_with_their_test() -> Iterator[None]:
    """Let nobody speak the language that an earlier test chose; a command is a process."""
    yield
    session.begin(session.Lang.EN, no_color=False)


@pytest.fixture(scope="session")
def toolchain() -> Toolchain:
    """The lab's programs; built on first use, which `make test` has done before."""
    return ensure(report_to(sys.stderr))


@pytest.fixture(scope="session")
def platform() -> Platform:
    """What the shipped spec means in the lab's environment."""
    loaded = load(OVERLAY)
    assert loaded.platform is not None, loaded.problems
    return loaded.platform


@pytest.fixture(scope="session")
def shared_lab(
    tmp_path_factory: pytest.TempPathFactory, platform: Platform, toolchain: Toolchain
) -> Iterator[RunningLab]:
    """A bare control plane that all tests of a run use; none may break it."""
    base = _base_of_run(tmp_path_factory)
    lab = RunningLab(base / "labs", "shared", platform, toolchain)
    with _shared(base, lab, lambda _: None):
        yield lab


@pytest.fixture(scope="session")
def full_lab(
    tmp_path_factory: pytest.TempPathFactory, platform: Platform, toolchain: Toolchain
) -> Iterator[RunningLab]:
    """A lab with all of the platform, by a real `pulumi up`; tests leave it as they find it."""
    base = _base_of_run(tmp_path_factory)
    lab = RunningLab(base / "labs", "full", platform, toolchain)
    with _shared(base, lab, None):
        yield lab


@pytest.fixture(autouse=True)
def nobody_changes_a_full_lab_under_another(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Let tests look at the full lab side by side; one that `changes_the_stack` is alone with it."""
    if "full_lab" not in request.fixturenames:
        yield
        return
    is_alone = request.node.get_closest_marker("changes_the_stack") is not None
    with turn(_base_of_run(tmp_path_factory) / "full.turn", is_alone=is_alone):
        yield


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


def _base_of_run(factory: pytest.TempPathFactory) -> Path:
    """Return a folder that all workers of this run see."""
    base = factory.getbasetemp()
    return base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base


@contextmanager
def _shared(
    base: Path, lab: RunningLab, make_stack: Callable[[Lab], None] | None
) -> Iterator[None]:
    """Start a lab with the first worker that wants it, and end it with the last."""
    users = base / f"{lab.name}.users"
    with counted(users, +1) as number:
        if number == 1:
            lab.up(make_stack)
    try:
        yield
    finally:
        with counted(users, -1) as left:
            if left == 0:
                lab.down()
