"""A copy of this checkout with a few words changed, and the pack asked about it.

A plan comes from the program, so what a rule is to find is edited into what the program reads.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lab.folder import CHECKOUT
from tests.running_lab import RunningLab

_PARTS = ("Pulumi.yaml", "infra", "policies", "stacks", "tallyard", "templates")


@dataclass(frozen=True)
class Edit:
    """One place in a file, by what stands there once, and what is to stand there."""

    file: str
    old: str
    new: str


def edited_checkout(folder: Path, edits: Iterable[Edit]) -> Path:
    """Copy what a preview reads into a new folder and change it."""
    copy = folder / "checkout"
    copy.mkdir()
    for part in _PARTS:
        source = CHECKOUT / part
        if source.is_dir():
            shutil.copytree(source, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, copy / part)
    # The virtual environment, which both files name, knows where it lies itself.
    (copy / ".venv").symlink_to(CHECKOUT / ".venv")
    for edit in edits:
        file = copy / edit.file
        text = file.read_text()
        assert text.count(edit.old) == 1, f"{edit.file}: {edit.old!r} stands not once"
        file.write_text(text.replace(edit.old, edit.new))
    return copy


def preview(
    lab: RunningLab, checkout: Path, *arguments: str, **changes: str | None
) -> subprocess.CompletedProcess[str]:
    """Preview a checkout on a lab with its own pack; nothing is changed by that."""
    told: dict[str, str | None] = {
        # The environment's own packages lead to this checkout; these go before them.
        "PYTHONPATH": os.pathsep.join(filter(None, (str(checkout), os.environ.get("PYTHONPATH")))),
        "TALLYARD_OVERLAY": str(checkout / "stacks" / "local.yaml"),
        # Nothing of the copy is kept.
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = ("preview", "--cwd", str(checkout), "--policy-pack", str(checkout / "policies"))
    return lab.pulumi(*command, *arguments, **{**told, **changes})
