"""Amounts of core-hours: whole thousandths of a core-second, so that nothing is rounded between.

A rate is in thousandths of a core-hour per hour, which is the same number in thousandths of a
core-second per second: rate times seconds is exact. The next rounding is only for people.
"""

from __future__ import annotations

CORE_HOUR = 3_600_000
_CENTS_PER_CORE_HOUR = 100
_CENT = CORE_HOUR // _CENTS_PER_CORE_HOUR
_MILLI = 1000
_PER_CENT = 100


def of_core_hours(hours: int) -> int:
    """Return the amount of whole core-hours."""
    return hours * CORE_HOUR


def of_rate(rate_milli: int, seconds: int) -> int:
    """Return what a rate (thousandths of a core-hour per hour) costs for a time.

    Raises:
        ValueError: The time is negative; no clock may give hours back.
    """
    if seconds < 0:
        raise ValueError(f"{seconds} s: a time is never negative")
    return rate_milli * seconds


def part_of(amount: int, percent: int) -> int:
    """Return a share of an amount; a part of a thousandth is nobody's."""
    return amount * percent // _PER_CENT


def text(amount: int) -> str:
    """Return an amount in core-hours with two decimals, rounded half to even: `1.33`."""
    return _decimal(*divmod(abs(amount), _CENT), half=_CENT, is_negative=amount < 0)


def rate_text(rate_milli: int) -> str:
    """Return a rate in core-hours per hour as `text` writes amounts: 12000 is `12.00`."""
    return text(rate_milli * (CORE_HOUR // _MILLI))


def _decimal(cents: int, rest: int, *, half: int, is_negative: bool) -> str:
    if rest * 2 > half or (rest * 2 == half and cents % 2):
        cents += 1
    sign = "-" if is_negative and cents else ""
    return f"{sign}{cents // _CENTS_PER_CORE_HOUR}.{cents % _CENTS_PER_CORE_HOUR:02}"
