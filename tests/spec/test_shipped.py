"""The spec that is shipped is one that a platform engineer would believe."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

from tallyard import labels
from tallyard.spec.load import load
from tallyard.spec.model import Period, Platform, Priority, Tier, Work
from tests.spec.specs import STACKS

OVERLAYS = ("local", "prod")
# A twelfth of a year of 365.25 days.
HOURS_A_MONTH = Fraction(1461, 2)


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
    quotas = [(tier.weight, tier.limits) for tier in platform.tiers.values()]
    assert all(quotas.count(quota) == 1 for quota in quotas)
    assert len({project.id for project in platform.projects.values()}) == len(platform.projects)


def test_a_whole_host_fits_into_some_quota_of_its_pool(platform: Platform) -> None:
    for model in platform.pools["training"].models:
        granted = (tier.limits.cards["training"].get(model, 0) for tier in platform.tiers.values())
        assert max(granted) >= platform.nodes_of("training", model)[0].cards


def test_the_default_request_of_a_full_host_fits_the_host(platform: Platform) -> None:
    for node in platform.nodes:
        assert node.cards * platform.defaults.cpu_per_card <= node.cpu


def rate_per_hour(platform: Platform, tier: Tier) -> Fraction:
    """Return the core-hours that all cards of a tier cost in one hour."""
    return sum(
        (
            Fraction(cards * platform.accelerators[model].rate_milli, 1_000)
            for models in tier.limits.cards.values()
            for model, cards in models.items()
        ),
        Fraction(),
    )


def test_a_tiers_core_hours_last_more_than_a_day_at_its_full_quota(platform: Platform) -> None:
    for tier in platform.tiers.values():
        assert tier.limits.core_hours.period is Period.MONTH
        assert tier.limits.core_hours.amount > 24 * rate_per_hour(platform, tier)


def test_the_largest_job_of_a_tier_fits_under_the_cap_with_its_wait(platform: Platform) -> None:
    wait = platform.price.wait_seconds_max * Fraction(platform.price.wait_charged, 100)
    for tier in platform.tiers.values():
        cap = tier.limits.core_hours.amount * Fraction(platform.freeze.cap, 100)
        for pool, models in tier.limits.cards.items():
            for model, cards in models.items():
                if platform.pools[pool].work is Work.BATCH:
                    seconds = tier.limits.max_time_seconds + wait
                    rate = Fraction(platform.accelerators[model].rate_milli, 1_000)
                    borrowed = tier.limits.borrow.get(pool, 0)
                    most = min(cards + borrowed, platform.cards_installed(pool, model))
                    assert most * rate * seconds / 3_600 <= cap, (tier.name, pool, model)


def test_all_grants_together_are_what_the_cards_can_give(platform: Platform) -> None:
    granted = sum(project.limits.core_hours.amount for project in platform.projects.values())
    rates = (
        node.cards * platform.accelerators[node.model].rate_milli
        for node in platform.nodes
        if node.model is not None
    )
    given = Fraction(sum(rates), 1_000) * HOURS_A_MONTH * Fraction(platform.availability, 100)
    assert granted <= given * Fraction(platform.overcommit.core_hours_milli, 1_000)


def test_a_job_that_names_no_time_is_allowed_in_every_tier(platform: Platform) -> None:
    shortest = min(tier.limits.max_time_seconds for tier in platform.tiers.values())
    freeze = platform.freeze
    assert freeze.fast_lane_seconds < freeze.max_time_default_seconds <= shortest


def test_inference_outranks_all_batch_work_and_is_never_preemptible(platform: Platform) -> None:
    by_work: dict[Work, list[Priority]] = {Work.BATCH: [], Work.INFERENCE: []}
    for pool in platform.pools.values():
        by_work[pool.work].append(pool.priority)
    highest = max(priority.value for priority in by_work[Work.BATCH])
    assert by_work[Work.INFERENCE]
    assert all(priority.value > highest for priority in by_work[Work.INFERENCE])
    assert not any(priority.preemptible for priority in by_work[Work.INFERENCE])


def test_whole_cards_and_slices_are_two_pools_on_different_hosts(platform: Platform) -> None:
    slices = {name: pool.slices for name, pool in platform.pools.items()}
    assert slices["shared"] > 1
    assert {count for name, count in slices.items() if name != "shared"} == {1}
    hosts = {pool: {node.name for node in platform.nodes if node.pool == pool} for pool in slices}
    assert hosts["shared"]
    assert hosts["shared"].isdisjoint(hosts["inference"])


def test_a_dearer_card_has_more_memory_within_a_vendor(platform: Platform) -> None:
    for vendor in {card.vendor for card in platform.accelerators.values()}:
        cards = [card for card in platform.accelerators.values() if card.vendor == vendor]
        by_rate = sorted(cards, key=lambda card: card.rate_milli)
        assert by_rate == sorted(cards, key=lambda card: card.memory_bytes)


def test_the_lab_is_the_one_of_the_guide() -> None:
    lab = load(STACKS / "local.yaml").platform
    assert lab is not None
    hosts = Counter((node.pool, node.model, node.cards) for node in lab.nodes)
    assert hosts == {
        ("training", "A100-SXM4-40GB", 8): 4,
        ("training", "A800-SXM4-80GB", 8): 4,
        ("inference", "RTX-4090", 4): 2,
        ("shared", "RTX-4090", 4): 2,
        ("domestic", "BI-V150", 8): 1,
        ("domestic", "MLU370-X8", 8): 1,
        (labels.CPU_POOL, None, 0): 2,
    }
    assert {node.rack for node in lab.nodes_of("training", "A100-SXM4-40GB")} == {"r0", "r1"}
    assert lab.time_zone == "Asia/Shanghai"
    rates = {name: card.rate_milli for name, card in lab.accelerators.items()}
    assert rates == {
        "RTX-4090": 12_000,
        "A100-SXM4-40GB": 30_000,
        "A800-SXM4-80GB": 54_000,
        "BI-V150": 20_000,
        "MLU370-X8": 18_000,
    }
