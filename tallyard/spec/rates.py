"""What cards cost for an hour, how long core-hours last, and amounts of them as people read them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction

from tallyard.spec import fields, resolve, sums, terms
from tallyard.spec.draft import Draft, Place
from tallyard.spec.model import Period
from tallyard.spec.terms import Terms

_MILLI = 1000
_CENT = 100


def rate_of(draft: Draft, cards: Iterable[tuple[Place, int]]) -> int:
    """Return what cards cost together for one hour, in thousandths."""
    return sum(number * rate(draft, model) for (_, model), number in cards)


def rate(draft: Draft, model: str) -> int:
    """Return a model's rate in thousandths; nothing for one that is not there."""
    card = draft.platform.keys.accelerators.get(model)
    return resolve.milli(card.rate) if card is not None else 0


def nearest(rate_milli: int, divisor: int) -> tuple[int, ...]:
    """Return the rates next below and above one that a number divides, in thousandths.

    One that no spec may have is left out.
    """
    below = rate_milli - rate_milli % divisor
    least, most = round(fields.RATE_MIN * _MILLI), fields.RATE_MAX * _MILLI
    return tuple(each for each in (below, below + divisor) if least <= each <= most)


def short_terms(draft: Draft) -> list[Terms]:
    """Return the terms whose core-hours do not last a day; those of projects if only theirs."""
    allowed = sums.allowed(draft)
    tiers = [each for each in terms.of_tiers(draft) if _is_short(draft, allowed, each)]
    names = {each.tier for each in tiers}
    return tiers + [
        each
        for each in terms.overridden(draft)
        if each.tier not in names and _is_short(draft, allowed, each)
    ]


def _is_short(draft: Draft, allowed: Mapping[Place, int] | None, each: Terms) -> bool:
    # More cards than can be there are told as such.
    sure = ((place, at_most(allowed, place, cards)) for place, cards in each.granted())
    return each.amount * _MILLI < rate_of(draft, sure) * Period.DAY.hours


def at_most(limits: Mapping[Place, int] | None, place: Place, cards: int) -> int:
    """Return the cards, or as many as there can be where that is known."""
    return cards if limits is None or place not in limits else min(cards, limits[place])


def rounded_up(amount: Fraction) -> str:
    """Return an amount of core-hours with at most two decimals."""
    return _number(math.ceil(amount * _CENT))


def rounded_down(amount: Fraction) -> str:
    """Return the same for a limit, so that what is above it is never shown as equal to it."""
    return _number(math.floor(amount * _CENT))


def _number(cents: int) -> str:
    whole, rest = divmod(cents, _CENT)
    return f"{whole}.{rest:02}".rstrip("0") if rest else str(whole)
