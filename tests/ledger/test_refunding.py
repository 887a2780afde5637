"""What is given back, and what is owed."""

from __future__ import annotations

import pytest

from tallyard.ledger.accounts import Account
from tallyard.ledger.commands import Expire, Merge, Owe, Refund, Regrant, Repay, Share
from tallyard.ledger.refusals import NotEnough, Reason, Refused
from tests.ledger.ledgers import DAY, DECEMBER, H, Ledger, freeze_of

LEVELS = ("cluster", "nlp", "nlp/li.wei")


def _refund(ledger: Ledger, amount: int, freeze: str = "train") -> Refund:
    return Refund(key=ledger.key(), freeze=freeze, amount=amount, reason="node failure")


def test_a_refund_is_available_again_and_the_charge_stays_on_record(ledger: Ledger) -> None:
    ledger.freeze("train", 25 * H)
    ledger.settle("train", 20 * H)
    ledger.done(_refund(ledger, 5 * H))
    for account in LEVELS:
        lot = ledger.lot(account)
        assert (lot.charged, lot.refunded) == (20 * H, 5 * H)
    assert ledger.available() == 85 * H


def test_no_more_than_was_charged_is_given_back(ledger: Ledger) -> None:
    ledger.freeze("train", 25 * H)
    ledger.settle("train", 20 * H)
    ledger.done(_refund(ledger, 15 * H))
    refusal = ledger.refused(_refund(ledger, 5 * H + 1))
    assert refusal == Refused(Reason.MORE_THAN_CHARGED, "train", 5 * H + 1, 5 * H)
    ledger.done(_refund(ledger, 5 * H))


def test_what_is_not_resolved_cannot_be_given_back(ledger: Ledger) -> None:
    ledger.freeze("train", H)
    assert ledger.refused(_refund(ledger, 1)) == Refused(Reason.NOT_RESOLVED, "train")
    assert ledger.refused(_refund(ledger, 1, "x")) == Refused(Reason.NO_FREEZE, "x")


def test_a_refund_of_nothing_is_refused(ledger: Ledger) -> None:
    ledger.freeze("train", H)
    ledger.settle("train", H)
    assert ledger.refused(_refund(ledger, 0)) == Refused(Reason.AMOUNT, "train", 0)


def test_a_refund_after_the_grants_end_goes_into_the_next(ledger: Ledger) -> None:
    ledger.freeze("train", 25 * H)
    ledger.settle("train", 20 * H)
    ledger.now = DECEMBER
    assert ledger.refused(_refund(ledger, H)) == Refused(Reason.NO_GRANT, "cluster")
    ends = DECEMBER + 31 * DAY
    ledger.grant_cluster(1000 * H, grant="2026-12", ends=ends)
    ledger.grant("nlp", 100 * H, grant="2026-12", starts=DECEMBER, ends=ends)
    ledger.done(_refund(ledger, 20 * H))
    assert ledger.available() == 120 * H
    assert ledger.lot(grant="2026-12").refunded == 20 * H


def _owe(ledger: Ledger, amount: int) -> Owe:
    return Owe(key=ledger.key(), project="nlp", user="li.wei", amount=amount, debt_max=5 * H)


def test_a_debt_has_a_bound(ledger: Ledger) -> None:
    ledger.done(_owe(ledger, 5 * H))
    assert ledger.refused(_owe(ledger, 1)) == Refused(Reason.DEBT_LIMIT, "nlp", 5 * H + 1, 5 * H)
    assert [ledger.books.debt(Account("nlp", u)) for u in ("", "li.wei")] == [5 * H, 5 * H]


def test_a_debt_holds_the_projects_new_work_until_it_is_repaid(ledger: Ledger) -> None:
    ledger.done(_owe(ledger, 3 * H))
    assert ledger.refused(freeze_of("k", "train", H)) == Refused(Reason.IN_DEBT, "nlp", 3 * H)
    ledger.done(Repay(key="r", project="nlp", user="li.wei", amount=3 * H))
    ledger.freeze("train", H)
    assert [ledger.lot(a).charged for a in LEVELS] == [3 * H] * 3


def test_no_more_is_repaid_than_is_owed_or_available(ledger: Ledger) -> None:
    repay = Repay(key="r", project="nlp", user="li.wei", amount=1)
    assert ledger.refused(repay) == Refused(Reason.MORE_THAN_OWED, "nlp/li.wei", 1, 0)
    ledger.done(_owe(ledger, 3 * H))
    ledger.now = DECEMBER
    assert isinstance(ledger.refused(repay), NotEnough)


@pytest.mark.parametrize("amount", [0, -H])
def test_nothing_cannot_be_owed_or_repaid(ledger: Ledger, amount: int) -> None:
    assert ledger.refused(_owe(ledger, amount)) == Refused(Reason.AMOUNT, "nlp", amount)
    repay = Repay(key="r", project="nlp", user="li.wei", amount=amount)
    assert ledger.refused(repay) == Refused(Reason.AMOUNT, "nlp", amount)


def test_the_debt_of_who_has_left_is_the_projects_to_repay(ledger: Ledger) -> None:
    ledger.done(_owe(ledger, 3 * H))
    left = (Share("chen.yu", 50),)
    ledger.done(Regrant(key="r", project="nlp", grant="2026-11", amount=100 * H, shares=left))
    ledger.done(Repay(key="p", project="nlp", user="li.wei", amount=3 * H))
    assert [ledger.lot(a).charged for a in LEVELS] == [3 * H] * 3
    assert ledger.lot("nlp/li.wei").available == 0
    ledger.freeze("train", H, user="chen.yu")


def test_a_member_repays_from_the_share(ledger: Ledger) -> None:
    """Else whoever has used the share up would go on at the cost of all others."""
    ledger.freeze("train", 50 * H, user="chen.yu", cap=100)
    ledger.done(Owe(key="o", project="nlp", user="chen.yu", amount=H, debt_max=5 * H))
    repay = Repay(key="p", project="nlp", user="chen.yu", amount=H)
    assert ledger.refused(repay) == NotEnough(Account("nlp", "chen.yu"), H, 0)


def test_a_refund_finds_who_has_left(ledger: Ledger) -> None:
    ledger.freeze("train", 20 * H, user="chen.yu")
    ledger.settle("train", 20 * H)
    ledger.now = DECEMBER
    ledger.done(Expire(key="e", project="nlp", grant="2026-11"))
    ledger.done(Expire(key="c", project="", grant="2026-11"))
    ledger.grant_cluster(100 * H, grant="2026-12", ends=DECEMBER + DAY)
    ledger.grant("nlp", 100 * H, grant="2026-12", starts=DECEMBER, ends=DECEMBER + DAY)
    ledger.done(Refund(key="r", freeze="train", amount=5 * H, reason="node failure"))
    for account in ("cluster", "nlp", "nlp/chen.yu"):
        assert ledger.lot(account, "2026-12").refunded == 5 * H
    assert isinstance(ledger.refused(freeze_of("k", "next", 1, user="chen.yu")), NotEnough)


def test_a_closed_project_owes_nothing_new(ledger: Ledger) -> None:
    ledger.grant("vision", H, {"zhao.min": 100})
    ledger.done(Merge(key="m", source="nlp", target="vision"))
    assert ledger.refused(_owe(ledger, 1)) == Refused(Reason.PROJECT_CLOSED, "nlp > vision")


def test_only_a_project_can_owe(ledger: Ledger) -> None:
    owe = Owe(key="o", project="", user="li.wei", amount=H, debt_max=5 * H)
    refusal = ledger.refused(owe)
    assert isinstance(refusal, Refused)
    assert refusal.reason is Reason.TEXT
