"""How Kueue's manager is configured: what the spec leaves uncounted, its manager leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tallyard.render.kueue_manager import chart_values, configuration
from tallyard.spec.versions import read_versions
from tests.spec.specs import PLATFORM, STACKS, changed
from tests.spec.variations import loaded


def test_resources_that_are_counted_are_not_excluded() -> None:
    assert "resources" not in configuration()


@pytest.mark.parametrize("uncounted", [("rdma/",), ("rdma/", "example.com/nic")])
def test_the_prefixes_that_the_spec_leaves_uncounted_are_excluded(
    tmp_path: Path, uncounted: tuple[str, ...]
) -> None:
    """A pod that a device plugin or a default gives such a resource does not wait for a quota."""
    spec = changed(PLATFORM, "tiers:", f"uncounted: [{', '.join(uncounted)}]\ntiers:")
    found = configuration(loaded(tmp_path, spec).uncounted)
    assert found["resources"] == {"excludeResourcePrefixes": list(uncounted)}


def test_the_chart_has_the_same_configuration(tmp_path: Path) -> None:
    spec = changed(PLATFORM, "tiers:", "uncounted: [rdma/]\ntiers:")
    uncounted = loaded(tmp_path, spec).uncounted
    image = read_versions(STACKS / "versions.yaml").images["kueue"]
    manager = chart_values(image, replicas=2, uncounted=uncounted)["managerConfig"]
    assert yaml.safe_load(manager["controllerManagerConfigYaml"]) == configuration(uncounted)
