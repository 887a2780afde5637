"""What differs between two platforms: whatever differs is told, and told as what it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tallyard.spec.changes.change import (
    Cause,
    Change,
    Lasting,
    Presence,
    Rank,
    Through,
    compared,
)
from tallyard.spec.changes.facts import KINDS, Fact
from tallyard.spec.changes.hosts import Move, ranges
from tallyard.spec.changes.projects import ProjectChange
from tallyard.spec.changes.whole import Changes, changes
from tallyard.spec.hosts import expand
from tallyard.spec.load import load
from tallyard.spec.model import CoreHours, Node, Period, Platform, Project, User
from tests.spec.specs import DATA, changed

PLATFORM = (DATA / "diff" / "platform.yaml").read_text()
LOCAL = (DATA / "diff" / "local.yaml").read_text()
NOW = datetime(2026, 12, 1, tzinfo=UTC)

type Load = Callable[..., Platform]


@pytest.fixture
def loaded(tmp_path: Path) -> Load:
    """Load the small spec with some texts replaced."""

    def platform(*replaced: tuple[str, str], local: tuple[tuple[str, str], ...] = ()) -> Platform:
        for name, text, pairs in (("platform", PLATFORM, replaced), ("local", LOCAL, local)):
            for old, new in pairs:
                text = changed(text, old, new)  # noqa: PLW2901 - one replacement after another
            (tmp_path / f"{name}.yaml").write_text(text)
        found = load(tmp_path / "local.yaml", NOW)
        assert found.platform is not None, found.problems
        return found.platform

    return platform


def _project(found: Changes, key: str) -> ProjectChange:
    (project,) = (each for each in found.projects if each.key == key)
    return project


def _of_a_month(hours: int) -> Lasting:
    return Lasting(hours, Period.MONTH, Fraction())


def _facts(changes: tuple[Change, ...]) -> Mapping[str, tuple[Any, Any, Any]]:
    """Return before, after and delta by the fact and what it is about."""
    return {
        " ".join((each.fact, *(name for _, name in each.about))): (
            each.before,
            each.after,
            each.delta,
        )
        for each in changes
    }


def test_the_same_platform_differs_in_nothing(loaded: Load) -> None:
    found = changes(loaded(), loaded(), NOW)
    assert found.environment is Presence.SAME
    assert not found.budget.differs
    differing = ("renames", "tiers", "projects", "everybody", "hosts", "moves", "supply")
    assert [getattr(found, name) for name in differing] == [()] * len(differing)
    assert (found.slices, found.zone_before, found.zone_after) == ({}, "UTC", "UTC")


def test_of_no_platform_at_all_nothing_can_be_said() -> None:
    with pytest.raises(ValueError, match="nothing to compare"):
        changes(None, None, NOW)


def test_a_tier_that_gives_more_is_told_once_and_in_each_project_that_has_it(
    loaded: Load,
) -> None:
    after = loaded(
        ("training: {A100: 8}", "training: {A100: 12}"), ("200000/month", "300000/month")
    )
    found = changes(loaded(), after, NOW)
    (tier,) = found.tiers
    assert (tier.name, tier.presence, tier.used_by) == ("gold", Presence.CHANGED, ("nlp",))
    told = {
        "cards training A100": (8, 12, 4),
        "core-hours": (
            CoreHours(200_000, Period.MONTH),
            CoreHours(300_000, Period.MONTH),
            100_000,
        ),
    }
    assert _facts(tier.changes) == told
    (project,) = found.projects
    # 8 x 30 + 4 x 12.5 + 4 x 20 = 370 core-hours an hour before, 490 after.
    assert _facts(project.changes) == {**told, "lasts": (_of_a_month(540), _of_a_month(612), 72)}
    assert [each.cause for each in project.changes] == [
        Cause(Through.TIER, "gold"),
        Cause(Through.TIER, "gold"),
        None,
    ]
    assert {each.effect for each in project.changes} == {1}
    (supply,) = found.supply
    assert (supply.before.unassigned, supply.after.unassigned) == (6, 2)


def test_a_tier_that_no_project_has_is_told_too(loaded: Load) -> None:
    silver = "  bronze: {weight: 1"
    more = f"  silver: {{weight: 2, cards: {{}}, core-hours: 1/month, max-time: 8h}}\n{silver}"
    found = changes(loaded(), loaded((silver, more)), NOW)
    assert [(each.name, each.presence, each.used_by) for each in found.tiers] == [
        ("silver", Presence.ADDED, ())
    ]
    assert found.projects == ()


def test_a_project_of_another_tier_is_told_so(loaded: Load) -> None:
    found = changes(loaded(), loaded(("vision: {tier: bronze", "vision: {tier: gold")), NOW)
    (project,) = found.projects
    causes = {(each.fact, dict(each.about).get("pool")): each.cause for each in project.changes}
    assert causes[Fact.CARDS, "training"] == Cause(Through.OTHER_TIER, "gold")
    assert causes[Fact.WEIGHT, None] == Cause(Through.OTHER_TIER, "gold")
    assert causes[Fact.TIER, None] is None
    facts = _facts(project.changes)
    assert facts["tier"] == ("bronze", "gold", None)
    assert facts["cards inference RTX"] == (None, 4, 4)
    # The burst of the pool, and not a limit of the tier, lets a queue there borrow.
    assert facts["borrow inference RTX"] == (None, 2, 2)
    assert facts["priority inference"] == (None, Rank("inference", 5000), None)
    assert found.tiers == ()


def test_a_rate_changes_for_how_long_each_grant_lasts(loaded: Load) -> None:
    found = changes(loaded(), loaded(("rate: 30,", "rate: 33,")), NOW)
    assert {each.key: _facts(each.changes) for each in found.projects} == {
        "nlp": {"lasts": (_of_a_month(540), _of_a_month(507), -33)},
        "vision": {"lasts": (_of_a_month(500), _of_a_month(454), -46)},
    }
    assert {each.changes[0].cause for each in found.projects} == {Cause(Through.RATES)}
    (price,) = found.everybody
    assert (price.kind, price.name) == ("accelerator", "A100")
    assert _facts(price.changes) == {"rate": (30_000, 33_000, 3_000)}
    assert (price.changes[0].percent, price.changes[0].effect) == (10, -1)
    assert found.tiers == ()


def test_another_burst_is_told_to_those_whose_queues_have_it(loaded: Load) -> None:
    found = changes(loaded(), loaded(("burst: 50%", "burst: 25%")), NOW)
    (project,) = found.projects
    assert _facts(project.changes) == {"borrow inference RTX": (2, 1, -1)}
    assert project.changes[0].cause == Cause(Through.POOL, "inference")


OVERRIDE = (
    "vision: {tier: bronze,",
    (
        "vision: {tier: bronze, overrides: [{cards: {training: {A100: 4}}, borrow: {training: 3}, "
        "core-hours: 100000/month, max-time: 12h, until: UNTIL, reason: a paper}],"
    ),
)


def _override(until: str) -> tuple[str, str]:
    return OVERRIDE[0], OVERRIDE[1].replace("UNTIL", until)


def test_an_override_that_comes_is_told_with_what_it_changes(loaded: Load) -> None:
    found = changes(loaded(), loaded(_override("2026-12-31")), NOW)
    (project,) = found.projects
    causes = {each.fact: each.cause for each in project.changes}
    given = (Fact.CARDS, Fact.BORROW, Fact.CORE_HOURS, Fact.MAX_TIME)
    assert [causes[fact] for fact in given] == [Cause(Through.OVERRIDE)] * 4
    (override,) = project.overrides
    assert (override.presence, override.is_over_after) == (Presence.ADDED, False)
    assert override.after is not None
    assert override.after.until == datetime(2027, 1, 1, tzinfo=UTC)
    gone = changes(loaded(_override("2026-12-31")), loaded(), NOW)
    assert _project(gone, "vision").overrides[0].presence is Presence.REMOVED
    assert {each.effect for each in gone.projects[0].changes} == {-1}


def test_an_override_that_has_ended_changes_nothing_but_is_told(loaded: Load) -> None:
    found = changes(loaded(_override("2026-11-29")), loaded(), NOW)
    (project,) = found.projects
    assert project.changes == ()
    assert [(each.presence, each.is_over_before) for each in project.overrides] == [
        (Presence.REMOVED, True)
    ]


def test_an_override_that_is_ended_by_its_change_ran_until_then(loaded: Load) -> None:
    found = changes(loaded(_override("2026-12-31")), loaded(_override("2026-11-29")), NOW)
    (override,) = _project(found, "vision").overrides
    assert override.presence is Presence.CHANGED
    assert (override.is_over_before, override.is_over_after) == (False, True)


def test_an_override_that_is_prolonged_is_the_same_one(loaded: Load) -> None:
    found = changes(loaded(_override("2026-12-31")), loaded(_override("2027-01-31")), NOW)
    (project,) = found.projects
    assert project.changes == ()
    assert [each.presence for each in project.overrides] == [Presence.CHANGED]


def test_a_project_that_is_renamed_is_neither_new_nor_removed(loaded: Load) -> None:
    found = changes(loaded(), loaded(("  vision: {tier", "  sight: {id: vision, tier")), NOW)
    (project,) = found.projects
    assert (project.key, project.key_before, project.id_before) == ("sight", "vision", None)
    assert (project.presence, project.changes) == (Presence.CHANGED, ())


def test_another_id_is_a_new_namespace_and_told_so(loaded: Load) -> None:
    found = changes(loaded(), loaded(("  vision: {tier", "  vision: {id: sight, tier")), NOW)
    (project,) = found.projects
    assert (project.key, project.id, project.id_before) == ("vision", "sight", "vision")
    assert project.presence is Presence.CHANGED


def test_a_key_that_goes_over_to_another_id_is_a_rename_and_a_new_project(loaded: Load) -> None:
    """`vision` is now called `sight`, and somebody else is called `vision`."""
    more = "  sight: {id: vision, tier: bronze, users: {zhao.min: {}}}\n  vision: {id: eye, tier"
    found = changes(loaded(), loaded(("  vision: {tier", more)), NOW)
    assert [(each.key, each.id, each.presence, each.key_before) for each in found.projects] == [
        ("sight", "vision", Presence.CHANGED, "vision"),
        ("vision", "eye", Presence.ADDED, None),
    ]


def test_a_project_that_comes_or_goes_is_told_with_all_that_it_had(loaded: Load) -> None:
    without = loaded(("  vision: {tier: bronze, users: {zhao.min: {}}}\n", ""))
    gone = changes(loaded(), without, NOW).projects[0]
    come = changes(without, loaded(), NOW).projects[0]
    assert (gone.presence, come.presence) == (Presence.REMOVED, Presence.ADDED)
    assert gone.people == come.people == 1
    facts = _facts(come.changes)
    assert facts["cards training A100"] == (None, 2, 2)
    assert facts["user zhao.min"] == (None, ("zhao.min",), None)
    assert facts["lasts"] == (None, _of_a_month(500), None)
    assert "borrow training" not in facts
    backwards = {key: (after, before) for key, (before, after, _) in _facts(gone.changes).items()}
    assert backwards == {key: each[:2] for key, each in facts.items()}


def test_people_come_and_go_and_have_shares_of_their_own(loaded: Load) -> None:
    users = "{li.wei: {logins: [li], share: 30%}, wang.fang: {}}, default-user: li.wei"
    after = loaded(('{li.wei: {logins: ["oidc:li.wei"]}, chen.yu: {}}', users))
    (project,) = changes(loaded(), after, NOW).projects
    assert _facts(project.changes) == {
        "share li.wei": (100, 30, -70),
        "user li.wei": (("oidc:li.wei",), ("li",), None),
        "user wang.fang": (None, ("wang.fang",), None),
        "user chen.yu": (("chen.yu",), None, None),
        "default-user": (None, "li.wei", None),
    }


# More than there is, so that a grant may be large and a pool may lose a host.
PROMISED = ("\ntiers", "\novercommit: {cards: 1.5, core-hours: 3}\ntiers")


@pytest.mark.parametrize(
    ("grant", "told"),
    [
        # 30000 of a month are 985.6 of a day.
        ("1000/day", (None, 1, 1)),
        ("900/day", (None, -9, -1)),
        ("30000/day", (None, 2944, 1)),
        ("31000/month", (1000, 3, 1)),
    ],
)
def test_grants_are_compared_by_the_hour_whatever_their_period(
    grant: str, told: tuple[int | None, int, int], loaded: Load
) -> None:
    before, after = loaded(PROMISED), loaded(PROMISED, ("30000/month", grant))
    (project,) = changes(before, after, NOW).projects
    found, lasts = (
        next(each for each in project.changes if each.fact is fact)
        for fact in (Fact.CORE_HOURS, Fact.LASTS)
    )
    assert (found.delta, found.percent, found.effect) == told
    assert lasts.effect == found.effect
    assert (lasts.delta is None) is (found.delta is None)


def test_the_same_grant_for_another_period_is_neither_a_gain_nor_a_loss(loaded: Load) -> None:
    before = loaded(PROMISED, ("30000/month", "24000/day"))
    after = loaded(PROMISED, ("30000/month", "730500/month"))
    (project,) = changes(before, after, NOW).projects
    (found,) = (each for each in project.changes if each.fact is Fact.CORE_HOURS)
    assert (found.delta, found.percent, found.effect) == (None, 0, 0)
    lasts = [each for each in project.changes if each.fact is Fact.LASTS]
    assert [(each.before, each.after, each.effect) for each in lasts] == [
        (Lasting(24, Period.DAY, Fraction(1)), _of_a_month(730), 0)
    ]


def test_a_grant_that_outlasts_its_period_anyway_lasts_no_longer(loaded: Load) -> None:
    before, after = loaded(("30000/month", "60000/month")), loaded(("30000/month", "90000/month"))
    (project,) = changes(before, after, NOW).projects
    assert [each.fact for each in project.changes] == [Fact.CORE_HOURS]


def test_without_cards_nothing_is_said_of_how_long_they_can_be_used(loaded: Load) -> None:
    """Core-hours are for work without cards too, which no tier bounds."""
    none = ("cards: {training: {A100: 2}}", "cards: {}")
    for before, after in ((loaded(), loaded(none)), (loaded(none), loaded())):
        found = _project(changes(before, after, NOW), "vision")
        assert Fact.CARDS in {each.fact for each in found.changes}
        assert Fact.LASTS not in {each.fact for each in found.changes}


def test_another_value_of_a_priority_is_no_gain_for_it_is_refused(loaded: Load) -> None:
    found = changes(loaded(), loaded(("training, value: 1000", "training, value: 2000")), NOW)
    ranks = [each for project in found.projects for each in project.changes]
    assert {each.fact for each in ranks} == {Fact.PRIORITY}
    (value,) = next(each for each in found.everybody if each.kind == "priority").changes
    told = {(each.cause, each.delta, each.effect) for each in (*ranks, value)}
    assert told == {(Cause(Through.PRIORITY, "training"), 1000, 0)}


def test_another_priority_of_the_pool_is_a_gain(loaded: Load) -> None:
    high = "  - {name: high, value: 2000}\n  - {name: elastic"
    pool = "domestic: {models: [BI-V150], priority: "
    after = loaded(("  - {name: elastic", high), (f"{pool}training", f"{pool}high"))
    (project,) = changes(loaded(), after, NOW).projects
    (rank,) = project.changes
    assert (rank.cause, rank.effect) == (Cause(Through.POOL, "domestic"), 1)


def test_a_renamed_project_stands_once_under_its_tier(loaded: Load) -> None:
    after = loaded(("  vision: {tier", "  sight: {id: vision, tier"), ("weight: 1", "weight: 2"))
    (tier,) = changes(loaded(), after, NOW).tiers
    assert tier.used_by == ("sight",)
    gone = loaded(
        ("  bronze: {weight: 1, ", "  copper: {weight: 2, "), ("tier: bronze", "tier: copper")
    )
    used = {each.name: each.used_by for each in changes(loaded(), gone, NOW).tiers}
    assert used == {"copper": ("vision",), "bronze": ("vision",)}


def test_what_only_has_another_name_is_one_line_and_all_else_is_the_same(loaded: Load) -> None:
    """A lender and who borrows from it, a card in pool and tier, and the tiers themselves."""
    text = PLATFORM.replace("training:", "drill:").replace("from: training", "from: drill")
    text = text.replace("elastic: {", "stretchy: {").replace("A100", "A100X")
    text = text.replace("gold", "oro").replace("bronze", "bronce")
    after = loaded(
        (PLATFORM, text), local=(("pool: training, model: A100", "pool: drill, model: A100X"),)
    )
    found = changes(loaded(), after, NOW)
    assert {(each.kind, each.before, each.after) for each in found.renames} == {
        ("tier", "gold", "oro"),
        ("tier", "bronze", "bronce"),
        ("accelerator", "A100", "A100X"),
        ("pool", "training", "drill"),
        ("pool", "elastic", "stretchy"),
    }
    nothing = changes(after, after, NOW)
    assert replace(found, environment=Presence.SAME, renames=()) == nothing
    assert found.environment is Presence.CHANGED


def test_what_changes_beside_its_name_is_another_thing(loaded: Load) -> None:
    after = loaded(
        ("  bronze: {weight: 1", "  copper: {weight: 2"), ("tier: bronze", "tier: copper")
    )
    found = changes(loaded(), after, NOW)
    assert found.renames == ()
    assert {each.name: each.presence for each in found.tiers} == {
        "copper": Presence.ADDED,
        "bronze": Presence.REMOVED,
    }


def test_a_name_is_new_only_where_one_thing_alone_can_be_meant(loaded: Load) -> None:
    bronze = (
        "  bronze: {weight: 1, cards: {training: {A100: 2}}, core-hours: 30000/month, max-time: 8h}"
    )
    two = "\n".join(bronze.replace("bronze", name) for name in ("tin", "zinc"))
    found = changes(loaded(), loaded((bronze, two), ("tier: bronze", "tier: tin")), NOW)
    assert found.renames == ()
    assert {each.name for each in found.tiers} == {"tin", "zinc", "bronze"}


KEY = "  vision: {tier: bronze, users: {zhao.min: {}}}"


@pytest.mark.parametrize(
    ("project", "rename_of"),
    [
        ("  sight: {tier: bronze, users: {zhao.min: {}}}", "vision"),
        ("  sight: {tier: bronze, users: {sun.na: {}}}", None),
        ("  sight: {tier: bronze, users: {zhao.min: {}, sun.na: {}}}", None),
        ("  sight: {tier: gold, users: {zhao.min: {}}}", None),
        ("  sight: {id: vision, tier: bronze, users: {zhao.min: {}}}", None),
    ],
)
def test_a_new_key_with_the_same_people_is_likely_a_rename(
    project: str, rename_of: str | None, loaded: Load
) -> None:
    found = changes(loaded(), loaded((KEY, project)), NOW)
    likely = _project(found, "sight").rename_of
    assert (likely.key if likely else None) == rename_of


def test_a_rename_is_seen_under_a_renamed_tier_and_only_once(loaded: Load) -> None:
    more = "  sight: {tier: tin, users: {zhao.min: {}}}\n  eyes: {tier: tin, users: {zhao.min: {}}}"
    found = changes(loaded(), loaded((KEY, more), ("  bronze: {", "  tin: {")), NOW)
    likely = {each.key: each.rename_of for each in found.projects}
    assert likely == {"sight": _project(found, "vision"), "eyes": None, "vision": None}


def test_who_goes_from_one_project_to_another_is_told_of_both(loaded: Load) -> None:
    after = loaded((", chen.yu: {}", ""), ("{zhao.min: {}}", "{zhao.min: {}, chen.yu: {}}"))
    found = changes(loaded(), after, NOW)
    told = {each.key: [change.cause for change in each.changes] for each in found.projects}
    assert told == {
        "nlp": [Cause(Through.TO_PROJECT, "vision")],
        "vision": [Cause(Through.FROM_PROJECT, "nlp")],
    }


def test_who_comes_into_two_projects_moves_into_neither(loaded: Load) -> None:
    robots = f"{KEY}\n  robots: {{tier: bronze, users: {{chen.yu: {{}}}}}}"
    users = ("{zhao.min: {}}", "{zhao.min: {}, chen.yu: {}}")
    after = loaded((", chen.yu: {}", ""), (KEY, robots.replace(*users)))
    causes = {
        change.cause
        for each in changes(loaded(), after, NOW).projects
        for change in each.changes
        if change.fact is Fact.USER
    }
    assert causes == {None}


def test_hosts_are_told_by_what_happens_to_them(loaded: Load) -> None:
    after = loaded(
        local=(
            ("a100-[00-01]", "a100-[01-03]"),
            ("memory: 1Ti, block: b0", "memory: 2Ti, block: b0"),
        )
    )
    (hosts,) = changes(loaded(), after, NOW).hosts
    assert (hosts.pool, hosts.model) == ("training", "A100")
    assert (hosts.hosts_before, hosts.hosts_after) == (2, 3)
    assert (hosts.cards_before, hosts.cards_after) == (16, 24)
    assert (hosts.joined, hosts.left) == (("a100-02", "a100-03"), ("a100-00",))
    (altered,) = hosts.altered
    assert altered.hosts == ("a100-01",)
    assert _facts(altered.changes) == {"memory": (2**40, 2**41, 2**40), "rack": ("r1", "r0", None)}


def test_hosts_that_stand_in_another_pool_are_moved(loaded: Load) -> None:
    rest = '"a100-00", pool: training'
    moved = (
        "nodes:\n  - {hosts: a100-01, pool: domestic, model: BI-V150, cards: 8, cpu: 128, "
        "memory: 1Ti, block: b0, rack: r0}"
    )
    local = (('"a100-[00-01]", pool: training', rest), ('"r[0-1]"', "r0"), ("nodes:", moved))
    found = changes(loaded(PROMISED), loaded(PROMISED, local=local), NOW)
    assert found.moves == (Move(("a100-01",), "training", "domestic", "A100", "BI-V150"),)
    assert {each.pool: (each.joined, each.left) for each in found.hosts} == {
        "training": ((), ("a100-01",)),
        "domestic": (("a100-01",), ()),
    }


def test_of_sliced_cards_there_are_as_many_and_more_slices(loaded: Load) -> None:
    after = loaded(("burst: 50%", "sharing: {time-slicing: 4}"))
    found = changes(loaded(), after, NOW)
    (pool,) = found.everybody
    (sharing,) = (each for each in pool.changes if each.fact is Fact.SHARING)
    assert (sharing.before, sharing.after, sharing.delta, sharing.effect) == (1, 4, None, 0)
    (supply,) = found.supply
    assert (supply.before.slices, supply.after.slices) == (1, 4)
    assert supply.after.installed == supply.before.installed == 8
    assert (found.slices, changes(after, loaded(), NOW).slices) == ({"inference": 4}, {})


def test_what_borrows_its_cards_says_nothing_of_how_they_are_shared(loaded: Load) -> None:
    more = "  spare: {borrows-from: domestic, priority: elastic}\ndefaults"
    (pool,) = changes(loaded(), loaded(("defaults", more)), NOW).everybody
    assert Fact.SHARING not in {each.fact for each in pool.changes}


def test_what_may_be_granted_follows_the_overcommitment(loaded: Load) -> None:
    after = loaded(("\ntiers", "\novercommit: {cards: 1.5, core-hours: 1.25}\ntiers"))
    found = changes(loaded(), after, NOW)
    allowed = {each.pool: (each.before.allowed, each.after.allowed) for each in found.supply}
    assert allowed == {"training": (16, 24), "inference": (8, 12), "domestic": (8, 12)}
    budget = found.budget
    # (16 x 30 + 8 x 12.5 + 8 x 20) core-hours an hour x 730.5 hours x 90 %.
    assert (budget.before.given, budget.after.given) == (486_513, 486_513)
    assert (budget.before.allowed, budget.after.allowed) == (486_513, 608_141)
    assert (budget.before.granted, budget.before.unassigned) == (230_000, 256_513)


def test_what_may_be_granted_of_core_hours_is_what_the_check_of_the_spec_allows(
    tmp_path: Path, loaded: Load
) -> None:
    allowed = changes(loaded(), None, NOW).budget.before.allowed
    for more, codes in ((0, set()), (1, {"SPEC511"})):
        grant = f"{allowed - 30_000 + more}/month"
        (tmp_path / "platform.yaml").write_text(changed(PLATFORM, "200000/month", grant))
        found = load(tmp_path / "local.yaml", NOW)
        assert {each.code for each in found.problems if each.is_error} == codes


def test_memory_that_is_only_written_otherwise_is_the_same(loaded: Load) -> None:
    after = loaded(local=(("memory: 1Ti", "memory: 1024Gi"),))
    assert changes(loaded(), after, NOW).environment is Presence.SAME


def test_an_environment_that_comes_is_told_in_full(loaded: Load) -> None:
    come, gone = changes(None, loaded(), NOW), changes(loaded(), None, NOW)
    assert (come.environment, gone.environment) == (Presence.ADDED, Presence.REMOVED)
    assert len(come.projects) == len(gone.projects) == 2
    assert sum(each.hosts_after for each in come.hosts) == 5
    assert {each.before.installed for each in come.supply} == {0}


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (("a-00", "a-01", "a-02", "a-07"), ("a-[00-02,07]",)),
        (("a-9", "a-10", "a-11"), ("a-9", "a-[10-11]")),
        (("r1.x", "r2.x", "gw"), ("r[1-2].x", "gw")),
        (("b-02", "b-01"), ("b-[01-02]",)),
        ((), ()),
    ],
)
def test_hosts_are_named_in_ranges_that_the_spec_reads(
    names: tuple[str, ...], shown: tuple[str, ...]
) -> None:
    assert ranges(names) == shown
    assert sorted(name for each in shown for name in expand(each)) == sorted(names)


def test_every_fact_has_one_meaning() -> None:
    assert set(KINDS) <= set(Fact)
    assert compared({(Fact.BURST, ()): None}, {}) == ()


# A text of memory beside its bytes, and what follows from other fields.
_DERIVED = {(Node, "memory"), (Project, "limits")}


def _variants(value: Any, path: str = "platform") -> Iterator[tuple[str, Any]]:
    """Yield a platform's value with each single leaf of it changed."""
    if isinstance(value, tuple):
        for index, item in enumerate(value):
            for where, other in _variants(item, f"{path}[{index}]"):
                yield where, (*value[:index], other, *value[index + 1 :])
        if value:
            yield f"{path}[]", value[:-1]
    elif isinstance(value, Mapping):
        for key, item in value.items():
            for where, other in _variants(item, f"{path}.{key}"):
                yield where, {**value, key: other}
    elif is_dataclass(value):
        yield from _variants_of_fields(value, path)
    else:
        yield path, _other(value, path)


