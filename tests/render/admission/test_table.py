"""The table that the policies look into, of the shipped spec and of a large one."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tallyard import labels
from tallyard.render.admission.table import definition_manifest, table, table_manifest
from tallyard.spec.model import Platform

# What etcd takes of one object.
ETCD_BYTES_MAX = 1_572_864
USERS = 10_000


def test_a_project_has_its_logins_queues_and_times(platform: Platform) -> None:
    assert table(platform)["projects"]["nlp"] == {
        "id": "nlp",
        "key": "nlp",
        "users": {"oidc:li.wei@corp.example": "li.wei", "chen.yu": "chen.yu"},
        "queues": {
            "training": ["A100-SXM4-40GB", "A800-SXM4-80GB"],
            "inference": ["RTX-4090"],
            "shared": ["RTX-4090"],
            "domestic": ["BI-V150", "MLU370-X8"],
            "elastic": ["A100-SXM4-40GB", "A800-SXM4-80GB"],
        },
        "cpuQueue": "elastic",
        "maxSeconds": 72 * 3600,
        "defaultSeconds": 4 * 3600,
    }


def test_a_project_has_the_models_of_its_tier_only_and_a_default_user(platform: Platform) -> None:
    vision = table(platform)["projects"]["vision"]
    assert vision["queues"] == {
        "training": ["A100-SXM4-40GB"],
        "elastic": ["A100-SXM4-40GB", "A800-SXM4-80GB"],
    }
    assert vision["defaultUser"] == "zhao.min"


def test_the_default_time_is_not_longer_than_the_tier_gives(platform: Platform) -> None:
    project = platform.projects["vision"]
    short = replace(project, limits=replace(project.limits, max_time_seconds=60))
    changed = replace(platform, projects={**platform.projects, "vision": short})
    told = table(changed)["projects"]["vision"]
    assert (told["maxSeconds"], told["defaultSeconds"]) == (60, 60)


def test_a_pool_of_slices_gives_a_part_of_what_goes_with_a_card(platform: Platform) -> None:
    pools = table(platform)["pools"]
    assert pools["shared"]["resources"] == {"RTX-4090": "nvidia.com/gpu.shared"}
    whole, part = pools["inference"], pools["shared"]
    assert (whole["milliCpu"], whole["memory"], whole["memoryUnit"]) == (4000, 4, "Gi")
    assert (part["milliCpu"], part["memory"], part["memoryUnit"]) == (1000, 1, "Gi")


def test_memory_that_is_no_whole_number_of_a_unit_is_told_in_a_smaller_one(
    platform: Platform,
) -> None:
    odd = replace(platform, defaults=replace(platform.defaults, memory_per_card="3Gi"))
    pools = table(odd)["pools"]
    assert (pools["inference"]["memory"], pools["inference"]["memoryUnit"]) == (3, "Gi")
    assert (pools["shared"]["memory"], pools["shared"]["memoryUnit"]) == (768, "Mi")


def test_a_pool_that_borrows_has_its_lenders_models_and_its_own_bounds(platform: Platform) -> None:
    elastic = table(platform)["pools"]["elastic"]
    assert elastic["defaultModel"] == "A100-SXM4-40GB"
    assert elastic["services"] is True
    assert elastic["cpu"] is True
    assert (elastic["graceSeconds"], elastic["backoffLimit"], elastic["podsPerAgent"]) == (
        10,
        0,
        10,
    )


def test_a_bound_that_a_pool_does_not_have_is_left_out(platform: Platform) -> None:
    training = table(platform)["pools"]["training"]
    assert "backoffLimit" not in training
    assert "podsPerAgent" not in training
    assert training["services"] is False


def test_every_name_of_a_resource_is_known(platform: Platform) -> None:
    assert table(platform)["resources"] == [
        "cambricon.com/mlu",
        "iluvatar.ai/gpu",
        "nvidia.com/gpu",
        "nvidia.com/gpu.shared",
    ]


def test_each_level_is_a_label_of_hosts(platform: Platform) -> None:
    assert table(platform)["levels"] == {
        "block": labels.NODE_BLOCK,
        "rack": labels.NODE_RACK,
        "host": labels.NODE_HOSTNAME,
    }


def large(platform: Platform, users: int = USERS) -> Platform:
    """Return the platform with a project of so many users, as a directory names them."""
    project = platform.projects["nlp"]
    one = project.users[0]
    many = tuple(
        replace(one, name=f"user-{n:05}", logins=(f"oidc:user-{n:05}@research.corp.example",))
        for n in range(users)
    )
    return replace(platform, projects={**platform.projects, "nlp": replace(project, users=many)})


def test_a_table_of_ten_thousand_users_fits_into_one_object(platform: Platform) -> None:
    manifest = table_manifest(large(platform))
    size = len(json.dumps(dict(manifest.object)))
    assert USERS * 40 < size < ETCD_BYTES_MAX * 0.6


@pytest.mark.parametrize("key", ["projects", "pools", "models", "resources", "levels"])
def test_the_definition_asks_for_what_the_policies_read(platform: Platform, key: str) -> None:
    (version,) = definition_manifest().object["spec"]["versions"]
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert key in spec["required"]
    assert set(spec["required"]) == set(table(platform))
    # One field for whoever owns fields, or ten thousand names would stand in the object twice.
    assert spec["x-kubernetes-map-type"] == "atomic"
