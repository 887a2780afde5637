"""What there is to grant, and how much of it is granted."""

from __future__ import annotations

from pathlib import Path

from tallyard.spec.changes.facts import Fact
from tallyard.spec.changes.whole import changes
from tallyard.spec.load import load
from tests.spec.changes.conftest import NOW, PLATFORM, Load
from tests.spec.specs import changed


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
