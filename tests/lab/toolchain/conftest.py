"""A machine with a `go` that does as it is told, in folders of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

# Answers as Go does where the toolchain asks; each build writes a program that names its
# package. `{body}` goes first and may fail, sleep or whatever a test needs.
GO = """#!/bin/sh
case "$1" in
  version) echo "go version go{version} linux/amd64"; exit 0 ;;
  env) echo "{root}/gocache"; echo "{root}/gomodcache"; exit 0 ;;
esac
echo "$*" >>"{root}/go-calls"
{body}
case "$1 $2" in
  "mod download") printf '{{"Dir": "%s"}}' "{root}/module"; exit 0 ;;
esac
for last in "$@"; do
  [ "$previous" = -o ] && target=$last
  previous=$last
done
echo "$last" >&2
printf '#!/bin/sh\\necho %s\\n' "$last" >"$target" && chmod +x "$target"
"""

# Runs the command with a roomy machine: what this one has free is not under test.
DRIVER = """
import sys
from lab.toolchain import preflight
preflight.available_memory = lambda: None
preflight._disks = lambda *_: ()
from lab.toolchain.__main__ import main
sys.exit(main())
"""


@dataclass(frozen=True)
class GoMachine:
    """The folders and the environment of one invented machine."""

    root: Path
    environ: Mapping[str, str]

    @property
    def cache(self) -> Path:
        """Return the toolchain's cache folder."""
        return self.root / "cache"

    def program(self, name: str, script: str) -> Path:
        """Put a program on PATH."""
        path = self.root / "bin" / name
        path.write_text(script, encoding="utf-8")
        path.chmod(0o755)
        return path

    def go(self, body: str = "", version: str = "1.26.8") -> None:
        """Put a `go` on PATH."""
        self.program("go", GO.format(root=self.root, body=body, version=version))

    def go_calls(self) -> list[str]:
        """Return the command lines of `go` so far, without the questions."""
        calls = self.root / "go-calls"
        return calls.read_text(encoding="utf-8").splitlines() if calls.exists() else []

    def built(self) -> list[str]:
        """Return the packages that were built, in order."""
        return [c.rsplit(" ", 1)[1] for c in self.go_calls() if c.startswith("build ")]

    def entries(self) -> list[str]:
        """Return the names of the sets in the cache, without their keys."""
        return sorted(e.name.rsplit("-", 1)[0] for e in (self.cache / "toolchain").glob("*"))

    def start(self) -> subprocess.Popen[str]:
        """Start `python -m lab.toolchain` on this machine."""
        return subprocess.Popen(
            (sys.executable, "-c", DRIVER),
            env=dict(self.environ),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def machine(tmp_path: Path) -> GoMachine:
    """A machine with a bare system on PATH, a module with every file that we keep, no Go."""
    for folder in ("bin", "home", "tmp"):
        (tmp_path / folder).mkdir()
    for kept in (
        "charts/kueue/Chart.yaml",
        "charts/jobset/Chart.yaml",
        "kustomize/stage/node/fast/stage.yaml",
    ):
        path = tmp_path / "module" / kept
        path.parent.mkdir(parents=True)
        path.write_text("kept: true\n", encoding="utf-8")
    for file in (
        "python/cmd/pulumi-language-python-exec",
        "cmd/pulumi-resource-kubernetes/schema.json",
        "cmd/pulumi-resource-kubernetes/terraform-mapping.json",
    ):
        path = tmp_path / "module" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}", encoding="utf-8")
    for name in ("sh", "cat", "chmod", "sleep", "rm", "mkdir"):
        found = shutil.which(name, path=os.defpath)
        assert found, f"this system has no {name}"
        (tmp_path / "bin" / name).symlink_to(found)
    environ = {
        "PATH": str(tmp_path / "bin"),
        "HOME": str(tmp_path / "home"),
        "TALLYARD_CACHE": str(tmp_path / "cache"),
    }
    return GoMachine(tmp_path, environ)


@pytest.fixture
def roomy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make memory and disk ample: what this machine has free is not under test."""
    monkeypatch.setattr("lab.toolchain.preflight.available_memory", lambda: None)
    monkeypatch.setattr("lab.toolchain.preflight._disks", lambda *_: ())
