"""Renames, merges, users that change projects: nothing is created or lost."""

from __future__ import annotations

import pytest

from tallyard.ledger.accounts import Level
from tallyard.ledger.bounds import KEY_LENGTH_MAX
from tallyard.ledger.commands import (
    AnyCommand,
    Expire,
    Merge,
    MoveUser,
    Owe,
    Rename,
    Repay,
    SetPrice,
)
from tallyard.ledger.refusals import Reason, Refused
from tests.ledger.ledgers import DAY, DECEMBER, NOVEMBER, H, Ledger, freeze_of, grant_of


@pytest.fixture
def two(ledger: Ledger) -> Ledger:
    """A second project, vision, with 40 core-hours, of which zhao.min may use all."""
    ledger.grant("vision", 40 * H, {"zhao.min": 100})
    return ledger


def _projects_total(ledger: Ledger) -> int:
    return sum(
        lot.available + lot.frozen + lot.charged
        for account, lots in ledger.books.lots.items()
        if account.level is Level.PROJECT
        for lot in lots.values()
    )


def test_a_rename_keeps_id_and_balances(two: Ledger) -> None:
    two.freeze("train", 10 * H)
    two.done(Rename(key="k", project="nlp", name="language"))
    assert two.books.projects["nlp"].name == "language"
    two.settle("train", 10 * H)
    assert two.lot().charged == 10 * H
    assert two.refused(Rename(key="k2", project="nlp", name="")) == Refused(Reason.TEXT, "nlp")


def test_a_merge_moves_what_is_available_and_closes_the_project(two: Ledger) -> None:
    two.freeze("train", 30 * H)
    before = _projects_total(two)
    two.done(Merge(key="k", source="nlp", target="vision"))
    assert two.available("vision") == two.available("vision/zhao.min") == 110 * H
    assert two.available("nlp") == two.available("nlp/li.wei") == 0
    assert _projects_total(two) == before
    closed = Refused(Reason.PROJECT_CLOSED, "nlp > vision")
    assert two.refused(freeze_of("x", "more", H)) == closed
    assert two.refused(grant_of("y", "nlp", H, {}, grant="z")) == closed
    assert two.refused(Merge(key="z", source="vision", target="nlp")) == closed


def test_what_a_merged_projects_work_gives_back_follows(two: Ledger) -> None:
    two.freeze("train", 30 * H)
    two.done(Merge(key="k", source="nlp", target="vision"))
    two.settle("train", 10 * H)
    assert two.available("nlp") == 20 * H
    two.done(Merge(key="k2", source="nlp", target="vision"))
    assert two.available("vision") == 130 * H
    assert two.lot().charged == 10 * H


def test_a_merge_brings_a_grant_that_the_other_has_not(two: Ledger) -> None:
    two.grant("nlp", 7 * H, grant="extra", ends=NOVEMBER + DAY)
    two.done(Merge(key="k", source="nlp", target="vision"))
    lot = two.lot("vision", "extra")
    assert (lot.granted, lot.adjusted, lot.expires) == (0, 7 * H, NOVEMBER + DAY)


def test_a_merge_does_not_change_when_a_grant_ends(two: Ledger) -> None:
    two.grant("nlp", 7 * H, grant="extra", ends=NOVEMBER + DAY)
    two.grant("vision", 5 * H, grant="extra", ends=NOVEMBER + 2 * DAY)
    two.done(Merge(key="k", source="nlp", target="vision"))
    found = {name: two.lot("vision", name) for name in ("extra", "extra+nlp")}
    assert {name: (lot.available, lot.expires) for name, lot in found.items()} == {
        "extra": (5 * H, NOVEMBER + 2 * DAY),
        "extra+nlp": (7 * H, NOVEMBER + DAY),
    }


def test_a_merge_never_goes_into_a_grant_that_is_over(two: Ledger) -> None:
    """Two of one name that end at different times, one because it was rolled over."""
    two.now = DECEMBER
    january = DECEMBER + 31 * DAY
    keep = Expire(key="e", project="nlp", grant="2026-11", keep_percent=20, keep_until=january)
    two.done(keep)
    two.done(Expire(key="f", project="vision", grant="2026-11"))
    two.done(Merge(key="k", source="nlp", target="vision"))
    assert two.available("vision") == two.available("vision/zhao.min") == 20 * H
    assert two.lot("vision", "2026-11+nlp").expires == january
    assert two.lot("vision").expired == 40 * H


def test_a_project_that_owes_does_not_leave_its_debt_by_a_merge(two: Ledger) -> None:
    two.done(Owe(key="o", project="nlp", user="li.wei", amount=H, debt_max=H))
    merge = Merge(key="k", source="nlp", target="vision")
    assert two.refused(merge) == Refused(Reason.IN_DEBT, "nlp", H)
    two.done(Repay(key="r", project="nlp", user="li.wei", amount=H))
    two.done(merge)


