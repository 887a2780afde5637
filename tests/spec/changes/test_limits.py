"""What tiers give, and for how long it lasts."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tallyard.spec.changes.change import (
    Cause,
    Lasting,
    Presence,
    Rank,
    Through,
)
from tallyard.spec.changes.facts import Fact
from tallyard.spec.changes.whole import changes
from tallyard.spec.model import CoreHours, Period
from tests.spec.changes.conftest import NOW, PROMISED, Load, facts_of, of_a_month, project_of


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
    assert facts_of(tier.changes) == told
    (project,) = found.projects
    # 8 x 30 + 4 x 12.5 + 4 x 20 = 370 core-hours an hour before, 490 after.
    assert facts_of(project.changes) == {**told, "lasts": (of_a_month(540), of_a_month(612), 72)}
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
    facts = facts_of(project.changes)
    assert facts["tier"] == ("bronze", "gold", None)
    assert facts["cards inference RTX"] == (None, 4, 4)
    # The burst of the pool, and not a limit of the tier, lets a queue there borrow.
    assert facts["borrow inference RTX"] == (None, 2, 2)
    assert facts["priority inference"] == (None, Rank("inference", 5000), None)
    assert found.tiers == ()


def test_a_rate_changes_for_how_long_each_grant_lasts(loaded: Load) -> None:
    found = changes(loaded(), loaded(("rate: 30,", "rate: 33,")), NOW)
    assert {each.key: facts_of(each.changes) for each in found.projects} == {
        "nlp": {"lasts": (of_a_month(540), of_a_month(507), -33)},
        "vision": {"lasts": (of_a_month(500), of_a_month(454), -46)},
    }
    assert {each.changes[0].cause for each in found.projects} == {Cause(Through.RATES)}
    (price,) = found.everybody
    assert (price.kind, price.name) == ("accelerator", "A100")
    assert facts_of(price.changes) == {"rate": (30_000, 33_000, 3_000)}
    assert (price.changes[0].percent, price.changes[0].effect) == (10, -1)
    assert found.tiers == ()


def test_another_burst_is_told_to_those_whose_queues_have_it(loaded: Load) -> None:
    found = changes(loaded(), loaded(("burst: 50%", "burst: 25%")), NOW)
    (project,) = found.projects
    assert facts_of(project.changes) == {"borrow inference RTX": (2, 1, -1)}
    assert project.changes[0].cause == Cause(Through.POOL, "inference")


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
        (Lasting(24, Period.DAY, Fraction(1)), of_a_month(730), 0)
    ]


def test_a_grant_that_outlasts_its_period_anyway_lasts_no_longer(loaded: Load) -> None:
    before, after = loaded(("30000/month", "60000/month")), loaded(("30000/month", "90000/month"))
    (project,) = changes(before, after, NOW).projects
    assert [each.fact for each in project.changes] == [Fact.CORE_HOURS]


def test_without_cards_nothing_is_said_of_how_long_they_can_be_used(loaded: Load) -> None:
    """Core-hours are for work without cards too, which no tier bounds."""
    none = ("cards: {training: {A100: 2}}", "cards: {}")
    for before, after in ((loaded(), loaded(none)), (loaded(none), loaded())):
        found = project_of(changes(before, after, NOW), "vision")
        assert Fact.CARDS in {each.fact for each in found.changes}
        assert Fact.LASTS not in {each.fact for each in found.changes}
