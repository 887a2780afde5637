"""Small platforms for tests that need other hosts or other times than the shipped spec has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.toolchain.ensure import Toolchain
from tallyard.spec.load import load
from tests.running_lab import RunningLab


@contextmanager
def running(
    folder: Path, name: str, platform: str, overlay: str, toolchain: Toolchain
) -> Iterator[RunningLab]:
    """Run a lab of two spec files' texts with everything of them in it, and end it."""
    (folder / "platform.yaml").write_text(platform)
    environment = folder / "local.yaml"
    environment.write_text(overlay)
    loaded = load(environment)
    assert loaded.platform is not None, loaded.problems
    lab = RunningLab(folder / "labs", name, loaded.platform, toolchain, overlay=environment)
    try:
        lab.up(None)
        yield lab
    finally:
        lab.down()
