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


def read() -> Settings:
    """Read the stack's configuration and the environment.

    Ports and contexts of a lab come by environment, because the stack's file is tracked
    and two labs share it.
    """
    config = pulumi.Config()
    manager_file = os.environ.get("TALLYARD_KUEUE_MANAGER")
    return Settings(
        overlay=_STACKS / config.require("overlay"),
        versions=_STACKS / "versions.yaml",
        kube_context=os.environ.get("TALLYARD_KUBE_CONTEXT") or config.get("kube-context"),
        outside_manager=_outside_manager(Path(manager_file)) if manager_file else None,
    )


def _outside_manager(file: Path) -> OutsideManager:
    told = json.loads(file.read_text(encoding="utf-8"))
    return OutsideManager(
        webhook_url=told["webhookURL"], ca_bundle=told["caBundle"], chart=told["chart"]
    )
