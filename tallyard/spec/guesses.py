"""What somebody meant who wrote a figure, a day or a name in another form: `3 days` is `3d`.

Only what can be meant one way is guessed; the rest gets the sentence about the form alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal

from tallyard import units
from tallyard.spec import fields, moments
from tallyard.spec.hosts import RANGE_PATTERN

_UNITS_OF_TIME = {
    **dict.fromkeys(("w", "week", "weeks", "周"), 7 * 86_400),
    **dict.fromkeys(("d", "day", "days", "天", "日"), 86_400),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours", "小时", "时"), 3_600),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes", "分钟", "分"), 60),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds", "秒"), 1),
}
_LETTERS = {86_400: "d", 3_600: "h", 60: "m", 1: "s"}
_TIME = re.compile(r"([0-9]{1,8}(?:\.[0-9]{1,3})?)\s*([a-z]+|[\u4e00-\u9fff]+)[\s,]*")
_PERIODS = {
    **dict.fromkeys(("day", "days", "d", "天", "日"), "day"),
    **dict.fromkeys(("week", "weeks", "w", "周"), "week"),
    **dict.fromkeys(("month", "months", "mo", "mon", "月"), "month"),
}
_GRANT = re.compile(
    r"([0-9][0-9,_ ]{0,15}(?:\.[0-9]{1,3})?)\s*([km]?)\s*(?:core-?\s?hours?|核时)?\s*"
    r"(?:/|per|a|each|every|每)\s*([a-z]+|[\u4e00-\u9fff]+)"
)
_SCALES = {"": 1, "k": 1_000, "m": 1_000_000}
_MEMORY = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)\s*([kmgtp]?)(i?)b?")
# `h100-00..23`, with or without brackets of any kind.
_HOSTS = re.compile(
    r"(?P<before>[A-Za-z0-9._-]{0,60})(?<![0-9])(?P<bracket>[\[{(<]?)(?P<first>[0-9]{1,6})"
    r"\s*(?P<sign>\.{2,3}|:|~|-|to|至)\s*(?P<last>[0-9]{1,6})[\]})>]?"
    r"(?P<after>[A-Za-z._-][A-Za-z0-9._-]{0,60})?"
)
_HOST_FORM = RANGE_PATTERN.replace("A-Za-z", "a-z").replace("_", "")
_DAY = re.compile(
    r"(2[0-9]{3})[-/.年]([0-9]{1,2})[-/.月]([0-9]{1,2})日?(?:[T ]+([0-9]{2}:[0-9]{2}\S*))?"
)
_DAY_OF_DIGITS = re.compile(r"(2[0-9]{3})([0-9]{2})([0-9]{2})")
_DAY_FIRST = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})\.(2[0-9]{3})")
_ZONES = {
    **dict.fromkeys(("beijing", "china", "cst", "utc+8", "utc+08:00", "gmt+8"), "Asia/Shanghai"),
    **dict.fromkeys(("asia/beijing", "北京", "上海", "中国"), "Asia/Shanghai"),
    **dict.fromkeys(("z", "gmt", "utc+0", "utc+00:00"), "UTC"),
}
# A card or a request has this many GiB at most; a bare number above is meant otherwise.
_GIB_MAX = 4_096
_PERCENT_MAX = 100


# No figure, moment or name is longer; the forms below would look at a long one for minutes.
_LENGTH_MAX = 256


def likely(code: str, written: object) -> str:
    """Return what was probably meant, in the right form, or an empty text.

    Args:
        code: The problem that the value has.
        written: The value: a text or a number.
    """
    if isinstance(written, bool) or not isinstance(written, str | int | float):
        return ""
    if code not in _GUESSES:
        return ""
    text = str(written).strip()
    if len(text) > _LENGTH_MAX:
        return ""
    guess, pattern = _GUESSES[code]
    found = guess(text)
    return found if re.fullmatch(pattern, found) and found != str(written) else ""


def _time(text: str) -> str:
    text = text.lower().removeprefix("p").replace("t", "") if text[:1] in "Pp" else text.lower()
    parts = [(Decimal(number), unit) for number, unit in _TIME.findall(text)]
    if not parts or _TIME.sub("", text.replace("and", "")).strip():
        return ""
    if any(unit not in _UNITS_OF_TIME for _, unit in parts):
        return ""
    seconds = sum(number * _UNITS_OF_TIME[unit] for number, unit in parts)
    return _as_written(int(seconds), _UNITS_OF_TIME[parts[0][1]]) if seconds % 1 == 0 else ""


def _as_written(seconds: int, unit: int) -> str:
    """Return a time in the unit that was written, what is left over in smaller ones."""
    told = ""
    for length, letter in _LETTERS.items():
        if length <= unit and seconds >= length:
            told += f"{seconds // length}{letter}"
            seconds %= length
    return told


def _percent(text: str) -> str:
    number = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{1,4})?)\s*(%|percent|per cent)?", text.lower())
    if number is None:
        return ""
    value = Decimal(number[1])
    is_fraction = not number[2] and "." in number[1] and value <= 1
    value = value * 100 if is_fraction else value
    return f"{int(value)}%" if value % 1 == 0 and value <= _PERCENT_MAX else ""


def _core_hours(text: str) -> str:
    found = _GRANT.fullmatch(text.lower())
    if found is None or found[3] not in _PERIODS:
        return ""
    amount = Decimal(re.sub("[,_ ]", "", found[1])) * _SCALES[found[2]]
    return f"{int(amount)}/{_PERIODS[found[3]]}" if amount % 1 == 0 else ""


def _memory(text: str) -> str:
    found = _MEMORY.fullmatch(text.lower())
    if found is None or (not found[2] and Decimal(found[1]) > _GIB_MAX):
        return ""
    number, letter, binary = found.groups()
    if not letter:
        return f"{number}Gi"
    # 40GB are 40G and not 40Gi, which are a fourteenth more.
    letter = "k" if (letter, binary) == ("k", "") else letter.upper()
    return f"{number}{letter}{binary}"


def _moment(text: str) -> str:
    parts = _DAY.fullmatch(text) or _DAY_OF_DIGITS.fullmatch(text)
    if parts:
        year, month, day = (int(part) for part in parts.groups()[:3])
    elif first := _DAY_FIRST.fullmatch(text):
        day, month, year = (int(part) for part in first.groups())
    else:
        return ""
    try:
        told = date(year, month, day).isoformat()
    except ValueError:
        return ""
    return f"{told}T{parts[4]}" if parts and parts.re is _DAY and parts[4] else told


def _zone(text: str) -> str:
    wanted = text.casefold().replace(" ", "_")
    if wanted in _ZONES:
        return _ZONES[wanted]
    zones = sorted(moments.zones())
    ends = (zone for zone in zones if zone.casefold().endswith(f"/{wanted}"))
    return next((zone for zone in zones if zone.casefold() == wanted), next(ends, ""))


def _registry(text: str) -> str:
    return re.sub(r"^[a-z]+://", "", text.lower()).rstrip("/")


def _prefix(text: str) -> str:
    return text.lower().rstrip("*")


def _hosts(text: str) -> str:
    found = _HOSTS.fullmatch(text)
    if found is None or int(found["first"]) >= int(found["last"]):
        return ""
    return f"{found['before']}[{found['first']}-{found['last']}]{found['after'] or ''}"


def _host_names(text: str) -> str:
    """Return a range, or one name; `GPU_00-01` has a dash as names have."""
    found = _HOSTS.fullmatch(text)
    is_name = found is None or (found["sign"] == "-" and not found["bracket"])
    meant = "" if is_name else _hosts(text)
    return re.sub(r"[\s_/]+", "-", meant or text).lower().strip("-.")


def _object_name(text: str) -> str:
    return re.sub(r"[\s_./]+", "-", text.lower()).strip("-")


def _objects(text: str) -> str:
    # Behind the kind a colon or a point parts, in a name it does not.
    parted = re.sub(r"^([A-Z][A-Za-z]*)\s*[:./\s]\s*", r"\1/", text)
    return re.sub(r"\s*/\s*|\s+", "/", parted)


def _label(text: str) -> str:
    return re.sub(r"[\s/]+", "-", text).strip("-_.")


_GUESSES: dict[str, tuple[Callable[[str], str], str]] = {
    "SPEC114": (_object_name, fields.DNS_LABEL_PATTERN),
    "SPEC115": (_hosts, RANGE_PATTERN),
    "SPEC116": (_label, fields.LABEL_VALUE_PATTERN),
    "SPEC117": (_memory, units.QUANTITY_PATTERN),
    "SPEC124": (_time, f"(?=.){units.DURATION_PATTERN}"),
    "SPEC125": (_percent, fields.PERCENT_PATTERN),
    "SPEC126": (_core_hours, fields.CORE_HOURS_PATTERN),
    "SPEC127": (_moment, fields.MOMENT_PATTERN),
    "SPEC130": (_zone, fields.ZONE_PATTERN),
    "SPEC132": (_registry, fields.REGISTRY_PATTERN),
    "SPEC133": (_prefix, fields.RESOURCE_PREFIX_PATTERN),
    "SPEC141": (_objects, fields.OBJECT_PATTERN),
    "SPEC403": (_host_names, _HOST_FORM),
    "SPEC405": (_hosts, _HOST_FORM),
}
