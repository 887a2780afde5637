"""How JobSet's controller is configured where it runs in the cluster."""

from __future__ import annotations

import pytest

from tallyard.render.jobset_manager import chart_values, configuration
from tallyard.spec.versions import read_versions
from tests.spec.specs import STACKS

IMAGE = read_versions(STACKS / "versions.yaml").images["jobset"]


def test_the_released_image_is_pulled_and_not_the_charts_own() -> None:
    assert chart_values(IMAGE, replicas=2)["image"] == {
        "repository": "registry.k8s.io/jobset/jobset",
        "tag": IMAGE.pinned_tag,
        "pullPolicy": "IfNotPresent",
    }


@pytest.mark.parametrize(("replicas", "is_guarded"), [(0, False), (1, False), (2, True)])
def test_a_drain_leaves_one_of_several_controllers(replicas: int, is_guarded: bool) -> None:  # noqa: FBT001
    controller = chart_values(IMAGE, replicas=replicas)["controller"]
    assert controller["replicas"] == replicas
    assert controller["podDisruptionBudget"] == {"enabled": is_guarded, "minAvailable": 1}


def test_values_and_configuration_say_the_same() -> None:
    controller = chart_values(IMAGE, replicas=2)["controller"]
    assert controller["clientConnection"] == configuration()["clientConnection"]
    elects = configuration()["leaderElection"]["leaderElect"]
    assert controller["leaderElection"] == {"enable": elects}
