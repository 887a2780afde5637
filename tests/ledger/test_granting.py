"""Grants, what changes them in mid-period, and their end."""

from __future__ import annotations

import pytest

from tallyard.ledger.accounts import Account
from tallyard.ledger.commands import Adjust, Expire, GrantCluster, MoveUser, Regrant, Share
from tallyard.ledger.refusals import NotEnough, Reason, Refused
from tests.ledger.ledgers import DAY, DECEMBER, NOVEMBER, H, Ledger, freeze_of, grant_of

SHARES = (Share("li.wei", 100), Share("chen.yu", 50))
MIDDLE = NOVEMBER + 15 * DAY
JANUARY = DECEMBER + 31 * DAY


def _regrant(ledger: Ledger, amount: int, shares: tuple[Share, ...] = SHARES) -> Regrant:
    return Regrant(key=ledger.key(), project="nlp", grant="2026-11", amount=amount, shares=shares)


def test_a_grant_is_given_once(ledger: Ledger) -> None:
    again = ledger.refused(grant_of("other", "nlp", H, {}))
    assert again == Refused(Reason.GRANT_EXISTS, "nlp 2026-11")


@pytest.mark.parametrize(
    ("amount", "starts", "ends", "reason"),
    [
        (0, NOVEMBER, DECEMBER, Reason.AMOUNT),
        (-H, NOVEMBER, DECEMBER, Reason.AMOUNT),
        (H, DECEMBER, DECEMBER, Reason.PERIOD),
        (H, NOVEMBER - DAY, NOVEMBER, Reason.PERIOD),
    ],
)
def test_a_grant_of_nothing_or_for_no_time_is_refused(
    ledger: Ledger, amount: int, starts: int, ends: int, reason: Reason
) -> None:
    refusal = ledger.refused(grant_of("k", "nlp", amount, {}, grant="x", starts=starts, ends=ends))
    assert isinstance(refusal, Refused)
    assert refusal.reason is reason


@pytest.mark.parametrize(
    "shares", [(Share("a", 101),), (Share("a", -1),), (Share("", 5),), (Share("a", 5),) * 2]
)
def test_a_share_is_between_nothing_and_all_and_said_once(
    ledger: Ledger, shares: tuple[Share, ...]
) -> None:
    refusal = ledger.refused(_regrant(ledger, 100 * H, shares))
    assert isinstance(refusal, Refused)
    assert refusal.reason is Reason.SHARE


def test_a_better_tier_in_mid_period_gives_half_of_the_difference(ledger: Ledger) -> None:
    ledger.now = MIDDLE
    ledger.done(_regrant(ledger, 200 * H))
    assert ledger.available() == 150 * H
    assert ledger.available("nlp/chen.yu") == 75 * H
    assert ledger.lot().base == 200 * H


def test_to_and_fro_at_once_changes_nothing(ledger: Ledger) -> None:
    ledger.now = MIDDLE + 1
    for amount in (333 * H + 1, 100 * H):
        ledger.done(_regrant(ledger, amount))
    assert ledger.available() == 100 * H


def test_what_a_lower_tier_could_not_take_a_higher_one_does_not_give(ledger: Ledger) -> None:
    """Down while all is in use, and up again: nobody has more than before."""
    ledger.freeze("train", 90 * H, cap=100)
    ledger.done(_regrant(ledger, 10 * H))
    assert ledger.lot().untaken == 80 * H
    ledger.done(_regrant(ledger, 100 * H))
    ledger.settle("train", 0)
    assert ledger.available() == ledger.available("nlp/li.wei") == 100 * H
    assert ledger.lot().untaken == 0


def test_what_a_lower_tier_could_not_take_the_next_change_does(ledger: Ledger) -> None:
    ledger.freeze("train", 90 * H, cap=100)
    ledger.done(_regrant(ledger, 10 * H))
    ledger.settle("train", 60 * H)
    ledger.done(_regrant(ledger, 20 * H))
    assert ledger.available() == 0
    assert ledger.lot().untaken == 40 * H


