"""Days, weeks and months in the platform's time zone, as seconds since 1970 (UTC).

A grant lasts from one midnight to another; where the clocks change, such a day has 23 or 25
hours, and each second of it is in one period only.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from tallyard.spec.model import Period


@dataclass(frozen=True)
class Span:
    """A period: what it is called, when it begins, and when the next one does."""

    name: str
    starts: int
    ends: int


def span(period: Period, at: int, time_zone: str) -> Span:
    """Return the period that a moment is in: `2026-11`, `2026-W48` or `2026-11-30`."""
    zone = ZoneInfo(time_zone)
    day = datetime.fromtimestamp(at, UTC).astimezone(zone).date()
    match period:
        case Period.MONTH:
            first, name = day.replace(day=1), f"{day:%Y-%m}"
            following = (first + timedelta(days=31)).replace(day=1)
        case Period.WEEK:
            first = day - timedelta(days=day.weekday())
            following = first + timedelta(days=7)
            name = "{}-W{:02}".format(*first.isocalendar())
        case Period.DAY:
            first, following, name = day, day + timedelta(days=1), day.isoformat()
    return Span(name, _midnight(first, zone), _midnight(following, zone))


def rfc3339(at: int) -> str:
    """Return a moment as programs read it, in UTC: `2026-11-30T16:00:00Z`."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _midnight(day: date, zone: ZoneInfo) -> int:
    return int(datetime.combine(day, time(), zone).timestamp())