def _other(value: Any, path: str) -> Any:
    match value:
        case bool():
            return not value
        case Enum():
            return next(each for each in type(value) if each is not value)
        case int():
            return value + 1
        case str():
            return f"1{value}" if value.endswith("Gi") else f"{value}x"
        case datetime():
            return value.replace(year=value.year + 1)
    return _SET.get(path.rpartition(".")[2], 7)


def _variants_of_fields(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    for field in fields(value):
        if (type(value), field.name) not in _DERIVED:
            for where, other in _variants(getattr(value, field.name), f"{path}.{field.name}"):
                yield where, replace(value, **{field.name: other})


_SET = {"registry": "r", "default_user": "u", "borrows_from": "p", "links": "pcie", "model": "m"}
# What is also the key under which it is found, a project's tier, which is told by itself, and
# the bytes of a card's memory, whose text is told.
_TOLD_ELSEWHERE = re.compile(
    r"platform\.((accelerators|priorities|pools|tiers)\.[^.]+\.name"
    r"|projects\.[^.]+\.tier\..*|accelerators\.[^.]+\.memory_bytes|pools\.[^.]+\.priority\.(value|preemptible)"
    # What borrows has no cards of its own to share.
    r"|pools\.elastic\.slices)"
)


def test_whatever_differs_in_a_platform_is_told(loaded: Load) -> None:
    """A key that the spec grows and the diff forgets would be called no difference."""
    resources = "20Gi, resources: {x.example/nic: 1}}\nuncounted: [x.example/]"
    before = loaded(("20Gi}", resources), _override("2026-12-31"))
    silent, told = [], 0
    for path, after in _variants(before):
        if not _TOLD_ELSEWHERE.fullmatch(path):
            told += 1
            if changes(before, after, NOW).environment is not Presence.CHANGED:
                silent.append(path)
    assert silent == []
    assert told > 150


def test_people_without_a_share_of_their_own_follow_their_project(loaded: Load) -> None:
    found = changes(loaded(), loaded(("max-time: 8h", "max-time: 8h, user-share: 60%")), NOW)
    assert _facts(_project(found, "vision").changes) == {"user-share": (100, 60, -40)}
    assert all(isinstance(each, User) for each in loaded().projects["vision"].users)
