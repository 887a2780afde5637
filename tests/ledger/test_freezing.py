"""Freezing and settling, at three levels at once."""

from __future__ import annotations

import pytest

from tallyard.ledger.accounts import CLUSTER, Account
from tallyard.ledger.commands import Freeze, Reduce, Settle
from tallyard.ledger.entries import Kind
from tallyard.ledger.refusals import NotEnough, OverCap, Reason, Refused
from tests.ledger.ledgers import DAY, DECEMBER, NOVEMBER, H, Ledger, freeze_of

LEVELS = ("cluster", "nlp", "nlp/li.wei")


def test_a_freeze_and_its_charge_move_all_three_levels(ledger: Ledger) -> None:
    ledger.freeze("train", 24 * H, wait=H)
    assert [ledger.lot(a).frozen for a in LEVELS] == [25 * H] * 3
    assert [ledger.available(a) for a in LEVELS] == [975 * H, 75 * H, 75 * H]
    ledger.settle("train", 20 * H)
    ledger.settle("train-wait", 0)
    for account in LEVELS:
        lot = ledger.lot(account)
        assert (lot.frozen, lot.charged) == (0, 20 * H)
    assert [ledger.available(a) for a in LEVELS] == [980 * H, 80 * H, 80 * H]


def test_another_user_is_not_touched(ledger: Ledger) -> None:
    ledger.freeze("train", 25 * H)
    assert ledger.available("nlp/chen.yu") == 50 * H


def test_a_user_may_use_no_more_than_its_share(ledger: Ledger) -> None:
    refusal = ledger.refused(freeze_of("k", "train", 50 * H + 1, user="chen.yu"))
    assert refusal == NotEnough(Account("nlp", "chen.yu"), 50 * H + 1, 50 * H)
    ledger.freeze("train", 50 * H, user="chen.yu", cap=100)


def test_shares_may_add_up_to_more_than_the_project_has(ledger: Ledger) -> None:
    ledger.freeze("one", 60 * H, cap=100)
    refusal = ledger.refused(freeze_of("k", "two", 41 * H, user="chen.yu"))
    assert refusal == NotEnough(Account("nlp"), 41 * H, 40 * H)


def test_who_is_not_in_the_project_has_nothing(ledger: Ledger) -> None:
    refusal = ledger.refused(freeze_of("k", "train", H, user="stranger"))
    assert refusal == NotEnough(Account("nlp", "stranger"), H, 0)


def test_the_cluster_itself_can_be_short(empty: Ledger) -> None:
    empty.grant_cluster(10 * H)
    empty.grant("nlp", 100 * H)
    assert empty.refused(freeze_of("k", "train", 11 * H)) == NotEnough(CLUSTER, 11 * H, 10 * H)


def test_one_queue_may_freeze_the_cap_and_not_a_thousandth_more(ledger: Ledger) -> None:
    ledger.freeze("one", 20 * H)
    assert ledger.refused(freeze_of("k", "two", 10 * H + 1)) == OverCap(
        "nlp", "training", 10 * H + 1, 30 * H, 20 * H
    )
    ledger.freeze("two", 10 * H)
    ledger.freeze("three", 30 * H, queue="inference")


def test_a_job_above_the_cap_alone_can_never_fit(ledger: Ledger) -> None:
    refusal = ledger.refused(freeze_of("k", "train", 30 * H + 1))
    assert isinstance(refusal, OverCap)
    assert not refusal.can_ever_fit


def test_the_wait_counts_toward_the_cap(ledger: Ledger) -> None:
    assert isinstance(ledger.refused(freeze_of("k", "train", 30 * H, wait=1)), OverCap)


def test_what_is_settled_makes_room_under_the_cap(ledger: Ledger) -> None:
    ledger.freeze("one", 30 * H)
    ledger.settle("one", 30 * H)
    ledger.freeze("two", 30 * H)


