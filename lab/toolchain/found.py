"""Programs that are already on the machine, in a version that fits. `fits` is the rule."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lab.toolchain import pins

# The command line and the API server may be one minor version apart (Kubernetes' version
# skew policy).
KUBECTL_MINORS_APART_MAX = 1
# The first release whose engine and language host agree with the pinned Python SDK.
PULUMI_FLOOR = (3, 274)
LANGUAGE_HOST = "pulumi-language-python"
ANSWER_SECONDS_MAX = 10
# Marks a folder that `programs.link` filled: what lies there is ours, not the machine's.
OWN_FOLDER_MARK = ".tallyard-programs"


@dataclass(frozen=True)
class Machine:
    """Where to look: the person's PATH without our own folders, and Pulumi's home."""

    path: str
    pulumi_home: Path
    environ: Mapping[str, str]

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Machine:
        """Read the places from an environment."""
        folders = (Path(f) for f in environ.get("PATH", "").split(os.pathsep) if f)
        kept = (str(f) for f in folders if not (f / OWN_FOLDER_MARK).exists())
        home = environ.get("PULUMI_HOME") or Path(environ.get("HOME", "~")).expanduser() / ".pulumi"
        return cls(os.pathsep.join(kept), Path(home), environ)

    def which(self, name: str) -> Path | None:
        """Return the first program of this name."""
        found = shutil.which(name, path=self.path)
        return Path(found) if found else None


def fits(program: str, told: str, pinned: str) -> bool:
    """Say whether a program that tells version `told` can stand in for the pinned one.

    kubectl may be one minor version away from the API server. Pulumi may be any 3.x from
    3.274 on. Everything else must be the pin itself: another build of the API server or of
    Kueue is not what the tests ran on.
    """
    version, wanted = pins.parse_version(told), pins.parse_version(pinned)
    if len(version) < 2:  # noqa: PLR2004
        return False
    if program == "kubectl":
        return version[0] == wanted[0] and abs(version[1] - wanted[1]) <= KUBECTL_MINORS_APART_MAX
    if program == "pulumi":
        return version[0] == PULUMI_FLOOR[0] and version >= PULUMI_FLOOR
    return told.removeprefix("v") == pinned.removeprefix("v")


def find(program: pins.Program, pinned: str, machine: Machine) -> Path | None:
    """Return a fitting program of the machine's own."""
    if program.name == "pulumi-resource-kubernetes":
        return _installed_provider(machine.pulumi_home)
    path = machine.which(program.name) if program.version_pattern else None
    if path is None or (program.name == "pulumi" and _language_host(path, machine) is None):
        return None
    return path if fits(program.name, told_version(path, program, machine), pinned) else None


def told_version(path: Path, program: pins.Program, machine: Machine) -> str:
    """Return what a program says its version is, empty when it says nothing that we know.

    The exit code is not looked at: kubectl-kueue tells its version and then fails for want of
    a cluster. It is kept from the person's clusters.
    """
    quiet = {"KUBECONFIG": os.devnull, "PULUMI_SKIP_UPDATE_CHECK": "true"}
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        answer = subprocess.run(
            (str(path), *program.version_arguments),
            env={**machine.environ, **quiet},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=ANSWER_SECONDS_MAX,
        )
        if match := re.search(program.version_pattern, answer.stdout + answer.stderr):
            return match[1]
    return ""


def _language_host(pulumi: Path, machine: Machine) -> Path | None:
    beside = pulumi.resolve().with_name(LANGUAGE_HOST)
    return beside if beside.exists() else machine.which(LANGUAGE_HOST)


def _installed_provider(pulumi_home: Path) -> Path | None:
    folder = pulumi_home / "plugins" / f"resource-kubernetes-{pins.PROVIDER_VERSION}"
    # Pulumi writes this file when an install begins and removes it when it is complete.
    if folder.with_name(f"{folder.name}.partial").exists():
        return None
    program = folder / "pulumi-resource-kubernetes"
    return program if program.is_file() else None
