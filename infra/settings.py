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

# Names the stack that is to be destroyed.
ENDING = "TALLYARD_DESTROY"


@dataclass(frozen=True)
class Settings:
    """What differs from one stack to the next and is not part of the spec.

    `outside` are the managers that run beside the cluster, by name; empty but in a lab.
    `controllers_image` is what our own controllers run from in it; a lab has none.
    `is_ending` is true where `pulumi destroy` may take all of it, see `ending.py`.
    """

    overlay: Path
    versions: Path
    kube_context: str | None
    outside: Mapping[str, OutsideManager]
    controllers_image: str | None = None
    is_ending: bool = False


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
    is_ending = ending(os.environ.get(ENDING), pulumi.get_stack())
    overlay = _STACKS / config.require("overlay")
    versions = _STACKS / "versions.yaml"
    if not config.get_bool("lab"):
        context, image = config.get("kube-context"), config.get("controllers-image")
        return Settings(overlay, versions, context or None, {}, image or None, is_ending)
    return Settings(
        overlay=Path(os.environ.get("TALLYARD_OVERLAY") or overlay),
        versions=versions,
        kube_context=os.environ.get("TALLYARD_KUBE_CONTEXT"),
        outside={name: _outside(os.environ.get(variable)) for name, variable in _OUTSIDE.items()},
        is_ending=is_ending,
    )


def ending(named: str | None, stack: str) -> bool:
    """Say whether the person has asked that this very stack be destroyed.

    By a variable and not in the stack's file: what is asked for once must not hold for the next
    `up`. By the stack's name: a shell that still has it must not end another stack.

    Args:
        named: what the variable holds.
        stack: the name of the stack at work.

    Raises:
        SettingsError: it names another stack.
    """
    if named and named != stack:
        raise SettingsError(
            f'{ENDING} is set to "{named}", and this is the stack "{stack}". The variable lets '
            "`pulumi destroy` delete a platform with all its projects' namespaces, and names the "
            f"one that is meant. Unset it (`unset {ENDING}`), or choose the stack {named} by -s."
        )
    return bool(named)


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