def test_short_work_may_use_what_is_left_past_the_cap(ledger: Ledger) -> None:
    ledger.freeze("one", 30 * H)
    ledger.freeze("short", 70 * H, is_fast_lane=True)
    assert isinstance(ledger.refused(freeze_of("k", "more", 1, is_fast_lane=True)), NotEnough)


def test_grants_are_spent_earliest_expiry_first(ledger: Ledger) -> None:
    for account in ("nlp",):
        ledger.grant(account, 10 * H, grant="extra", ends=NOVEMBER + DAY)
    done = ledger.freeze("train", 15 * H)
    own = [(e.grant, e.amount) for e in done.entries if e.account == Account("nlp")]
    assert own == [("extra", 10 * H), ("2026-11", 5 * H)]


def test_a_charge_takes_the_earliest_grant_and_the_rest_goes_back(ledger: Ledger) -> None:
    ledger.grant("nlp", 10 * H, grant="extra", ends=NOVEMBER + DAY)
    ledger.freeze("train", 15 * H)
    ledger.settle("train", 8 * H)
    extra, usual = ledger.lot(grant="extra"), ledger.lot()
    assert (extra.charged, extra.available) == (8 * H, 2 * H)
    assert (usual.charged, usual.available) == (0, 100 * H)


def test_a_grant_that_has_not_begun_cannot_be_frozen(ledger: Ledger) -> None:
    ledger.grant("nlp", 500 * H, grant="2026-12", starts=DECEMBER, ends=DECEMBER + 31 * DAY)
    assert ledger.available() == 100 * H


def test_at_midnight_of_the_last_day_the_old_grant_is_over(ledger: Ledger) -> None:
    ledger.now = DECEMBER - 1
    assert ledger.available() == 100 * H
    ledger.now = DECEMBER
    assert ledger.available() == 0
    assert isinstance(ledger.refused(freeze_of("k", "train", 1)), NotEnough)


def test_what_comes_back_to_a_grant_that_is_over_expires(ledger: Ledger) -> None:
    ledger.freeze("train", 25 * H)
    ledger.now = DECEMBER
    done = ledger.settle("train", 20 * H)
    kinds = [e.kind for e in done.entries if e.account == Account("nlp")]
    assert kinds == [Kind.CHARGE, Kind.RELEASE, Kind.EXPIRE]
    lot = ledger.lot()
    assert (lot.charged, lot.expired, lot.available) == (20 * H, 5 * H, 75 * H)


def test_a_freeze_is_lowered_to_what_the_work_was_given(ledger: Ledger) -> None:
    ledger.freeze("train", 24 * H, wait=H)
    ledger.done(Reduce(key="r", freeze="train", amount=10 * H))
    assert [ledger.lot(a).frozen for a in LEVELS] == [11 * H] * 3
    assert [ledger.available(a) for a in LEVELS] == [989 * H, 89 * H, 89 * H]
    ledger.freeze("next", 19 * H)
    assert ledger.refused(Settle(key="s", freeze="train", amount=10 * H + 1)) == Refused(
        Reason.MORE_THAN_FROZEN, "train", 10 * H + 1, 10 * H
    )
    ledger.settle("train", 4 * H)
    assert [ledger.lot(a).charged for a in LEVELS] == [4 * H] * 3
    assert [ledger.lot(a).frozen for a in LEVELS] == [20 * H] * 3


def test_what_expires_last_is_given_back_first(ledger: Ledger) -> None:
    ledger.grant("nlp", 10 * H, grant="extra", ends=NOVEMBER + DAY)
    ledger.freeze("train", 15 * H)
    ledger.done(Reduce(key="r", freeze="train", amount=8 * H))
    extra, usual = ledger.lot(grant="extra"), ledger.lot()
    assert (extra.frozen, extra.available) == (8 * H, 2 * H)
    assert (usual.frozen, usual.available) == (0, 100 * H)
    ledger.settle("train", 8 * H)
    assert (extra.charged, usual.charged) == (8 * H, 0)