def test_what_a_closed_project_has_left_does_not_roll_over(two: Ledger) -> None:
    two.freeze("train", 30 * H)
    two.done(Merge(key="k", source="nlp", target="vision"))
    two.now = DECEMBER
    keep = Expire(
        key="e", project="nlp", grant="2026-11", keep_percent=20, keep_until=DECEMBER + DAY
    )
    assert two.refused(keep) == Refused(Reason.PROJECT_CLOSED, "nlp > vision")


@pytest.mark.parametrize(("source", "target"), [("nlp", "nlp"), ("", "nlp"), ("nlp", "")])
def test_a_project_does_not_merge_with_itself_or_with_nothing(
    two: Ledger, source: str, target: str
) -> None:
    refusal = two.refused(Merge(key="k", source=source, target=target))
    assert isinstance(refusal, Refused)
    assert refusal.reason is Reason.SAME_PROJECT


def test_a_user_who_moves_leaves_what_is_frozen_and_takes_no_hours_along(two: Ledger) -> None:
    two.freeze("train", 10 * H)
    before = _projects_total(two)
    two.done(MoveUser(key="k", user="li.wei", source="nlp", target="vision", percent=25))
    assert two.available("nlp/li.wei") == 0
    assert two.lot("nlp/li.wei").frozen == 10 * H
    assert two.available("vision/li.wei") == 10 * H
    assert _projects_total(two) == before
    assert "li.wei" not in two.books.projects["nlp"].shares
    two.settle("train", 0)
    refusal = two.refused(
        MoveUser(key="k2", user="li.wei", source="nlp", target="vision", percent=101)
    )
    assert refusal == Refused(Reason.SHARE, "li.wei", 101, 100)


def test_a_user_who_moves_back_has_the_share_again_and_not_twice(two: Ledger) -> None:
    two.freeze("train", 10 * H)
    two.settle("train", 10 * H)
    for key, source, target, percent in (("a", "nlp", "vision", 50), ("b", "vision", "nlp", 100)):
        two.done(MoveUser(key=key, user="li.wei", source=source, target=target, percent=percent))
    assert two.available("vision/li.wei") == 0
    assert two.lot("nlp/li.wei").given == 100 * H
    assert two.available("nlp/li.wei") == 90 * H


def test_a_price_holds_from_its_moment_and_never_before(ledger: Ledger) -> None:
    ledger.done(SetPrice(key="a", model="A100", rate_milli=30000, since=NOVEMBER))
    ledger.done(SetPrice(key="b", model="A100", rate_milli=36000, since=NOVEMBER + DAY))
    rates = [ledger.books.rate_at("A100", NOVEMBER + at) for at in (-1, 0, DAY - 1, DAY, 9 * DAY)]
    assert rates == [None, 30000, 30000, 36000, 36000]


def test_a_price_never_touches_the_past(ledger: Ledger) -> None:
    ledger.now = NOVEMBER + DAY
    late = SetPrice(key="a", model="A100", rate_milli=1, since=NOVEMBER + DAY - 1)
    assert ledger.refused(late) == Refused(Reason.PAST, "A100", NOVEMBER + DAY - 1, NOVEMBER + DAY)
    ledger.done(SetPrice(key="b", model="A100", rate_milli=2, since=NOVEMBER + 2 * DAY))
    between = SetPrice(key="c", model="A100", rate_milli=3, since=NOVEMBER + 2 * DAY)
    refusal = ledger.refused(between)
    assert isinstance(refusal, Refused)
    assert refusal.reason is Reason.PAST
    assert ledger.refused(
        SetPrice(key="d", model="A100", rate_milli=-1, since=NOVEMBER + 3 * DAY)
    ) == Refused(Reason.AMOUNT, "A100", -1)


@pytest.mark.parametrize(
    "command",
    [
        Merge(key="k", source="nlp", target="visoin"),
        Merge(key="k", source="visoin", target="nlp"),
        MoveUser(key="k", user="li.wei", source="nlp", target="visoin", percent=10),
        Rename(key="k", project="visoin", name="vision"),
    ],
)
def test_a_name_with_a_slip_is_no_project(ledger: Ledger, command: AnyCommand) -> None:
    assert ledger.refused(command) == Refused(Reason.NO_PROJECT, "visoin")
    assert ledger.available() == 100 * H


def test_a_grant_that_was_merged_too_often_stays_where_it_is(two: Ledger) -> None:
    """Each merge adds a name; no database keeps one of any length."""
    before = "nlp"
    for number in range(6):
        name = f"{'a' * 55}{number}"
        two.grant(name, H, {"li.wei": 100}, grant="2026-11", ends=DECEMBER + DAY)
        two.done(Merge(key=f"m{number}", source=before, target=name))
        before = name
    assert _projects_total(two) == 146 * H
    assert all(len(grant) <= KEY_LENGTH_MAX for _, grant in two.books.grants)
