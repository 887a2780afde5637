"""What only has another name is told as that, and all else is the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tallyard.spec.changes.change import (
    Presence,
)
from tallyard.spec.changes.whole import changes
from tests.spec.changes.conftest import KEY, NOW, PLATFORM, Load, project_of


def test_a_project_that_is_renamed_is_neither_new_nor_removed(loaded: Load) -> None:
    found = changes(loaded(), loaded(("  vision: {tier", "  sight: {id: vision, tier")), NOW)
    (project,) = found.projects
    assert (project.key, project.key_before, project.id_before) == ("sight", "vision", None)
    assert (project.presence, project.changes) == (Presence.CHANGED, ())


def test_a_key_that_goes_over_to_another_id_is_a_rename_and_a_new_project(loaded: Load) -> None:
    """`vision` is now called `sight`, and somebody else is called `vision`."""
    more = "  sight: {id: vision, tier: bronze, users: {zhao.min: {}}}\n  vision: {id: eye, tier"
    found = changes(loaded(), loaded(("  vision: {tier", more)), NOW)
    assert [(each.key, each.id, each.presence, each.key_before) for each in found.projects] == [
        ("sight", "vision", Presence.CHANGED, "vision"),
        ("vision", "eye", Presence.ADDED, None),
    ]


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
    likely = project_of(found, "sight").rename_of
    assert (likely.key if likely else None) == rename_of


def test_a_rename_is_seen_under_a_renamed_tier_and_only_once(loaded: Load) -> None:
    more = "  sight: {tier: tin, users: {zhao.min: {}}}\n  eyes: {tier: tin, users: {zhao.min: {}}}"
    found = changes(loaded(), loaded((KEY, more), ("  bronze: {", "  tin: {")), NOW)
    likely = {each.key: each.rename_of for each in found.projects}
    assert likely == {"sight": project_of(found, "vision"), "eyes": None, "vision": None}
