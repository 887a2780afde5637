"""Everything the program is told from outside, read once and passed down."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import pulumi

_REPOSITORY = Path(__file__).resolve().parents[1]
_STACKS = _REPOSITORY / "stacks"


@dataclass(frozen=True)
class OutsideManager:
    """A Kueue manager that runs beside the cluster and not in it, as in the lab.

    `webhook_url` is where the API server finds its webhooks, `ca_bundle` (base64 PEM) what
    they are trusted by, `chart` the folder of the chart to install.
    """

    webhook_url: str
    ca_bundle: str
    chart: str


@dataclass(frozen=True)
class Settings:
    """What differs from one stack to the next and is not part of the spec."""

    overlay: Path
    versions: Path
    kube_context: str | None
    outside_manager: OutsideManager | None


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
        return Settings(overlay, versions, config.get("kube-context") or None, None)
    return Settings(
        overlay=Path(os.environ.get("TALLYARD_OVERLAY") or overlay),
        versions=versions,
        kube_context=os.environ.get("TALLYARD_KUBE_CONTEXT"),
        outside_manager=_outside_manager(os.environ.get("TALLYARD_KUEUE_MANAGER")),
    )


def _outside_manager(file: str | None) -> OutsideManager:
    if not file:
        raise SettingsError(
            "this stack is a lab's (tallyard:lab is true in its file), and no lab is named in the "
            "environment. Run `make up`, then read the lab's environment: `. .lab/default/env`."
        )
    try:
        told = json.loads(Path(file).read_text(encoding="utf-8"))
        return OutsideManager(
            webhook_url=told["webhookURL"], ca_bundle=told["caBundle"], chart=told["chart"]
        )
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise SettingsError(
            f"{file}: cannot be read as the place of a lab's Kueue manager ({error!r}). "
            "`tally lab up` writes it anew."
        ) from error
