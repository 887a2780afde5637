"""Waivers that come, go or say something else."""

from __future__ import annotations

from tallyard.spec.changes.change import Presence
from tallyard.spec.changes.waivers import WaiverChange
from tallyard.spec.changes.whole import changes
from tests.spec.changes.conftest import NOW, Load

TAGS = "{rule: images-pinned, objects: [Job/a/b, Job/a/c], reason: a mirror, until: 2026-12-31}"
SWAP = "{rule: objects-replaced, objects: [Job/a/b], reason: new cards, until: 2027-01-31}"


def waived(*entries: str) -> tuple[str, str]:
    return "\ntiers", f"\nwaivers: [{', '.join(entries)}]\ntiers"


def rules(found: tuple[WaiverChange, ...]) -> list[tuple[Presence, str]]:
    sides = [(each.presence, each.after or each.before) for each in found]
    return [(presence, waiver.rule) for presence, waiver in sides if waiver]


def test_a_waiver_comes_and_goes(loaded: Load) -> None:
    with_it, without = loaded(waived(TAGS)), loaded()
    come = changes(without, with_it, NOW)
    assert come.environment is Presence.CHANGED
    assert rules(come.waivers) == [(Presence.ADDED, "images-pinned")]
    gone = changes(with_it, without, NOW)
    assert gone.environment is Presence.CHANGED
    assert rules(gone.waivers) == [(Presence.REMOVED, "images-pinned")]


def test_another_end_or_reason_is_the_same_waiver(loaded: Load) -> None:
    longer = TAGS.replace("2026-12-31", "2027-03-31").replace("a mirror", "still a mirror")
    swapped = longer.replace("Job/a/b, Job/a/c", "Job/a/c, Job/a/b")
    (change,) = changes(loaded(waived(TAGS)), loaded(waived(swapped)), NOW).waivers
    assert change.presence is Presence.CHANGED
    assert change.before is not None
    assert change.after is not None
    assert (change.before.reason, change.after.reason) == ("a mirror", "still a mirror")


def test_other_objects_for_the_same_reason_are_the_same_waiver(loaded: Load) -> None:
    more = TAGS.replace("Job/a/c", "Job/a/*")
    (change,) = changes(loaded(waived(TAGS)), loaded(waived(more)), NOW).waivers
    assert change.presence is Presence.CHANGED


def test_the_same_objects_count_before_the_same_reason(loaded: Load) -> None:
    other = TAGS.replace("Job/a/b, Job/a/c", "Job/a/d")
    longer = TAGS.replace("a mirror", "a proxy")
    found = changes(loaded(waived(TAGS)), loaded(waived(other, longer)), NOW).waivers
    assert [each.presence for each in found] == [Presence.ADDED, Presence.CHANGED]


def test_another_rule_is_another_waiver(loaded: Load) -> None:
    found = changes(loaded(waived(TAGS)), loaded(waived(SWAP)), NOW).waivers
    assert rules(found) == [
        (Presence.ADDED, "objects-replaced"),
        (Presence.REMOVED, "images-pinned"),
    ]


def test_the_order_and_the_file_are_no_difference(loaded: Load) -> None:
    before = loaded(waived(TAGS, SWAP))
    after = loaded(waived(SWAP), local=(("nodes:", f"waivers: [{TAGS}]\nnodes:"),))
    assert changes(before, after, NOW).environment is Presence.SAME


def test_a_waiver_that_has_ended_is_gone_whether_it_is_deleted_or_not(loaded: Load) -> None:
    over = TAGS.replace("2026-12-31", "2026-11-29")
    assert changes(loaded(waived(over)), loaded(), NOW).waivers == ()
    (change,) = changes(loaded(waived(TAGS)), loaded(waived(over)), NOW).waivers
    assert change.presence is Presence.REMOVED


def test_the_waivers_of_an_environment_that_comes_are_told(loaded: Load) -> None:
    come = changes(None, loaded(waived(TAGS)), NOW)
    assert rules(come.waivers) == [(Presence.ADDED, "images-pinned")]
