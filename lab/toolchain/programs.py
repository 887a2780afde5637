"""The finished toolchain, and the two ways in which the lab lays it out for use."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lab import language_host
from lab.toolchain import pins
from lab.toolchain.failure import ToolchainError
from lab.toolchain.found import LANGUAGE_HOST, OWN_FOLDER_MARK

PROVIDER = "pulumi-resource-kubernetes"
INSTALL_SECONDS_MAX = 120


@dataclass(frozen=True)
class Toolchain:
    """Paths of everything that the lab runs.

    Attributes:
        programs: by name: etcd, kube-apiserver, kube-controller-manager, kube-scheduler,
            kubectl, kueue and jobset (the managers), kubectl-kueue, kwok, kwokctl, pulumi,
            pulumi-resource-kubernetes.
        kueue_chart: Kueue's Helm chart, of the manager's version.
        jobset_chart: JobSet's, too.
        kwok_stages: KWOK's own stages (`node/fast`, `pod/fast`, …), of the program's version.
        language_exec: the program that runs a Pulumi program written in Python; None where the
            official Pulumi, with its own language host, is used.
        from_machine: names of the programs that the machine already had.
    """

    programs: Mapping[str, Path]
    kueue_chart: Path
    jobset_chart: Path
    kwok_stages: Path
    language_exec: Path | None
    from_machine: frozenset[str] = frozenset()


def link(toolchain: Toolchain, folder: Path) -> None:
    """Fill a folder with the programs, so that it can stand first on a PATH.

    They are hard links, or copies where the cache is on another disk: Pulumi warns on every
    run when it is started through a symbolic link. Programs that the machine already had stay
    where they are, since they may need what lies beside them, and are started by a script of
    one line. Doing it again repairs the folder. The provider is not among them: Pulumi would
    find it there, and warn, in place of the plugin that `install_provider` installs.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / OWN_FOLDER_MARK).touch()
    for name, source in toolchain.programs.items():
        if name == PROVIDER:
            continue
        if name in toolchain.from_machine:
            _write_program(folder / name, f'#!/bin/sh\nexec "{source}" "$@"\n')
        else:
            _place(source, folder / name)
    if toolchain.language_exec:
        executor = folder / toolchain.language_exec.name
        _place(toolchain.language_exec, executor)
        host = Path(language_host.__file__).resolve()
        # -P keeps the program's folder, where Pulumi starts the host, out of its imports.
        script = f'#!/bin/sh\nexec "{sys.executable}" -P "{host}" --exec "{executor}" "$@"\n'
        _write_program(folder / LANGUAGE_HOST, script)


def install_provider(toolchain: Toolchain, pulumi_home: Path) -> None:
    """Install the Kubernetes provider as a plugin into a Pulumi home, once.

    Found as a plugin it is used without the warning that a provider from PATH brings.

    Raises:
        ToolchainError: Pulumi refused.
    """
    plugins = pulumi_home / "plugins"
    installed = plugins / f"resource-kubernetes-{pins.PROVIDER_VERSION}" / PROVIDER
    source = toolchain.programs[PROVIDER]
    if installed.is_file() and installed.stat().st_size == source.stat().st_size:
        return
    arguments = ("plugin", "install", "resource", "kubernetes", pins.PROVIDER_VERSION)
    done = subprocess.run(
        (str(toolchain.programs["pulumi"]), *arguments, "--reinstall", "--file", source.parent),
        env={**os.environ, "PULUMI_HOME": str(pulumi_home), "PULUMI_SKIP_UPDATE_CHECK": "true"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=INSTALL_SECONDS_MAX,
    )
    if done.returncode != 0 or not installed.is_file():
        raise ToolchainError(
            f"Pulumi could not install the Kubernetes provider {pins.PROVIDER_VERSION}",
            why=done.stderr.strip() or done.stdout.strip() or f"it ended with {done.returncode}",
            advice="If the disk is full, free some space; else remove the folder "
            f"{pulumi_home} and run it again",
        )


def _place(source: Path, target: Path) -> None:
    """Put a real file in place of what was there, in one step."""
    if target.exists() and target.samefile(source):
        return
    fresh = target.with_name(f".{target.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    try:
        os.link(source.resolve(), fresh)
    except OSError:
        try:
            shutil.copy2(source, fresh)
        except OSError:
            # Half a program on a full disk would make it no emptier.
            fresh.unlink(missing_ok=True)
            raise
    fresh.replace(target)


def _write_program(target: Path, text: str) -> None:
    fresh = target.with_name(f".{target.name}.{os.getpid()}")
    fresh.write_text(text, encoding="utf-8")
    fresh.chmod(fresh.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    fresh.replace(target)
