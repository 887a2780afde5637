"""What a valid spec means."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tallyard.spec.model import (
    Borrowed,
    CoreHours,
    Gangs,
    Level,
    Period,
    Platform,
    Retention,
)
from tests.spec.specs import LOCAL, PLATFORM, changed, load_texts


@pytest.fixture
def platform(tmp_path: Path) -> Platform:
    loaded = load_texts(tmp_path)
    assert loaded.problems == ()
    assert loaded.platform is not None
    return loaded.platform


def test_nvidia_cards_have_nvidias_resource_and_others_their_own(platform: Platform) -> None:
    resources = {name: card.resource for name, card in platform.accelerators.items()}
    assert resources == {"A100": "nvidia.com/gpu", "BI-V150": "iluvatar.ai/gpu"}
    assert platform.accelerators["A100"].memory_bytes == 40 * 2**30


def test_a_borrowing_pool_has_its_lenders_models_and_gives_them_back(platform: Platform) -> None:
    elastic = platform.pools["elastic"]
    assert elastic.models == ("A100",)
    assert elastic.cohort == "training"
    assert elastic.borrowed is Borrowed.RECLAIM
    assert elastic.priority.preemptible
    assert platform.pools["training"].borrowed is Borrowed.KEEP


def test_ids_and_logins_default_to_the_key(platform: Platform) -> None:
    nlp = platform.projects["nlp"]
    assert (nlp.id, nlp.namespace) == ("nlp", "nlp")
    assert {user.name: user.logins for user in nlp.users} == {
        "li.wei": ("oidc:li.wei",),
        "chen.yu": ("chen.yu",),
    }
    assert nlp.tier is platform.tiers["gold"]


def test_an_id_survives_a_rename(tmp_path: Path) -> None:
    renamed = changed(PLATFORM, "  nlp: {", "  语言组: {id: nlp, ")
    loaded = load_texts(tmp_path, renamed)
    assert loaded.platform is not None
    assert loaded.platform.projects["语言组"].namespace == "nlp"


def test_hosts_are_written_out_with_their_places(platform: Platform) -> None:
    assert [(n.name, n.block, n.rack, n.cards) for n in platform.nodes] == [
        ("a100-00", "b0", "r0", 8),
        ("a100-01", "b0", "r1", 8),
        ("bi-00", "b1", "r2", 8),
        ("cpu-00", "b1", "r2", 0),
    ]
    assert platform.cards_installed("training", "A100") == 16
    assert [node.name for node in platform.nodes_of("cpu", None)] == ["cpu-00"]
    assert platform.nodes[0].memory_bytes == 2**40


def test_the_order_of_the_file_is_kept(platform: Platform) -> None:
    assert list(platform.pools) == ["training", "domestic", "elastic"]
    assert platform.topology == (Level.BLOCK, Level.RACK, Level.HOST)


def test_one_person_may_be_in_two_projects(tmp_path: Path) -> None:
    shared = changed(PLATFORM, "zhao.min: {}", "chen.yu: {}")
    assert load_texts(tmp_path, shared).problems == ()


def test_exactly_what_is_installed_may_be_promised(tmp_path: Path) -> None:
    full = changed(PLATFORM, "{A100: 2}", "{A100: 8}")
    assert load_texts(tmp_path, full).problems == ()
    one_host_less = changed(LOCAL, "[00-01]", "00").replace('"r[0-1]"', "r0")
    problems = load_texts(tmp_path, full, one_host_less).problems
    assert [problem.code for problem in problems if problem.is_error] == ["SPEC501"]


def test_rates_and_grants_are_whole_numbers(tmp_path: Path) -> None:
    dearer = changed(PLATFORM, "rate: 30", "rate: 30.125, includes: {cpu: 8, memory: 64Gi}")
    loaded = load_texts(tmp_path, dearer)
    assert loaded.platform is not None
    card = loaded.platform.accelerators["A100"]
    assert (card.rate_milli, card.includes_cpu, card.includes_memory_bytes, card.origin) == (
        *(30_125, 8, 64 * 2**30),
        "measured",
    )
    assert loaded.platform.accelerators["BI-V150"].includes_cpu == 0
    limits = loaded.platform.tiers["bronze"].limits
    assert limits.core_hours == CoreHours(30_000, Period.MONTH)
    assert (limits.max_time_seconds, limits.user_share) == (8 * 3600, 100)


def test_a_user_has_the_share_of_the_tier_or_its_own(tmp_path: Path) -> None:
    shared = changed(PLATFORM, "weight: 4,", "weight: 4, user-share: 60%,")
    shared = changed(shared, 'logins: ["oidc:li.wei"]', 'logins: ["oidc:li.wei"], share: 40%')
    loaded = load_texts(tmp_path, shared)
    assert loaded.platform is not None
    shares = {user.name: user.share for user in loaded.platform.projects["nlp"].users}
    assert shares == {"li.wei": 40, "chen.yu": 60}


OVERRIDE = "overrides: [{cards: {training: {A100: 4}}, until: 2026-12-31, reason: release}]"


@pytest.mark.parametrize(
    ("now", "cards"),
    [
        (datetime(2026, 12, 31, 15, 59, 59, tzinfo=UTC), 4),
        (datetime(2026, 12, 31, 16, tzinfo=UTC), 2),
    ],
)
def test_an_override_ends_with_its_day_in_the_platforms_time_zone(
    tmp_path: Path, now: datetime, cards: int
) -> None:
    overridden = changed(PLATFORM, "tier: bronze", f"tier: bronze, {OVERRIDE}")
    overridden = changed(overridden, "kind: Platform", "kind: Platform\ntime-zone: Asia/Shanghai")
    loaded = load_texts(tmp_path, overridden, now=now)
    assert loaded.platform is not None
    vision = loaded.platform.projects["vision"]
    assert vision.limits.cards == {"training": {"A100": cards}}
    assert vision.tier.limits.cards == {"training": {"A100": 2}}
    assert vision.overrides[0].until == datetime(2026, 12, 31, 16, tzinfo=UTC)


def test_what_an_environment_says_replaces_what_the_platform_says(tmp_path: Path) -> None:
    platform = changed(
        PLATFORM, "defaults: {", "availability: 80%\ndefaults: {registry: registry.example.com, "
    )
    loaded = load_texts(tmp_path, platform)
    assert loaded.platform is not None
    assert (loaded.platform.availability, loaded.platform.overcommit.cards_milli) == (80, 1000)
    local = f"availability: 95%\novercommit: {{cards: 1.5}}\ndefaults: {{registry: r.example.com/a}}\n{LOCAL}"
    loaded = load_texts(tmp_path, platform, local)
    assert loaded.platform is not None
    assert (loaded.platform.availability, loaded.platform.overcommit.cards_milli) == (95, 1500)
    assert loaded.platform.defaults.registry == "r.example.com/a"


def test_a_sliced_pool_counts_the_slices_of_a_card(tmp_path: Path) -> None:
    sliced = changed(
        PLATFORM,
        "{models: [A100], priority: training}",
        "{models: [A100], priority: training, sharing: {time-slicing: 4}}",
    )
    sliced = changed(
        sliced, "{borrows-from: training, cpu: true,", "{borrows-from: domestic, cpu: true,"
    )
    loaded = load_texts(tmp_path, sliced)
    assert loaded.problems == ()
    assert loaded.platform is not None
    assert {name: pool.slices for name, pool in loaded.platform.pools.items()} == {
        "training": 4,
        "domestic": 1,
        "elastic": 1,
    }


def test_an_environment_has_its_own_times_key_by_key(tmp_path: Path) -> None:
    """A test's cluster gives up after seconds where the platform's file says hours."""
    platform = changed(
        PLATFORM,
        "tiers:",
        "gangs: {start-within: 2h, requeues: 5}\nretention: {finished: 3d}\ntiers:",
    )
    loaded = load_texts(tmp_path, platform)
    assert loaded.platform is not None
    assert loaded.platform.gangs == Gangs(7200, 5, 60)
    assert loaded.platform.retention == Retention(259_200, 604_800)
    local = f"gangs: {{start-within: 20s, requeue-after: 0s}}\nretention: {{stopped: 1m}}\n{LOCAL}"
    loaded = load_texts(tmp_path, platform, local)
    assert loaded.platform is not None
    assert loaded.platform.gangs == Gangs(20, 5, 0)
    assert loaded.platform.retention == Retention(259_200, 60)


def test_an_empty_section_of_an_environment_changes_nothing(tmp_path: Path) -> None:
    platform = changed(PLATFORM, "tiers:", "gangs: {requeues: 0}\ntiers:")
    loaded = load_texts(tmp_path, platform, f"gangs: {{}}\n{LOCAL}")
    assert loaded.platform is not None
    assert loaded.platform.gangs.requeues == 0


def test_a_user_is_an_admin_only_where_it_is_said(tmp_path: Path) -> None:
    loaded = load_texts(tmp_path, changed(PLATFORM, "chen.yu: {}", "chen.yu: {admin: true}"))
    assert loaded.platform is not None
    users = loaded.platform.projects["nlp"].users
    assert {user.name: user.is_admin for user in users} == {"li.wei": False, "chen.yu": True}
