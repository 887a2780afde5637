"""A finished Kubernetes object and the file it is written to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tallyard.render.environment import render_object


@dataclass(frozen=True)
class Manifest:
    """One Kubernetes object, every field that its API would default written out."""

    object: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """Return the object's kind."""
        return str(self.object["kind"])

    @property
    def name(self) -> str:
        """Return the object's name."""
        return str(self.object["metadata"]["name"])

    @property
    def namespace(self) -> str | None:
        """Return the object's namespace; None for cluster-wide kinds."""
        namespace = self.object["metadata"].get("namespace")
        return None if namespace is None else str(namespace)

    @property
    def path(self) -> str:
        """Return the file's path below the output folder: `<namespace>/<kind>-<name>.yaml`."""
        folder = self.namespace or "cluster"
        # Names of RBAC objects may hold colons, which some file systems refuse.
        return f"{folder}/{self.kind.lower()}-{self.name.replace(':', '_')}.yaml"


def manifest(template: str, **values: object) -> Manifest:
    """Render one template into a manifest."""
    return Manifest(render_object(template, **values))
