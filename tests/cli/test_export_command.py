"""`tally ledger export`: every entry, and what was charged in FOCUS 1.0."""

# Chinese punctuation is full-width.

from __future__ import annotations

import csv
import json
from decimal import Decimal
from fractions import Fraction
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallyard.cli.application import run_application
from tallyard.cli.exit_codes import ExitCode
from tallyard.ledger.accounts import Account
from tallyard.ledger.amounts import CORE_HOUR
from tallyard.ledger.commands import Adjust, Freeze, FreezePart, Owe, Purpose, Refund, Repay, Settle
from tallyard.ledger.entries import Entry, Kind
from tallyard.ledger.exporting import FOCUS_COLUMNS, Terms, entry_rows, focus_rows
from tallyard.ledger.store.engine import engine_of
from tallyard.ledger.store.store import Done, Store
from tallyard.ledger.transactions import Transaction
from tests.ledger.ledgers import NOVEMBER, H, InMemory, grant_of

FOCUS = ("--format", "focus", "--price", "0.35", "--currency", "CNY")
TERMS = Terms(Decimal("0.35"), "CNY", "lab", "Asia/Shanghai")
# FOCUS 1.0: what may not be null.
REQUIRED = (
    *("BilledCost", "BillingAccountId", "BillingCurrency", "BillingPeriodEnd"),
    *("BillingPeriodStart", "ChargeCategory", "ChargeFrequency", "ChargePeriodEnd"),
    *("ChargePeriodStart", "ContractedCost", "EffectiveCost", "InvoiceIssuerName", "ListCost"),
    *("ProviderName", "PublisherName", "ServiceCategory", "ServiceName", "ChargeDescription"),
)


def exported(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, str]]:
    """Return the rows that are printed."""
    assert run_application(["ledger", "export", *arguments]) == 0
    return list(csv.DictReader(StringIO(capsys.readouterr().out)))


@pytest.mark.usefixtures("store")
def test_every_entry_is_a_row_with_its_exact_amount(capsys: pytest.CaptureFixture[str]) -> None:
    rows = exported(capsys)
    assert len(rows) == 29
    (charge,) = [r for r in rows if (r["kind"], r["level"]) == ("charge", "user")]
    assert charge == {
        "seq": "5",
        "at": "2026-10-31T16:00:00Z",
        "command": "settle",
        "key": "s",
        "by": "",
        "kind": "charge",
        "level": "user",
        "project": "nlp",
        "project_name": "nlp",
        "user": "li.wei",
        "grant": "2026-11",
        "amount": str(20 * H),
        "core_hours": "20.00",
        "freeze": "train-7",
        "job": "train-7",
        "queue": "training",
        "purpose": "job",
    }
    # As `verify` counts them: what each account was given is what it has.
    nlp = [
        Decimal(r["core_hours"]) for r in rows if r["level"] == "project" and r["kind"] == "grant"
    ]
    assert sum(nlp) == 110


@pytest.mark.usefixtures("store")
def test_a_charge_is_usage_and_a_refund_a_credit(capsys: pytest.CaptureFixture[str]) -> None:
    usage, credit = exported(capsys, *FOCUS, "--time-zone", "Asia/Shanghai", "--account", "lab")
    assert tuple(usage) == FOCUS_COLUMNS
    assert (usage["ChargeCategory"], usage["BilledCost"], usage["BillingCurrency"]) == (
        *("Usage", "7.00", "CNY"),
    )
    assert (usage["ConsumedQuantity"], usage["ConsumedUnit"]) == ("20.00", "Core-Hours")
    assert (usage["BillingPeriodStart"], usage["BillingPeriodEnd"]) == (
        *("2026-10-31T16:00:00Z", "2026-11-30T16:00:00Z"),
    )
    assert json.loads(usage["Tags"]) == {"queue": "training", "user": "li.wei"}
    assert (credit["ChargeCategory"], credit["BilledCost"]) == ("Credit", "-1.75")
    assert credit["ChargeDescription"] == "refund: node failure"
    assert credit["ConsumedQuantity"] == ""
    for row in (usage, credit):
        assert [name for name in REQUIRED if not row[name]] == []
        assert row["ChargePeriodStart"] < row["ChargePeriodEnd"]


