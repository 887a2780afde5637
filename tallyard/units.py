"""Quantities as Kubernetes writes them, read and written exactly, with integers only."""

from __future__ import annotations

import re

# Kubernetes keeps a quantity in a signed 64-bit integer.
BYTES_MAX = 2**63 - 1
QUANTITY_PATTERN = r"^[0-9]{1,15}(\.[0-9]{1,9})?(Ki|Mi|Gi|Ti|Pi|k|M|G|T|P)?$"

_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}
_DECIMAL = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_FACTORS = {**_BINARY, **_DECIMAL}
_QUANTITY = re.compile(r"([0-9]{1,15})(?:\.([0-9]{1,9}))?(Ki|Mi|Gi|Ti|Pi|k|M|G|T|P)?", re.ASCII)


class QuantityError(ValueError):
    """A text is not a quantity, or it is not a whole number of bytes within 64 bits."""


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
