"""Moments as the spec writes them: a day, or a day and a time, in the platform's time zone.

Zones come from the pinned `tzdata` and never from the machine, whose tables may be older and
know a `localtime`: the same spec means the same moments everywhere.
"""

from __future__ import annotations

import importlib.resources
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo

# What stands in the list and is no place's time.
_NO_ZONES = frozenset({"Factory"})


@cache
def zones() -> frozenset[str]:
    """Return the names of all time zones."""
    listed = (importlib.resources.files("tzdata") / "zones").read_text("utf-8")
    return frozenset(listed.split()) - _NO_ZONES


@cache
def zone(name: str) -> ZoneInfo:
    """Return a time zone.

    Args:
        name: One of `zones`.
    """
    file = importlib.resources.files("tzdata") / "zoneinfo" / name
    with file.open("rb") as stream:
        return ZoneInfo.from_file(stream, key=name)


def end(text: str, zone_name: str) -> datetime:
    """Return the moment at which something ends that holds `until` a text.

    Args:
        text: `2026-12-31` (to the end of that day), `2026-12-31T18:00`, or the latter with
            an offset, which then counts instead of the zone.
        zone_name: The platform's time zone, e.g. `Asia/Shanghai`.

    Returns:
        The first moment at which it no longer holds, in UTC.

    Raises:
        ValueError: The text is no moment of the calendar.
    """
    if "T" not in text:
        after = date.fromisoformat(text) + timedelta(days=1)
        local = datetime(after.year, after.month, after.day, tzinfo=zone(zone_name))
        return local.astimezone(UTC)
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=zone(zone_name))).astimezone(UTC)


def until(moment: datetime, zone_name: str) -> str:
    """Return `end` backwards: the last day on which something holds, or the moment of its end.

    Args:
        moment: The first moment at which it no longer holds.
        zone_name: The platform's time zone.
    """
    local = moment.astimezone(zone(zone_name))
    if local.time() == time():
        return (local.date() - timedelta(days=1)).isoformat()
    return f"{local:%Y-%m-%d %H:%M} ({zone_name})"