def test_a_time_is_of_whole_days_in_the_zone(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Midnight of the first of November in Shanghai is the last of October in UTC."""
    shanghai = ("--time-zone", "Asia/Shanghai")
    assert exported(capsys, "--since", "2026-11-01") == []
    assert len(exported(capsys, "--since", "2026-11-01", *shanghai)) == 29
    assert exported(capsys, "--until", "2026-11-01", *shanghai) == []
    assert len(exported(capsys, "--until", "2026-11-01", "--store", str(store))) == 29


def test_a_file_is_whole_and_says_how_many_rows(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "november.csv"
    file.write_text("old")
    assert run_application(["ledger", "export", str(file), "--store", str(store)]) == 0
    assert capsys.readouterr().out == f"29 rows written to {file}\n"
    assert len(file.read_text("utf-8").splitlines()) == 30
    assert [each.name for each in tmp_path.iterdir() if "half" in each.name] == []
    missing = tmp_path / "no" / "folder.csv"
    assert run_application(["ledger", "export", str(missing)]) == ExitCode.FAILED
    assert "No such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--price", "0.35"),
        ("--currency", "CNY"),
        ("--price", "-1", "--currency", "CNY"),
        ("--price", "NaN", "--currency", "CNY"),
        ("--price", "much", "--currency", "CNY"),
        ("--price", "1", "--currency", "yuan"),
        *(
            ("--price", price, "--currency", "CNY")
            for price in (
                *("1e50", "1e400", "1e999999999", "-0", "0", "0.0", "1_0", "٣", " 1", "1 ", "+1"),
                *("", ".5", "1.", "1234567890", "0.12345678901", "Infinity", "\uff11"),
            )
        ),
        ("--price", "1", "--currency", "CNY", "--time-zone", "Mars/Olympus"),
    ],
)
@pytest.mark.usefixtures("store")
def test_what_focus_asks_for_is_asked_for(
    options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_application(["ledger", "export", "--format", "focus", *options]) == ExitCode.USAGE
    told = capsys.readouterr()
    assert told.out == ""
    wanted = "--time-zone" if "--time-zone" in options else "--price 0.35 --currency CNY"
    assert wanted in told.err


def test_a_charge_of_two_grants_a_wait_and_a_repaid_debt_add_up(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = engine_of(store)
    long = FreezePart("long", Purpose.JOB, 95 * H)
    wait = FreezePart("long-wait", Purpose.WAIT, H)
    freeze = Freeze(
        key="f2", project="nlp", user="li.wei", queue="training", job="long", seconds=60,
        parts=(long, wait), cap_percent=100,
    )  # fmt: skip
    outcomes = Store(engine, lambda: NOVEMBER + 60).do(
        (
            grant_of("g2", "nlp", 50 * H, {"li.wei": 100}, grant="more"),
            freeze,
            Settle(key="s2", freeze="long", amount=95 * H),
            Settle(key="s3", freeze="long-wait", amount=H // 3),
            Owe(key="o", project="nlp", user="li.wei", amount=2 * H, debt_max=9 * H),
            Repay(key="p2", project="nlp", user="li.wei", amount=2 * H),
        )
    )
    assert [each for each in outcomes if not isinstance(each, Done)] == []
    engine.dispose()
    rows = exported(capsys, *FOCUS)[2:]
    of_long = [Decimal(r["x_CoreHours"]) for r in rows if r["ResourceId"] == "long"]
    assert (len(of_long), sum(of_long)) == (2, 95)
    (waited,) = [r for r in rows if r["ResourceId"] == "long-wait"]
    assert (waited["x_CoreHours"], waited["ChargeDescription"]) == (
        *("0.3333333333", "wait in the queue"),
    )
    repaid = [r for r in rows if r["ChargeDescription"] == "use that was owed"]
    assert sum(Decimal(r["x_CoreHours"]) for r in repaid) == 2
    assert {(r["x_User"], r["SkuPriceId"]) for r in repaid} == {("li.wei", "Core-Hours")}


@given(st.integers(1, 2**62), st.decimals(0, 10**6, places=6))
def test_no_cost_is_wrong_by_more_than_its_last_place(amount: int, price: Decimal) -> None:
    transaction = charged(amount)
    terms = Terms(price, "CNY", "lab", "UTC")
    (row,) = focus_rows(transaction, {}, {}, terms)
    exact = Fraction(amount, CORE_HOUR) * Fraction(price)
    assert abs(Fraction(row["BilledCost"]) - exact) <= (Fraction(price) + 1) / 10**10
    assert set(row["BilledCost"]) <= set("0123456789.")


def test_no_text_is_run_as_a_formula() -> None:
    books = InMemory()
    books.do(grant_of("g", "nlp", 9 * H, {"li.wei": 100}), NOVEMBER)
    odd = Adjust(key="=1+1", project="nlp", grant="2026-11", amount=-H, reason="x", by="@SUM(A1)")
    done = books.do(odd, NOVEMBER)
    assert isinstance(done, Transaction)
    row = next(entry_rows(done, {}, {}))
    assert (row["key"], row["by"], row["amount"]) == ("'=1+1", "'@SUM(A1)", str(-H))


def charged(amount: int) -> Transaction:
    """Return a repayment of one amount by a project."""
    command = Repay(key="k", project="nlp", user="li.wei", amount=amount)
    return Transaction(1, NOVEMBER, command, (Entry(Kind.REPAY, Account("nlp"), "g", amount),))


@pytest.mark.usefixtures("store")
def test_the_first_and_the_last_day_there_are_have_a_midnight_in_every_zone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for zone in ("Asia/Shanghai", "America/New_York", "UTC"):
        days = ("--since", "0001-01-01", "--until", "9999-12-31", "--time-zone", zone)
        assert len(exported(capsys, *days)) == 29


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--since", "2026-12-01", "--until", "2026-11-01"), "--since 2026-12-01"),
        (("--since", "2026-12-01", "--until", "2026-12-01"), "--until 2026-12-01"),
        (("--price", "0.35"), "--price"),
        (("--currency", "CNY"), "--currency"),
        (("--account", "lab"), "--account"),
        ((*FOCUS, "--account", ""), "--account"),
    ],
)
@pytest.mark.usefixtures("store")
def test_what_would_come_to_nothing_is_refused_before_a_row(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    named: str,
    lang: str,
) -> None:
    file = tmp_path / "rows.csv"
    for target in ((), (str(file),)):
        command = ["ledger", "export", *target, *options, "--lang", lang]
        assert run_application(command) == ExitCode.USAGE
        told = capsys.readouterr()
        assert told.out == ""
        assert named in told.err
    assert not file.exists()


@pytest.mark.parametrize("price", ["0.0000000001", "999999999.9999999999", "0.35", "7", "007"])
@pytest.mark.usefixtures("store")
def test_a_price_stands_there_as_it_was_given(
    capsys: pytest.CaptureFixture[str], price: str
) -> None:
    usage, credit = exported(capsys, "--format", "focus", "--price", price, "--currency", "CNY")
    assert Decimal(usage["ListUnitPrice"]) == Decimal(price)
    assert Decimal(usage["BilledCost"]) == 20 * Decimal(price)
    assert Decimal(credit["BilledCost"]) == -5 * Decimal(price)


@given(st.integers(1, 10_000), st.sampled_from(["0.0000000001", "0.35"]))
def test_a_refund_of_next_to_nothing_has_no_sign(amount: int, price: str) -> None:
    command = Refund(key="k", freeze="f", amount=amount, reason="x")
    entry = Entry(Kind.REFUND, Account("nlp"), "g", amount, "f")
    refund = Transaction(1, NOVEMBER, command, (entry,))
    (row,) = focus_rows(refund, {}, {}, Terms(Decimal(price), "CNY", "lab", "UTC"))
    assert row["BilledCost"] == "0.00" or Decimal(row["BilledCost"]) < 0
