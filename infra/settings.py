"""Everything the program is told from outside, read once and passed down."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pulumi

from infra.outside import OutsideManager, outside_manager

_REPOSITORY = Path(__file__).resolve().parents[1]
_STACKS = _REPOSITORY / "stacks"
# By which variable a lab tells where each of its managers is.
_OUTSIDE: Mapping[str, str] = {
    "kueue": "TALLYARD_KUEUE_MANAGER",
    "jobset": "TALLYARD_JOBSET_MANAGER",
}


@dataclass(frozen=True)
class Settings:
    """What differs from one stack to the next and is not part of the spec.

    `outside` are the managers that run beside the cluster, by name; empty but in a lab.
    `controllers_image` is what our own controllers run from in it; a lab has none.
    """

    overlay: Path
    versions: Path
    kube_context: str | None
    outside: Mapping[str, OutsideManager]
    controllers_image: str | None = None


class SettingsError(Exception):
    """The stack is not told what it needs; the text says what, and what to do."""


def read() -> Settings:
    """Read the stack's configuration, and for a lab's stack its environment.

    A lab's ports, context and spec come by environment, because the stack's file is tracked
    and two labs share it. Every other stack ignores that environment: a shell that has read
    it must not turn production into a lab.

    Raises:
        SettingsError: the stack is a lab's, and its environment is missing or broken.
    """
    config = pulumi.Config()
    overlay = _STACKS / config.require("overlay")
    versions = _STACKS / "versions.yaml"
    if not config.get_bool("lab"):
        context, image = config.get("kube-context"), config.get("controllers-image")
        return Settings(overlay, versions, context or None, {}, image or None)
    return Settings(
        overlay=Path(os.environ.get("TALLYARD_OVERLAY") or overlay),
        versions=versions,
        kube_context=os.environ.get("TALLYARD_KUBE_CONTEXT"),
        outside={name: _outside(os.environ.get(variable)) for name, variable in _OUTSIDE.items()},
    )


def _outside(file: str | None) -> OutsideManager:
    if not file:
        raise SettingsError(
            "this stack is a lab's (tallyard:lab is true in its file), and no lab is named in the "
            "environment. Run `make up`, then read the lab's environment: `. .lab/default/env`."
        )
    try:
        return outside_manager(Path(file))
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise SettingsError(
            f"{file}: cannot be read as the place of a lab's manager ({error!r}). "
            "`tally lab up` writes it anew."
        ) from error
