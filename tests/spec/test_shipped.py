"""The spec that is shipped is one that a platform engineer would believe."""

from __future__ import annotations

import pytest

from tallyard import labels
from tallyard.spec.load import load
from tallyard.spec.model import Platform
from tests.spec.specs import STACKS

OVERLAYS = ("local", "prod")


@pytest.fixture(params=OVERLAYS)
def platform(request: pytest.FixtureRequest) -> Platform:
    loaded = load(STACKS / f"{request.param}.yaml")
    assert loaded.problems == ()
    assert loaded.platform is not None
    return loaded.platform


def test_every_overlay_is_tested() -> None:
    overlays = {
        file.stem for file in STACKS.glob("*.yaml") if file.read_text().count("\nbase: ") == 1
    }
    assert overlays == set(OVERLAYS)


def test_every_accelerator_is_sold_and_every_tier_has_a_project(platform: Platform) -> None:
    sold = {model for pool in platform.pools.values() for model in pool.models}
    assert sold == set(platform.accelerators)
    assert {project.tier.name for project in platform.projects.values()} == set(platform.tiers)


def test_no_two_tiers_and_no_two_projects_are_alike(platform: Platform) -> None:
    quotas = [(tier.weight, tier.cards, tier.borrow) for tier in platform.tiers.values()]
    assert all(quotas.count(quota) == 1 for quota in quotas)
    assert len({project.id for project in platform.projects.values()}) == len(platform.projects)


def test_a_whole_host_fits_into_some_quota_of_its_pool(platform: Platform) -> None:
    for pool in ("training",):
        for model in platform.pools[pool].models:
            cards_per_host = platform.nodes_of(pool, model)[0].cards
            most = max(tier.cards.get(pool, {}).get(model, 0) for tier in platform.tiers.values())
            assert most >= cards_per_host


def test_the_default_request_of_a_full_host_fits_the_host(platform: Platform) -> None:
    for node in platform.nodes:
        assert node.cards * platform.defaults.cpu_per_card <= node.cpu


def test_the_lab_is_the_one_of_the_guide() -> None:
    lab = load(STACKS / "local.yaml").platform
    assert lab is not None
    hosts = {
        (model, lab.nodes_of(pool, model)[0].cards): len(lab.nodes_of(pool, model))
        for pool, model in dict.fromkeys((node.pool, node.model) for node in lab.nodes)
    }
    assert hosts == {
        ("A100-SXM4-40GB", 8): 4,
        ("A800-SXM4-80GB", 8): 4,
        ("RTX-4090", 4): 4,
        ("BI-V150", 8): 1,
        ("MLU370-X8", 8): 1,
        (None, 0): 2,
    }
    assert {node.rack for node in lab.nodes_of("training", "A100-SXM4-40GB")} == {"r0", "r1"}
    assert {node.pool for node in lab.nodes if node.model is None} == {labels.CPU_POOL}
