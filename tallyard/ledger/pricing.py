"""What a pod costs for an hour, and how long it was used.

A pod's rate is its cards' rate and what it asks beyond what the cards include; it is rounded
once, half to even, to a thousandth of a core-hour per hour.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from tallyard.ledger import amounts
from tallyard.spec.model import Platform, Price, Uneven

_MILLI = 1000
_GIB = 2**30
_PER_CENT = 100


@dataclass(frozen=True)
class Ask:
    """What one pod asks for.

    `slices` are whole cards of `model`, or slices of one where a card has `slices_per_card`;
    a MIG instance is as many slices of its board as it takes. `cpu_milli` are thousandths.
    """

    cpu_milli: int
    memory_bytes: int
    model: str | None = None
    slices: int = 0
    slices_per_card: int = 1


def rate(platform: Platform, ask: Ask, card_rate_milli: int = 0) -> int:
    """Return what a pod costs for one hour, in thousandths of a core-hour.

    Args:
        platform: What a card includes, and how uneven asks are priced.
        ask: What the pod asks.
        card_rate_milli: What one whole card of its model costs at this time.
    """
    cards = Fraction(ask.slices, ask.slices_per_card)
    cpu, memory = Fraction(ask.cpu_milli, _MILLI), Fraction(ask.memory_bytes, _GIB)
    if ask.model is not None:
        card = platform.accelerators[ask.model]
        cpu -= cards * card.includes_cpu
        memory -= cards * Fraction(card.includes_memory_bytes, _GIB)
    beyond = _uneven(platform.price, max(cpu, Fraction()), max(memory, Fraction()))
    return round(cards * card_rate_milli + beyond * _MILLI)


def wait_rate(price: Price, rate_milli: int) -> int:
    """Return what an hour of waiting costs work of a rate, in thousandths of a core-hour."""
    return round(Fraction(rate_milli * price.wait_charged, _PER_CENT))


def used(rate_milli: int, intervals: Iterable[tuple[int, int]]) -> int:
    """Return what a pod costs that ran in these intervals (seconds since 1970, UTC)."""
    return amounts.of_rate(rate_milli, seconds_of(intervals))


def seconds_of(intervals: Iterable[tuple[int, int]]) -> int:
    """Return how many seconds are in at least one of the intervals.

    One that ends before it begins is of a clock that went back, and has none; what two have in
    common counts once.
    """
    total, until = 0, 0
    for begin, end in sorted(intervals):
        total += max(0, end - max(begin, until))
        until = max(until, end)
    return total


def _uneven(price: Price, cpu: Fraction, memory: Fraction) -> Fraction:
    if price.uneven is Uneven.MEAN:
        return (cpu + memory) / 2
    return max(cpu, memory)
