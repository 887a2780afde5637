"""From the bytes that a registry sent to a digest that may be pinned. Pure.

The digest is ours, computed over the content; what the registry says about it is only
compared. A page that some proxy put in the manifest's place has a digest too, so the
content must be a manifest before it is believed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from tallyard.registry.faults import Fault, RegistryError

# Indexes first: a pin of the index holds on every architecture.
MEDIA_TYPES = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
ACCEPT = ", ".join(MEDIA_TYPES)
_CHART_CONFIG = "application/vnd.cncf.helm.config.v1+json"
_SCHEMA_VERSION = 2


class Artifact(StrEnum):
    """What a pin is expected to be."""

    CHART = "chart"
    IMAGE = "image"


def digest(
    where: str, artifact: Artifact, body: bytes, *, content_type: str, claimed: str | None
) -> str:
    """Return the digest of a manifest, as `sha256:` and 64 hexadecimal digits.

    Args:
        where: What was looked up, for the error.
        artifact: What it must be.
        body: The content, byte for byte.
        content_type: The answer's Content-Type.
        claimed: The answer's Docker-Content-Digest, None when it was not sent.

    Raises:
        RegistryError: When the content is no manifest, not of that kind, or has another
            digest than the registry claims.
    """
    manifest = _manifest(where, body, content_type)
    computed = f"sha256:{hashlib.sha256(body).hexdigest()}"
    if claimed is not None and claimed != computed:
        raise RegistryError(Fault.WRONG_DIGEST, where, f"it says {claimed}, we count {computed}")
    config = manifest.get("config")
    kind = config.get("mediaType") if isinstance(config, dict) else None
    if artifact is Artifact.CHART and kind != _CHART_CONFIG:
        raise RegistryError(Fault.NOT_A_CHART, where, f"its config is of type {kind}")
    return computed


def _manifest(where: str, body: bytes, content_type: str) -> Mapping[str, Any]:
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type not in MEDIA_TYPES:
        seen = f"it is of type {media_type}" if media_type else "it has no Content-Type"
        raise RegistryError(Fault.NOT_A_MANIFEST, where, seen)
    try:
        manifest = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RegistryError(Fault.NOT_A_MANIFEST, where, "it is not JSON") from error
    if not isinstance(manifest, dict) or manifest.get("schemaVersion") != _SCHEMA_VERSION:
        raise RegistryError(
            Fault.NOT_A_MANIFEST, where, f"it is not of schemaVersion {_SCHEMA_VERSION}"
        )
    # The specification wants both to agree; clients that look at one or the other would
    # read the same bytes as an index or as an image.
    if manifest.get("mediaType", media_type) != media_type:
        raise RegistryError(
            Fault.NOT_A_MANIFEST,
            where,
            f"it came as {media_type} and calls itself {manifest['mediaType']}",
        )
    return manifest
