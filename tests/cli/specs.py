"""Specs that commands are run on: the shipped one, and a small one in a repository of git."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tallyard.cli.main import run
from tests.spec.specs import DATA, STACKS, changed

STACK = str(STACKS / "local.yaml")
PLATFORM = (DATA / "diff" / "platform.yaml").read_text()
LOCAL = (DATA / "diff" / "local.yaml").read_text()
MORE_FOR_GOLD = ("training: {A100: 8}", "training: {A100: 12}")

type Captured = pytest.CaptureFixture[str]


@dataclass(frozen=True)
class Repo:
    """A repository with the small valid spec of `tests/data/spec/diff` in one commit."""

    root: Path

    def git(self, *arguments: str) -> str:
        """Run git and return what it prints."""
        identity = ("-c", "user.name=T", "-c", "user.email=t@example.com")
        dates = {"GIT_AUTHOR_DATE": "2026-01-01T00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00Z"}
        found = subprocess.run(
            ["git", "-C", str(self.root), *identity, *arguments],
            env={
                **os.environ,
                **dates,
                "GIT_CONFIG_GLOBAL": os.devnull,
                "GIT_CONFIG_NOSYSTEM": "1",
            },
            check=True,
            capture_output=True,
            text=True,
        )
        return found.stdout

    def write(self, name: str, text: str) -> None:
        """Write a file."""
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def commit(self) -> str:
        """Commit all there is, and return the hash."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "a change")
        return self.git("rev-parse", "HEAD").strip()

    def change(self, *replaced: tuple[str, str], name: str = "stacks/platform.yaml") -> None:
        """Replace texts of a file, each of which stands there once."""
        text = (self.root / name).read_text()
        for old, new in replaced:
            text = changed(text, old, new)
        self.write(name, text)


def diff_of(capsys: Captured, *arguments: str) -> Mapping[str, Any]:
    assert run(["spec", "diff", *arguments, "-o", "json"]) == 0
    found: Mapping[str, Any] = json.loads(capsys.readouterr().out)
    return found
