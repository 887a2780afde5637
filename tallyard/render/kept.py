"""Which objects of the spec stay in the cluster when the spec no longer asks for them."""

from __future__ import annotations

from tallyard.render.fates import Fate, fate_of
from tallyard.render.platform import render
from tallyard.spec.model import Platform


def kept_objects(platform: Platform) -> frozenset[tuple[str, str]]:
    """Return their kinds and names."""
    return frozenset(
        (manifest.kind, manifest.name)
        for manifest in render(platform)
        if fate_of(manifest.kind) is Fate.KEPT
    )