def test_a_lower_tier_never_takes_what_is_frozen_or_charged(ledger: Ledger) -> None:
    ledger.freeze("train", 90 * H, cap=100)
    ledger.done(_regrant(ledger, 10 * H))
    assert ledger.available() == 0
    assert ledger.lot().frozen == 90 * H
    ledger.settle("train", 40 * H)
    assert ledger.available() == 50 * H


def test_who_joins_gets_a_share_and_who_leaves_keeps_what_is_frozen(ledger: Ledger) -> None:
    ledger.freeze("train", 10 * H)
    ledger.done(_regrant(ledger, 100 * H, (Share("zhao.min", 40),)))
    assert ledger.available("nlp/zhao.min") == 40 * H
    assert ledger.available("nlp/li.wei") == ledger.available("nlp/chen.yu") == 0
    assert ledger.lot("nlp/li.wei").frozen == 10 * H
    assert ledger.available() == 90 * H


def test_the_clusters_grant_follows_its_cards(ledger: Ledger) -> None:
    ledger.now = MIDDLE
    more = Regrant(key="k", project="", grant="2026-11", amount=2000 * H, shares=())
    ledger.done(more)
    assert ledger.available("cluster") == 1500 * H


def test_an_adjustment_says_why_and_the_shares_follow(ledger: Ledger) -> None:
    ledger.done(Adjust(key="k", project="nlp", grant="2026-11", amount=-20 * H, reason="lent"))
    assert ledger.available() == 80 * H
    assert ledger.available("nlp/chen.yu") == 40 * H
    assert ledger.lot().adjusted == -20 * H


def test_no_more_is_taken_than_is_available(ledger: Ledger) -> None:
    ledger.freeze("train", 30 * H)
    take = Adjust(key="k", project="nlp", grant="2026-11", amount=-70 * H - 1, reason="lent")
    assert ledger.refused(take) == NotEnough(Account("nlp"), 70 * H + 1, 70 * H)


def test_a_grant_that_is_over_is_not_changed(ledger: Ledger) -> None:
    ledger.now = DECEMBER
    for command in (
        _regrant(ledger, 5 * H),
        Adjust(key="k", project="nlp", grant="2026-11", amount=H, reason="late"),
    ):
        assert ledger.refused(command) == Refused(Reason.NO_GRANT, "nlp 2026-11")


def _expire(ledger: Ledger, keep: int = 0, until: int = 0, project: str = "nlp") -> Expire:
    return Expire(
        key=ledger.key(), project=project, grant="2026-11", keep_percent=keep, keep_until=until
    )


def test_a_grant_ends_for_the_project_and_its_users_and_not_before(ledger: Ledger) -> None:
    ledger.now = DECEMBER - 1
    assert ledger.refused(_expire(ledger)) == Refused(
        Reason.NOT_OVER, "nlp 2026-11", DECEMBER - 1, DECEMBER
    )
    ledger.freeze("train", 10 * H)
    ledger.now = DECEMBER
    ledger.done(_expire(ledger))
    assert ledger.lot().expired == 90 * H
    assert ledger.lot("nlp/li.wei").expired == 90 * H
    assert ledger.lot("nlp/chen.yu").expired == 50 * H
    ledger.settle("train", 4 * H)
    lot = ledger.lot()
    assert (lot.charged, lot.expired, lot.frozen, lot.available) == (4 * H, 96 * H, 0, 0)


def test_the_clusters_grant_ends_too(ledger: Ledger) -> None:
    ledger.now = DECEMBER
    ledger.done(_expire(ledger, project=""))
    assert ledger.lot("cluster").expired == 1000 * H


def test_a_part_of_the_grant_rolls_over_once(ledger: Ledger) -> None:
    ledger.freeze("train", 30 * H)
    ledger.now = DECEMBER
    ledger.done(_expire(ledger, 20, JANUARY))
    assert ledger.available() == 20 * H
    assert ledger.available("nlp/chen.yu") == 10 * H
    # The cap is a part of what there is, and not of what has expired; 30 are frozen still.
    assert ledger.books.cap("nlp", 30, DECEMBER) == 15 * H
    # What a job gives back within the period that it was kept for can be used in it.
    ledger.settle("train", 10 * H)
    assert ledger.available() == 40 * H
    ledger.now = JANUARY
    refusal = ledger.refused(_expire(ledger, 20, JANUARY + 31 * DAY))
    assert isinstance(refusal, Refused)
    assert refusal.reason is Reason.PERIOD
    ledger.done(_expire(ledger))
    assert ledger.lot().expired == 90 * H


