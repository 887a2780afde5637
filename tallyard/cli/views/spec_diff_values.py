"""The values of a diff as people write them: `600000/month`, `72h`, `+200000 (+33%)`."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from tallyard import units
from tallyard.cli import session
from tallyard.cli.words import word
from tallyard.spec.changes.change import Change, Rank, Value
from tallyard.spec.changes.facts import Unit
from tallyard.spec.model import CoreHours

_MILLI = 1000
_PARTS = ((3600, "h"), (60, "m"), (1, "s"))
# Where a difference says little without what it is compared with.
_WITH_PERCENT = frozenset({Unit.GRANT, Unit.HOURS, Unit.MILLI_CORE_HOURS, Unit.BYTES})


def value_text(value: Value, unit: Unit) -> str:
    """Return a value as the spec writes it; an empty text for None."""
    match value:
        case CoreHours():
            return f"{value.amount}/{value.period}"
        case Rank():
            return f"{value.name} {value.value}"
        case bool():
            return word("yes" if value else "no")
        case int():
            return _number_text(value, unit)
    # A name, several, or none.
    return value if isinstance(value, str) else ", ".join(value or ())


def delta_text(change: Change) -> str:
    """Return the difference with its sign, and in per cent where that says more; or nothing."""
    delta = change.delta
    if not delta or (isinstance(change.before, Rank) and _is_renamed(change)):
        return ""
    sign = "+" if delta > 0 else "-"
    if change.unit is Unit.PERCENT:
        points = " 个百分点" if session.lang() == "zh" else " pp"
        return f"{sign}{abs(delta)}{points}"
    text = f"{sign}{_number_text(abs(delta), change.unit)}"
    percent = change.percent
    return f"{text} ({percent:+}%)" if percent and change.unit in _WITH_PERCENT else text


def moment(until: datetime, zone: str) -> str:
    """Return the last day on which something holds, or the moment at which it ends."""
    local = until.astimezone(ZoneInfo(zone))
    if local.time() == time():
        return (local.date() - timedelta(days=1)).isoformat()
    return f"{local:%Y-%m-%d %H:%M} ({zone})"


def duration(seconds: int) -> str:
    """Return a time exactly, as the spec writes it: 72h, 1h30m, 90s."""
    parts = []
    rest = seconds
    for size, letter in _PARTS:
        number, rest = divmod(rest, size)
        if number:
            parts.append(f"{number}{letter}")
    return "".join(parts) or "0s"


def _is_renamed(change: Change) -> bool:
    return not isinstance(change.after, Rank) or change.after.name != getattr(
        change.before, "name", None
    )


def _number_text(number: int, unit: Unit) -> str:
    match unit:
        case Unit.SECONDS:
            return duration(number)
        case Unit.HOURS:
            return f"{number}h"
        case Unit.PERCENT:
            return f"{number}%"
        case Unit.MILLI | Unit.MILLI_CORE_HOURS:
            return units.vcpu(number)
        case Unit.BYTES:
            return units.format_bytes(number)
    return str(number)