def test_what_a_lowered_freeze_gives_back_to_a_grant_that_is_over_expires(ledger: Ledger) -> None:
    ledger.freeze("train", 25 * H)
    ledger.now = DECEMBER
    ledger.done(Reduce(key="r", freeze="train", amount=20 * H))
    lot = ledger.lot()
    assert (lot.frozen, lot.expired, lot.available) == (20 * H, 5 * H, 75 * H)


@pytest.mark.parametrize("amount", [-1, 0, 24 * H])
def test_a_freeze_is_lowered_to_something_less(ledger: Ledger, amount: int) -> None:
    ledger.freeze("train", 24 * H)
    refusal = ledger.refused(Reduce(key="r", freeze="train", amount=amount))
    assert refusal == Refused(Reason.AMOUNT, "train", amount, 24 * H)


def test_only_what_is_frozen_can_be_lowered(ledger: Ledger) -> None:
    assert ledger.refused(Reduce(key="r", freeze="train", amount=H)) == Refused(
        Reason.NO_FREEZE, "train"
    )
    ledger.freeze("train", 24 * H)
    assert ledger.refused(Reduce(key="r", freeze="train", amount=24 * H + 1)) == Refused(
        Reason.MORE_THAN_FROZEN, "train", 24 * H + 1, 24 * H
    )
    ledger.settle("train", 3 * H)
    assert ledger.refused(Reduce(key="r", freeze="train", amount=H)) == Refused(
        Reason.RESOLVED, "train", H, 3 * H
    )


def test_a_freeze_is_resolved_once(ledger: Ledger) -> None:
    ledger.freeze("train", 25 * H)
    ledger.settle("train", 20 * H)
    again = ledger.refused(Settle(key="again", freeze="train", amount=25 * H))
    assert again == Refused(Reason.RESOLVED, "train", 25 * H, 20 * H)


def test_more_than_was_frozen_is_never_charged(ledger: Ledger) -> None:
    ledger.freeze("train", 25 * H)
    more = ledger.refused(Settle(key="k", freeze="train", amount=25 * H + 1))
    assert more == Refused(Reason.MORE_THAN_FROZEN, "train", 25 * H + 1, 25 * H)
    ledger.settle("train", 25 * H)


@pytest.mark.parametrize("amount", [0, -1])
def test_nothing_and_less_cannot_be_frozen(ledger: Ledger, amount: int) -> None:
    refusal = ledger.refused(freeze_of("k", "train", amount))
    assert refusal == Refused(Reason.AMOUNT, "train", amount)


def test_a_freeze_without_parts_is_refused(ledger: Ledger) -> None:
    whole = freeze_of("k", "train", H)
    empty = Freeze(**{f: getattr(whole, f) for f in whole.__struct_fields__} | {"parts": ()})
    assert ledger.refused(empty) == Refused(Reason.AMOUNT, "train")


def test_less_than_nothing_cannot_be_charged(ledger: Ledger) -> None:
    ledger.freeze("train", H)
    assert ledger.refused(Settle(key="k", freeze="train", amount=-1)) == Refused(
        Reason.AMOUNT, "train", -1
    )


def test_what_was_never_frozen_cannot_be_resolved(ledger: Ledger) -> None:
    assert ledger.refused(Settle(key="k", freeze="x", amount=0)) == Refused(Reason.NO_FREEZE, "x")


def test_an_id_is_frozen_once(ledger: Ledger) -> None:
    ledger.freeze("train", H)
    again = ledger.refused(freeze_of("other", "train", H))
    assert again == Refused(Reason.FREEZE_EXISTS, "train")
    ledger.settle("train", 0)
    assert ledger.refused(freeze_of("third", "train", H)) == Refused(Reason.FREEZE_EXISTS, "train")


def test_a_clock_that_went_back_stands_still(ledger: Ledger) -> None:
    ledger.now = NOVEMBER + DAY
    ledger.freeze("one", H)
    ledger.now -= 3600
    done = ledger.freeze("two", H)
    assert done.at == NOVEMBER + DAY
