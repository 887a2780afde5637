"""What is deployed: `stacks/versions.yaml` as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

UNVERIFIED = "unverified"
Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")] | Literal["unverified"]


class VersionsError(Exception):
    """`versions.yaml` cannot be used as it stands; the text says where and why."""


class _Pin(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str
    floor: str
    reason: str


class Kubernetes(_Pin):
    """The API server that is tested with."""


class Chart(_Pin):
    """A Helm chart in an OCI registry."""

    source: Annotated[str, Field(pattern=r"^oci://")]
    digest: Digest


class Image(_Pin):
    """A container image; `version` is its tag."""

    source: str
    digest: Digest

    @property
    def pinned_tag(self) -> str:
        """Return the tag with the digest behind it; the tag alone while it is unverified."""
        return self.version if self.digest == UNVERIFIED else f"{self.version}@{self.digest}"


class Versions(BaseModel):
    """Everything that is deployed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kubernetes: Kubernetes
    charts: Mapping[str, Chart]
    images: Mapping[str, Image]

    def unverified(self) -> tuple[str, ...]:
        """Return the paths of the pins whose digest nobody has looked up."""
        pins = [(f"charts.{name}", chart.digest) for name, chart in self.charts.items()]
        pins += [(f"images.{name}", image.digest) for name, image in self.images.items()]
        return tuple(f"{path}.digest" for path, digest in pins if digest == UNVERIFIED)


def read_versions(file: Path) -> Versions:
    """Read the pins.

    Raises:
        VersionsError: with every fault of the file, one a line.
    """
    try:
        return Versions.model_validate(yaml.safe_load(file.read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError) as error:
        raise VersionsError(f"{file}: {error}") from error
    except ValidationError as error:
        lines = (
            f"{file}: {'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}"
            for fault in error.errors()
        )
        raise VersionsError("\n".join(lines)) from error
