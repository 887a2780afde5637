"""The values of a diff as people write them: `600000/month`, `72h`, `+200000 (+33%)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tallyard import units
from tallyard.cli import session
from tallyard.cli.words import word, words
from tallyard.spec.changes.change import Change, Lasting, Rank, Value
from tallyard.spec.changes.facts import Unit
from tallyard.spec.model import CoreHours

_MILLI = 1000
_PARTS = ((3600, "h"), (60, "m"), (1, "s"))
# Where a difference says little without what it is compared with.
_WITH_PERCENT = frozenset({Unit.GRANT, Unit.LASTING, Unit.MILLI_CORE_HOURS, Unit.BYTES})


def value_text(value: Value, unit: Unit) -> str:
    """Return a value as the spec writes it; an empty text for None."""
    text = ""
    match value:
        case CoreHours():
            text = f"{value.amount}/{value.period}"
        case Lasting():
            text = _lasting_text(value)
        case Rank():
            text = f"{value.name} {value.value}"
        case bool():
            text = word("yes" if value else "no")
        case int():
            text = _number_text(value, unit)
        case str():
            text = word(value) if unit is Unit.CHOICE else value
        case tuple():
            text = ", ".join(words(*value) if unit is Unit.CHOICES else value)
    return text


def delta_text(change: Change) -> str:
    """Return the difference with its sign, and in per cent where that says more; or nothing."""
    if change.is_of_other_period:
        return _by_the_hour_text(change)
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


def _by_the_hour_text(change: Change) -> str:
    """Return by how much more or less of a grant there is in an hour, whatever its period."""
    sign = {1: "+", -1: "-"}.get(change.effect)
    if sign is None:
        return word("as much an hour")
    percent = change.percent
    return f"{percent:+}%" if percent else f"{sign}<1%"


def _lasting_text(value: Lasting) -> str:
    """Return how much of its period a grant lasts."""
    if value.share == 1:
        return word(f"all of a {value.period}")
    return word(f"{{}}h of a {value.period}").format(value.hours)


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
    write = _WRITTEN.get(unit)
    return write(number) if write else str(number)


def _sharing_text(slices: int) -> str:
    if slices == 1:
        return word("exclusive")
    return f"{slices} 个切片" if session.lang() == "zh" else f"{slices} slices"


_WRITTEN: Mapping[Unit, Callable[[int], str]] = {
    Unit.SECONDS: duration,
    Unit.LASTING: "{}h".format,
    Unit.PERCENT: "{}%".format,
    Unit.MILLI: units.vcpu,
    Unit.MILLI_CORE_HOURS: units.vcpu,
    Unit.BYTES: units.format_bytes,
    Unit.SHARING: _sharing_text,
}
