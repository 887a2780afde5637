"""Quantities as Kubernetes writes them, read and written exactly; and times as people say them.

What the spec may write is narrower than what an API server may answer, so memory of the spec
and amounts from a cluster have a reader each.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction

# The one resource of Kubernetes that is counted in thousandths.
CPU = "cpu"

# Kubernetes keeps a quantity in a signed 64-bit integer.
BYTES_MAX = 2**63 - 1
QUANTITY_PATTERN = r"^[0-9]{1,15}(\.[0-9]{1,9})?(Ki|Mi|Gi|Ti|Pi|k|M|G|T|P)?$"

# Days, hours, minutes, seconds, in this order; the bounds keep a slip of the finger readable.
DURATION_PATTERN = r"^([0-9]{1,4}d)?([0-9]{1,5}h)?([0-9]{1,6}m)?([0-9]{1,8}s)?$"

_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}
_DECIMAL = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_FACTORS = {**_BINARY, **_DECIMAL}
_QUANTITY = re.compile(r"([0-9]{1,15})(?:\.([0-9]{1,9}))?(Ki|Mi|Gi|Ti|Pi|k|M|G|T|P)?", re.ASCII)


_DURATION = re.compile(DURATION_PATTERN, re.ASCII)
_PERCENT = re.compile(r"([0-9]{1,4})%", re.ASCII)

# Every form that the API server itself reads; the smallest part of a vCPU is a thousandth.
_ANY_QUANTITY = re.compile(
    r"([0-9]{1,19}(?:\.[0-9]{0,9})?)(?:(Ki|Mi|Gi|Ti|Pi|n|u|m|k|M|G|T|P)|[eE]([+-]?[0-9]{1,2}))?",
    re.ASCII,
)
_SMALL = {"n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 10**3)}
_MILLI = 1000

_DECIMAL_NUMBER = re.compile(r"([0-9]{1,12})(?:\.([0-9]{1,3}))?", re.ASCII)

_MINUTE = 60
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR


class QuantityError(ValueError):
    """A text is not a quantity, or it is not a whole number within 64 bits."""


def parse_bytes(text: str) -> int:
    """Return the bytes that a quantity stands for.

    Args:
        text: A number with or without a suffix: `24Gi`, `1.5Ti`, `512M`, `1024`.

    Returns:
        Bytes, exactly.

    Raises:
        QuantityError: The text has another form, a part of a byte is left, or the
            value is above `BYTES_MAX`.
    """
    found = _QUANTITY.fullmatch(text)
    if found is None:
        raise QuantityError(f"{text!r} is not a quantity such as 24Gi")
    whole, fraction, suffix = found.group(1), found.group(2) or "", found.group(3) or ""
    scaled = int(whole + fraction) * _FACTORS[suffix]
    parts: int = 10 ** len(fraction)
    amount, rest = divmod(scaled, parts)
    if rest:
        raise QuantityError(f"{text!r} is not a whole number of bytes")
    if amount > BYTES_MAX:
        raise QuantityError(f"{text!r} is more than 64 bits hold")
    return amount


def format_bytes(amount: int) -> str:
    """Return the shortest exact text with a binary suffix: 25769803776 is `24Gi`.

    Raises:
        ValueError: The amount is negative; there is no such memory.
    """
    if amount < 0:
        raise ValueError(f"{amount} bytes: an amount is never negative")
    for suffix, factor in reversed(_BINARY.items()):
        if amount and amount % factor == 0:
            return f"{amount // factor}{suffix}"
    return str(amount)


def parse_duration(text: str) -> int:
    """Return the seconds that a time such as `72h`, `1h30m` or `120s` stands for.

    Raises:
        QuantityError: The text has another form.
    """
    found = _DURATION.fullmatch(text)
    if found is None or not text:
        raise QuantityError(f"{text!r} is not a time such as 1h30m")
    parts = zip(found.groups(), (_DAY, _HOUR, _MINUTE, 1), strict=True)
    return sum(int(number[:-1]) * seconds for number, seconds in parts if number)


def parse_percent(text: str) -> int:
    """Return the whole number of a percentage such as `30%`.

    Raises:
        QuantityError: The text has another form.
    """
    found = _PERCENT.fullmatch(text)
    if found is None:
        raise QuantityError(f"{text!r} is not a percentage such as 30%")
    return int(found.group(1))


def core_hours_amount(text: str) -> int:
    """Return the core-hours of a grant such as `600000/month`, whatever its period.

    Raises:
        QuantityError: The text has another form.
    """
    amount, slash, _ = text.partition("/")
    if not slash or not (amount.isascii() and amount.isdigit()):
        raise QuantityError(f"{text!r} is not a grant such as 600000/month")
    return int(amount)


def parse_amount(resource: str, text: str) -> int:
    """Return an amount of a resource from a cluster: cpu in thousandths, else bytes or pieces.

    A part of one counts as one, as in Kubernetes, which takes `memory: 0.5`.

    Raises:
        QuantityError: The text is no quantity.
    """
    return parse_cpu(text) if resource == CPU else math.ceil(_any_quantity(text))


def parse_cpu(text: str) -> int:
    """Return a CPU quantity from a cluster in thousandths: `500m` is 500, `1.5` is 1500.

    Less than a thousandth counts as one, as in Kubernetes.

    Raises:
        QuantityError: The text is no quantity.
    """
    return math.ceil(_any_quantity(text) * _MILLI)


def format_cpu(millis: int) -> str:
    """Return a CPU quantity as Kubernetes itself writes it: 2000 is `2`, 1500 is `1500m`."""
    whole, rest = divmod(millis, _MILLI)
    return f"{millis}m" if rest else str(whole)


def thousandths(millis: int) -> str:
    """Return thousandths as a decimal number: 2000 is `2`, 1500 is `1.5`."""
    whole, rest = divmod(millis, _MILLI)
    return f"{whole}.{rest:03}".rstrip("0") if rest else str(whole)


def vcpu(millis: int) -> str:
    """Return thousandths of vCPU as people say them: 2000 is `2`, 1500 is `1.5`."""
    return thousandths(millis)


def parse_thousandths(text: str) -> int:
    """Return the thousandths of a decimal number from a cluster, such as a rate: `1.5` is 1500.

    Raises:
        QuantityError: The text is no number of at most three decimals.
    """
    found = _DECIMAL_NUMBER.fullmatch(text)
    if found is None:
        raise QuantityError(f"{text!r} is not a number such as 1.5")
    return int(found[1]) * _MILLI + int((found[2] or "").ljust(3, "0"))


def duration(seconds: float) -> str:
    """Return a time in at most two units: `7s`, `3m05s`, `2h10m`, `3d04h`; never below nothing."""
    whole = max(0, int(seconds))
    if whole < _MINUTE:
        return f"{whole}s"
    if whole < _HOUR:
        return f"{whole // _MINUTE}m{whole % _MINUTE:02}s"
    if whole < _DAY:
        return f"{whole // _HOUR}h{whole % _HOUR // _MINUTE:02}m"
    return f"{whole // _DAY}d{whole % _DAY // _HOUR:02}h"


def _any_quantity(text: str) -> Fraction:
    found = _ANY_QUANTITY.fullmatch(text)
    if found is None:
        raise QuantityError(f"{text!r} is not a quantity such as 2 or 500m")
    number, suffix, exponent = found.groups()
    factor = (_FACTORS | _SMALL)[suffix or ""] * Fraction(10) ** int(exponent or 0)
    return Fraction(number) * factor