def test_less_than_the_part_rolls_over_whole(ledger: Ledger) -> None:
    ledger.freeze("train", 95 * H, cap=100)
    ledger.now = DECEMBER
    ledger.done(_expire(ledger, 20, JANUARY))
    assert ledger.available() == 5 * H
    assert ledger.lot().expired == 0


def test_rolled_hours_are_used_before_those_of_the_new_period(ledger: Ledger) -> None:
    ledger.now = DECEMBER
    ledger.done(_expire(ledger, 20, JANUARY))
    ledger.grant_cluster(1000 * H, grant="2026-12", ends=JANUARY)
    ledger.grant("nlp", 100 * H, grant="2026-12", starts=DECEMBER, ends=JANUARY)
    ledger.freeze("train", 30 * H)
    assert ledger.lot(grant="2026-11").frozen == 20 * H
    assert ledger.lot(grant="2026-12").frozen == 10 * H


def test_the_clusters_grant_is_given_once(ledger: Ledger) -> None:
    again = GrantCluster(key="k", grant="2026-11", amount=H, starts=NOVEMBER, expires=DECEMBER)
    assert ledger.refused(again) == Refused(Reason.GRANT_EXISTS, "cluster 2026-11")


def test_a_users_part_that_is_used_up_stays_with_the_grant_that_rolls_over(
    ledger: Ledger,
) -> None:
    """A part that is put aside on its own would be begun anew, and what it was charged be lost."""
    ledger.freeze("train", 50 * H, user="chen.yu", cap=100)
    ledger.now = DECEMBER
    ledger.settle("train", 50 * H)
    ledger.done(_expire(ledger, 20, JANUARY))
    ledger.grant("vision", H, {"zhao.min": 100}, grant="2026-12", starts=DECEMBER, ends=JANUARY)
    ledger.done(MoveUser(key="away", user="chen.yu", source="nlp", target="vision", percent=1))
    ledger.done(MoveUser(key="back", user="chen.yu", source="vision", target="nlp", percent=80))
    lot = ledger.lot("nlp/chen.yu")
    # Of the 70 that are left of the grant, 80 in a hundred are 56, of which 50 are used.
    assert (lot.charged, lot.available) == (50 * H, 6 * H)


def test_a_share_is_of_all_grants(ledger: Ledger) -> None:
    shares = {"li.wei": 100, "chen.yu": 50}
    ledger.grant("nlp", 40 * H, shares, grant="extra", ends=NOVEMBER + 5 * DAY)
    changed = (Share("chen.yu", 100), Share("zhao.min", 10))
    ledger.done(Regrant(key="r", project="nlp", grant="2026-11", amount=100 * H, shares=changed))
    assert ledger.available("nlp/li.wei") == 0
    assert ledger.available("nlp/chen.yu") == 140 * H
    assert ledger.available("nlp/zhao.min") == 14 * H


def test_who_has_left_freezes_nothing_also_of_what_comes_back_later(ledger: Ledger) -> None:
    ledger.freeze("train", 30 * H)
    left = (Share("chen.yu", 50),)
    ledger.done(Regrant(key="r", project="nlp", grant="2026-11", amount=100 * H, shares=left))
    ledger.settle("train", 0)
    assert ledger.available("nlp/li.wei") == 30 * H
    assert ledger.refused(freeze_of("k", "next", 1)) == NotEnough(Account("nlp", "li.wei"), 1, 0)


@pytest.mark.parametrize("percent", [-1, 101])
def test_what_is_kept_is_a_part(ledger: Ledger, percent: int) -> None:
    ledger.now = DECEMBER
    assert ledger.refused(_expire(ledger, percent, JANUARY)) == Refused(
        Reason.PERCENT, "keep_percent", percent, 100
    )
