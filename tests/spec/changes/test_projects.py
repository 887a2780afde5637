"""Projects that come, go or change, with their overrides and priorities."""

from __future__ import annotations

from datetime import UTC, datetime

from tallyard.spec.changes.change import (
    Cause,
    Presence,
    Through,
)
from tallyard.spec.changes.facts import Fact
from tallyard.spec.changes.whole import changes
from tests.spec.changes.conftest import (
    NOW,
    Load,
    facts_of,
    of_a_month,
    override_until,
    project_of,
)


def test_an_override_that_comes_is_told_with_what_it_changes(loaded: Load) -> None:
    found = changes(loaded(), loaded(override_until("2026-12-31")), NOW)
    (project,) = found.projects
    causes = {each.fact: each.cause for each in project.changes}
    given = (Fact.CARDS, Fact.BORROW, Fact.CORE_HOURS, Fact.MAX_TIME)
    assert [causes[fact] for fact in given] == [Cause(Through.OVERRIDE)] * 4
    (override,) = project.overrides
    assert (override.presence, override.is_over_after) == (Presence.ADDED, False)
    assert override.after is not None
    assert override.after.until == datetime(2027, 1, 1, tzinfo=UTC)
    gone = changes(loaded(override_until("2026-12-31")), loaded(), NOW)
    assert project_of(gone, "vision").overrides[0].presence is Presence.REMOVED
    assert {each.effect for each in gone.projects[0].changes} == {-1}


def test_an_override_that_has_ended_changes_nothing_but_is_told(loaded: Load) -> None:
    found = changes(loaded(override_until("2026-11-29")), loaded(), NOW)
    (project,) = found.projects
    assert project.changes == ()
    assert [(each.presence, each.is_over_before) for each in project.overrides] == [
        (Presence.REMOVED, True)
    ]


def test_an_override_that_is_ended_by_its_change_ran_until_then(loaded: Load) -> None:
    found = changes(loaded(override_until("2026-12-31")), loaded(override_until("2026-11-29")), NOW)
    (override,) = project_of(found, "vision").overrides
    assert override.presence is Presence.CHANGED
    assert (override.is_over_before, override.is_over_after) == (False, True)


def test_an_override_that_is_prolonged_is_the_same_one(loaded: Load) -> None:
    found = changes(loaded(override_until("2026-12-31")), loaded(override_until("2027-01-31")), NOW)
    (project,) = found.projects
    assert project.changes == ()
    assert [each.presence for each in project.overrides] == [Presence.CHANGED]


def test_another_id_is_a_new_namespace_and_told_so(loaded: Load) -> None:
    found = changes(loaded(), loaded(("  vision: {tier", "  vision: {id: sight, tier")), NOW)
    (project,) = found.projects
    assert (project.key, project.id, project.id_before) == ("vision", "sight", "vision")
    assert project.presence is Presence.CHANGED


def test_a_project_that_comes_or_goes_is_told_with_all_that_it_had(loaded: Load) -> None:
    without = loaded(("  vision: {tier: bronze, users: {zhao.min: {}}}\n", ""))
    gone = changes(loaded(), without, NOW).projects[0]
    come = changes(without, loaded(), NOW).projects[0]
    assert (gone.presence, come.presence) == (Presence.REMOVED, Presence.ADDED)
    assert gone.people == come.people == 1
    facts = facts_of(come.changes)
    assert facts["cards training A100"] == (None, 2, 2)
    assert facts["user zhao.min"] == (None, ("zhao.min",), None)
    assert facts["lasts"] == (None, of_a_month(500), None)
    assert "borrow training" not in facts
    backwards = {key: (after, before) for key, (before, after, _) in facts_of(gone.changes).items()}
    assert backwards == {key: each[:2] for key, each in facts.items()}


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
