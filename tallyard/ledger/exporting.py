"""The journal as rows for other programs: every entry, or what was charged in FOCUS format. Pure.

FOCUS (FinOps Open Cost and Usage Specification) 1.0 is what programs for the cost of clouds read.
Its money is a national currency, so a price of a core-hour is asked for; the core-hours
themselves are the quantities. What is granted, frozen or released costs nothing and is no row.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any

from tallyard.ledger.accounts import Level
from tallyard.ledger.amounts import CORE_HOUR
from tallyard.ledger.commands import Refund
from tallyard.ledger.entries import Entry, Kind
from tallyard.ledger.periods import rfc3339, span
from tallyard.ledger.records import FreezeRecord
from tallyard.ledger.transactions import Transaction
from tallyard.spec.model import Period

type Row = Mapping[str, str]
type Freezes = Mapping[str, FreezeRecord]
type Names = Mapping[str, str]

UNIT = "Core-Hours"
# A core-hour is 3,600,000 of the smallest amount, which has no end as a decimal fraction: half of
# this is what a row can be wrong by.
_PLACES = Decimal("1e-10")
# The largest amount at the largest price, and these places.
_WIDE = Context(prec=60)
_CENTS = Decimal("0.01")
# What a row holds exactly, and no price of anything is longer.
_PRICE = re.compile(r"[0-9]{1,9}(\.[0-9]{1,10})?", re.ASCII)
# By these a spreadsheet begins a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
# What in a journal is paid for, and the sign of what it costs.
_PAID = {Kind.CHARGE: 1, Kind.REPAY: 1, Kind.REFUND: -1}

ENTRY_COLUMNS = (
    *("seq", "at", "command", "key", "by", "kind", "level", "project", "project_name", "user"),
    *("grant", "amount", "core_hours", "freeze", "job", "queue", "purpose"),
)
# The columns of FOCUS 1.0, and ours behind them.
FOCUS_COLUMNS = (
    *("AvailabilityZone", "BilledCost", "BillingAccountId", "BillingAccountName"),
    *("BillingCurrency", "BillingPeriodEnd", "BillingPeriodStart", "ChargeCategory"),
    *("ChargeClass", "ChargeDescription", "ChargeFrequency", "ChargePeriodEnd"),
    *("ChargePeriodStart", "CommitmentDiscountCategory", "CommitmentDiscountId"),
    *("CommitmentDiscountName", "CommitmentDiscountStatus", "CommitmentDiscountType"),
    *("ConsumedQuantity", "ConsumedUnit", "ContractedCost", "ContractedUnitPrice"),
    *("EffectiveCost", "InvoiceIssuerName", "ListCost", "ListUnitPrice", "PricingCategory"),
    *("PricingQuantity", "PricingUnit", "ProviderName", "PublisherName", "RegionId"),
    *("RegionName", "ResourceId", "ResourceName", "ResourceType", "ServiceCategory"),
    *("ServiceName", "SkuId", "SkuPriceId", "SubAccountId", "SubAccountName", "Tags"),
    *("x_CoreHours", "x_Grant", "x_Queue", "x_Transaction", "x_User"),
)


@dataclass(frozen=True)
class Terms:
    """What FOCUS asks for and no ledger knows.

    `price` is that of one core-hour in `currency` (ISO 4217), `account` what the bill is for, and
    `time_zone` the one in which a month begins.
    """

    price: Decimal
    currency: str
    account: str
    time_zone: str


def price_of(text: str) -> Decimal | None:
    """Return a price: above nothing, at most 9 digits before and 10 behind the point; else None."""
    number = Decimal(text) if _PRICE.fullmatch(text) else Decimal(0)
    return number if number > 0 else None


def entry_rows(transaction: Transaction, freezes: Freezes, names: Names) -> Iterator[Row]:
    """Yield a row for each entry; `amount` is in thousandths of a core-second, exactly.

    Args:
        transaction: What was done.
        freezes: Those that it names, by id.
        names: The projects' names by id.
    """
    for entry in transaction.entries:
        record = freezes.get(entry.freeze)
        yield _safe(
            seq=transaction.seq,
            at=rfc3339(transaction.at),
            command=type(transaction.command).__struct_config__.tag,
            key=transaction.command.key,
            by=transaction.command.by,
            kind=entry.kind.value,
            level=entry.account.level.value,
            project=entry.account.project,
            project_name=names.get(entry.account.project, ""),
            user=entry.account.user,
            grant=entry.grant,
            amount=Decimal(entry.amount),
            core_hours=_core_hours(entry.amount),
            freeze=entry.freeze,
            job=record.job if record else "",
            queue=record.queue if record else "",
            purpose=record.purpose.value if record else "",
        )


def focus_rows(
    transaction: Transaction, freezes: Freezes, names: Names, terms: Terms
) -> Iterator[Row]:
    """Yield a row of FOCUS 1.0 for each charge, repayment and refund of a project.

    One that stands in two grants is two rows. A charge is for the time from the freeze to its
    end, and in the month in which it was made.
    """
    for entry in transaction.entries:
        if entry.account.level is Level.PROJECT and entry.kind in _PAID:
            paid = _focus(transaction, entry, freezes.get(entry.freeze), names, terms)
            yield dict.fromkeys(FOCUS_COLUMNS, "") | paid


def _focus(
    transaction: Transaction,
    entry: Entry,
    record: FreezeRecord | None,
    names: Names,
    terms: Terms,
) -> dict[str, str]:
    hours = _core_hours(_PAID[entry.kind] * entry.amount)
    cost = _short(_WIDE.multiply(hours, terms.price))
    month = span(Period.MONTH, transaction.at, terms.time_zone)
    is_usage = entry.kind is not Kind.REFUND
    starts = record.made if record and is_usage else transaction.at
    user = record.user if record else str(getattr(transaction.command, "user", ""))
    queue = record.queue if record else ""
    told: dict[str, Any] = {
        "BilledCost": cost,
        "BillingAccountId": terms.account,
        "BillingAccountName": terms.account,
        "BillingCurrency": terms.currency,
        "BillingPeriodStart": rfc3339(month.starts),
        "BillingPeriodEnd": rfc3339(month.ends),
        "ChargeCategory": "Usage" if is_usage else "Credit",
        "ChargeDescription": _description(transaction, entry, record),
        "ChargeFrequency": "Usage-Based" if is_usage else "One-Time",
        "ChargePeriodStart": rfc3339(starts),
        "ChargePeriodEnd": rfc3339(max(transaction.at, starts + 1)),
        "ContractedCost": cost,
        "EffectiveCost": cost,
        "InvoiceIssuerName": terms.account,
        "ListCost": cost,
        "ProviderName": terms.account,
        "PublisherName": terms.account,
        "ResourceId": entry.freeze,
        "ResourceName": record.job if record else "",
        "ResourceType": "Job" if record else "",
        "ServiceCategory": "AI and Machine Learning",
        "ServiceName": "GPU computing",
        "SubAccountId": entry.account.project,
        "SubAccountName": names.get(entry.account.project, entry.account.project),
        "Tags": json.dumps({"queue": queue, "user": user}, ensure_ascii=False, sort_keys=True),
        "x_CoreHours": hours,
        "x_Grant": entry.grant,
        "x_Queue": queue,
        "x_Transaction": str(transaction.seq),
        "x_User": user,
    }
    if is_usage:
        told |= {
            "ConsumedQuantity": hours,
            "ConsumedUnit": UNIT,
            "ContractedUnitPrice": _short(terms.price),
            "ListUnitPrice": _short(terms.price),
            "PricingCategory": "Standard",
            "PricingQuantity": hours,
            "PricingUnit": UNIT,
            "SkuId": queue or UNIT,
            "SkuPriceId": queue or UNIT,
        }
    return _safe(**told)


def _description(transaction: Transaction, entry: Entry, record: FreezeRecord | None) -> str:
    if isinstance(transaction.command, Refund):
        return f"refund: {transaction.command.reason}"
    if entry.kind is Kind.REPAY or record is None:
        return "use that was owed"
    return {"job": "work", "wait": "wait in the queue", "window": "work of a window"}[
        record.purpose.value
    ]


def _safe(**values: Any) -> dict[str, str]:
    """Return values as texts, none of which a spreadsheet would run as a formula."""
    return {
        name: f"{value:f}"
        if isinstance(value, Decimal)
        else f"'{value}"
        if str(value).startswith(_FORMULA)
        else str(value)
        for name, value in values.items()
    }


def _core_hours(amount: int) -> Decimal:
    return _short(_WIDE.divide(Decimal(amount), Decimal(CORE_HOUR)))


def _short(number: Decimal) -> Decimal:
    """Return a number with at least two places and no zeros behind them."""
    # What is rounded to nothing has no sign.
    rounded = number.quantize(_PLACES, context=_WIDE) + 0
    cents = rounded.quantize(_CENTS, context=_WIDE)
    return cents if cents == rounded else rounded.normalize(_WIDE)
