"""Ranges of names: `a100-[00-03]` is four hosts, `r[0-1]` over them two racks of two."""

from __future__ import annotations

import re
from functools import lru_cache

# Kubernetes supports clusters of at most this many nodes (its "large clusters" page).
HOSTS_MAX = 5_000

RANGE_PATTERN = (
    r"^[A-Za-z0-9._-]{0,60}"
    r"(\[[0-9]{1,6}(-[0-9]{1,6})?(,[0-9]{1,6}(-[0-9]{1,6})?){0,99}\])?"
    r"[A-Za-z0-9._-]{0,60}$"
)
_PARTS = re.compile(r"([^\[\]]*)(?:\[([0-9,-]+)\])?([^\[\]]*)", re.ASCII)


class RangeError(ValueError):
    """A range that cannot be expanded. `code` is the message's, `values` fill it in."""

    def __init__(self, code: str, **values: object) -> None:
        super().__init__(code)
        self.code = code
        self.values = values


def expand(pattern: str, limit: int = HOSTS_MAX) -> tuple[str, ...]:
    """Return the names of a range, in the order it is written.

    A number is padded to the width of the range's first number: `[08-10]` is 08, 09, 10.

    Raises:
        RangeError: SPEC401 for a range that runs backwards, SPEC402 for more than
            `limit` names, SPEC115 for a text of another form.
    """
    prefix, ranges, suffix = _parts(pattern)
    if not ranges:
        return (prefix,)
    if _length(ranges) > limit:
        raise RangeError("SPEC402", found=pattern, limit=limit)
    return tuple(
        f"{prefix}{number:0{width}d}{suffix}"
        for first, last, width in ranges
        for number in range(first, last + 1)
    )


def count(pattern: str) -> int:
    """Return how many names a range has, without writing them out.

    Raises:
        RangeError: As `expand`, but whatever the number.
    """
    _, ranges, _ = _parts(pattern)
    return _length(ranges) or 1


def ends(pattern: str) -> tuple[str, ...]:
    """Return the first and the last name of each part of a range: where they are legal, all are.

    Raises:
        RangeError: As `count`.
    """
    prefix, ranges, suffix = _parts(pattern)
    if not ranges:
        return (prefix,)
    return tuple(
        f"{prefix}{number:0{width}d}{suffix}"
        for first, last, width in ranges
        for number in (first, last)
    )


# Each check of a group of hosts reads its three ranges, one check after the other.
@lru_cache(maxsize=4_096)
def _parts(pattern: str) -> tuple[str, tuple[tuple[int, int, int], ...], str]:
    found = _PARTS.fullmatch(pattern)
    if found is None or not re.fullmatch(RANGE_PATTERN, pattern):
        raise RangeError("SPEC115", found=pattern)
    prefix, inside, suffix = found.groups()
    if inside is None:
        return pattern, (), ""
    return prefix, tuple(_bounds(part, pattern) for part in inside.split(",")), suffix


def _length(ranges: tuple[tuple[int, int, int], ...]) -> int:
    return sum(last - first + 1 for first, last, _ in ranges)


def _bounds(part: str, pattern: str) -> tuple[int, int, int]:
    first, _, last = part.partition("-")
    last = last or first
    if int(last) < int(first):
        raise RangeError("SPEC401", found=pattern, first=first, last=last)
    return int(first), int(last), len(first)


def spread(hosts: int, racks: str, blocks: str) -> tuple[tuple[str, str], ...]:
    """Return the block and the rack of each of some number of hosts, neighbours together.

    Racks are shared out over the blocks, and hosts over the racks, so that no rack lies
    in two blocks.

    Raises:
        RangeError: As `expand` and `check_spread`.
    """
    check_spread(hosts, racks, blocks)
    rack_names, block_names = expand(racks), expand(blocks)
    places = (index * len(rack_names) // hosts for index in range(hosts))
    return tuple(
        (block_names[rack * len(block_names) // len(rack_names)], rack_names[rack])
        for rack in places
    )


def check_spread(hosts: int, racks: str, blocks: str) -> None:
    """Check that each rack gets a host and each block a rack.

    Raises:
        RangeError: SPEC405 for more racks than hosts, SPEC406 for more blocks than racks.
    """
    if count(racks) > hosts:
        raise RangeError("SPEC405", racks=count(racks), hosts=hosts)
    if count(blocks) > count(racks):
        raise RangeError("SPEC406", blocks=count(blocks), racks=count(racks))
