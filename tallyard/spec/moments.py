"""Moments as the spec writes them: a day, or a day and a time, in the platform's time zone."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo


def end(text: str, zone: str) -> datetime:
    """Return the moment at which something ends that holds `until` a text.

    Args:
        text: `2026-12-31` (to the end of that day), `2026-12-31T18:00`, or the latter with
            an offset, which then counts instead of the zone.
        zone: The platform's time zone, e.g. `Asia/Shanghai`.

    Returns:
        The first moment at which it no longer holds, in UTC.

    Raises:
        ValueError: The text is no moment of the calendar.
    """
    if "T" not in text:
        after = date.fromisoformat(text) + timedelta(days=1)
        return datetime(after.year, after.month, after.day, tzinfo=ZoneInfo(zone)).astimezone(UTC)
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(zone))).astimezone(UTC)
