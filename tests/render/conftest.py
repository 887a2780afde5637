"""The shipped spec, which rendering is tested with: it is under test itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tallyard.render.manifest import Manifest
from tallyard.render.platform import render
from tallyard.spec.model import Platform


@pytest.fixture(scope="session")
def manifests(platform: Platform) -> tuple[Manifest, ...]:
    return render(platform)


@pytest.fixture(scope="session")
def objects(manifests: tuple[Manifest, ...]) -> Mapping[tuple[str, str], Mapping[str, Any]]:
    """Objects by kind and name; a namespaced name is `namespace/name`."""
    return {
        (m.kind, f"{m.namespace}/{m.name}" if m.namespace else m.name): m.object for m in manifests
    }
