"""Pulumi on a lab as a person runs it on a stack of their own: no verb of the lab's stands between."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType

from lab import session, stack
from lab.folder import CHECKOUT, private_folder
from lab.manager_watch import ManagerWatch
from lab.session import Lab
from lab.toolchain.ensure import install_provider, link


def run_commands(
    parts: Lab,
    commands: Sequence[tuple[str, ...]],
    *,
    project: Path = CHECKOUT,
    changes: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Run Pulumi's commands one after the other while the lab's managers are looked after.

    Args:
        parts: the lab, as its `up` hands it to what fills it.
        commands: each without the stack's name; their output goes to the lab's log of Pulumi.
        project: the folder with Pulumi.yaml.
        changes: variables beside those of the lab's shell.

    Raises:
        CalledProcessError: one failed; the others were not run.
    """
    folder = parts.folder
    tools = private_folder(folder.tools)
    link(parts.toolchain, tools)
    install_provider(parts.toolchain, private_folder(folder.pulumi_home))
    private_folder(folder.pulumi)
    told = {**os.environ, **stack.environment(folder, tools), **changes}
    with ExitStack() as all_, (folder.logs / "pulumi.log").open("ab") as log:
        for manager in session.managers(parts):
            all_.enter_context(ManagerWatch(manager, parts.report))
        for command in commands:
            named = (stack.STACK,) if command[0] == "stack" else ("--stack", stack.STACK)
            subprocess.run(
                [str(tools / stack.NAME), *command, *named, "--non-interactive"],
                cwd=project,
                env=told,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                check=True,
            )
