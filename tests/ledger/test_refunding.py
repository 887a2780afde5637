"""What is given back, and what is owed."""

from __future__ import annotations

import pytest

from tallyard.ledger.accounts import Account
from tallyard.ledger.commands import Owe, Refund, Repay
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
