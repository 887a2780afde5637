"""How Kueue's manager is configured: what the spec leaves uncounted, its manager leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tallyard.render.kueue_manager import chart_values, configuration
from tallyard.spec.model import Platform
from tallyard.spec.versions import read_versions
from tests.spec.specs import PLATFORM, STACKS, changed
from tests.spec.variations import loaded


def test_resources_that_are_counted_are_not_excluded(platform: Platform) -> None:
    assert "resources" not in configuration(platform)


@pytest.mark.parametrize("uncounted", [("rdma/",), ("rdma/", "example.com/nic")])
def test_the_prefixes_that_the_spec_leaves_uncounted_are_excluded(
    tmp_path: Path, uncounted: tuple[str, ...]
) -> None:
    """A pod that a device plugin or a default gives such a resource does not wait for a quota."""
    spec = changed(PLATFORM, "tiers:", f"uncounted: [{', '.join(uncounted)}]\ntiers:")
    found = configuration(loaded(tmp_path, spec))
    assert found["resources"] == {"excludeResourcePrefixes": list(uncounted)}


def test_the_chart_has_the_same_configuration(tmp_path: Path) -> None:
    spec = changed(PLATFORM, "tiers:", "uncounted: [rdma/]\ntiers:")
    platform = loaded(tmp_path, spec)
    image = read_versions(STACKS / "versions.yaml").images["kueue"]
    manager = chart_values(image, platform, replicas=2)["managerConfig"]
    assert yaml.safe_load(manager["controllerManagerConfigYaml"]) == configuration(platform)


def test_admitted_work_starts_within_the_specs_time_or_waits_for_another_turn(
    tmp_path: Path,
) -> None:
    """It is never a reason to hold up others."""
    spec = changed(
        PLATFORM,
        "tiers:",
        "gangs: {start-within: 90s, requeues: 2, requeue-after: 15s}\ntiers:",
    )
    assert configuration(loaded(tmp_path, spec))["waitForPodsReady"] == {
        "timeout": "90s",
        "recoveryTimeout": "90s",
        "blockAdmission": False,
        "requeuingStrategy": {
            "timestamp": "Eviction",
            "backoffLimitCount": 2,
            "backoffBaseSeconds": 15,
            "backoffMaxSeconds": 3600,
        },
    }


def test_a_first_pause_longer_than_an_hour_is_also_the_longest(tmp_path: Path) -> None:
    """Kueue would otherwise cut it to its own limit."""
    spec = changed(PLATFORM, "tiers:", "gangs: {requeue-after: 2h}\ntiers:")
    strategy = configuration(loaded(tmp_path, spec))["waitForPodsReady"]["requeuingStrategy"]
    assert strategy["backoffBaseSeconds"] == strategy["backoffMaxSeconds"] == 7200


def test_what_has_ended_is_kept_as_long_as_the_spec_says(tmp_path: Path) -> None:
    spec = changed(PLATFORM, "tiers:", "retention: {finished: 3d, stopped: 90m}\ntiers:")
    assert configuration(loaded(tmp_path, spec))["objectRetentionPolicies"] == {
        "workloads": {"afterFinished": "259200s", "afterDeactivatedByKueue": "5400s"}
    }
