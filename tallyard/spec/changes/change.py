"""One fact that differs between two platforms, with its unit and whether more of it is better.

Every kind of thing (a project, a pool, a price) is first written out as flat facts; two such
lists are compared here, in one way for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

from tallyard.spec.changes.facts import KINDS, NAME, Fact, Unit
from tallyard.spec.grant_checks import HOURS
from tallyard.spec.model import CoreHours

_ORDER = {fact: index for index, fact in enumerate(Fact)}


@dataclass(frozen=True)
class Rank:
    """The priority of a queue: its name, and its value, by which it is compared."""

    name: str
    value: int


type Value = int | str | CoreHours | Rank | tuple[str, ...] | None
# What the fact is about, widest first: (("pool", "training"), ("model", "A100")).
type About = tuple[tuple[str, str], ...]
type Facts = Mapping[tuple[Fact, About], Value]


class Presence(StrEnum):
    """Whether something is in both platforms or in one of them."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    SAME = "same"


class Through(StrEnum):
    """What else has changed, so that a project's fact did."""

    TIER = "tier"
    OTHER_TIER = "other-tier"
    OVERRIDE = "override"
    POOL = "pool"
    RATES = "rates"


@dataclass(frozen=True)
class Cause:
    """Why a fact of a project differs; `name` is the tier's or the pool's, empty for others."""

    through: Through
    name: str = ""


@dataclass(frozen=True)
class Change:
    """One fact before and after; None where there is no such thing, or no such limit."""

    fact: Fact
    about: About
    before: Value
    after: Value
    cause: Cause | None = None

    @property
    def unit(self) -> Unit:
        """Return the unit of both values."""
        return KINDS.get(self.fact, NAME)[0]

    @property
    def delta(self) -> int | None:
        """Return how much more it is, in the unit; None where it cannot be subtracted."""
        before, after = self.before, self.after
        match before, after:
            case CoreHours(), CoreHours() if before.period is not after.period:
                return None
            case (CoreHours() | None, CoreHours() | None) | (Rank() | None, Rank() | None):
                # A priority of its own scale begins at no zero.
                if isinstance(before or after, Rank) and None in {before, after}:
                    return None
                return _amount(after) - _amount(before)
        if self.unit in {Unit.CARDS, Unit.GRANT} or (_is_number(before) and _is_number(after)):
            return _amount(after) - _amount(before)
        return None

    @property
    def percent(self) -> int | None:
        """Return the difference in per cent of what was before, rounded; None where that is nothing."""
        if self.delta is None or not _amount(self.before):
            return None
        return round(Fraction(100 * self.delta, abs(_amount(self.before))))

    @property
    def effect(self) -> int:
        """Return 1 for a gain, -1 for a loss, 0 for what is neither."""
        sign = KINDS.get(self.fact, NAME)[1]
        less, more = _by_the_hour(self.before), _by_the_hour(self.after)
        return sign * ((more > less) - (more < less))


@dataclass(frozen=True)
class Subject:
    """A thing that people share (a tier, a price, a pool), and what differs in it."""

    kind: str
    name: str
    presence: Presence
    changes: tuple[Change, ...]
    used_by: tuple[str, ...] = ()


def about(**of: str) -> About:
    """Return what a fact is about."""
    return tuple(of.items())


def compared(before: Facts, after: Facts) -> tuple[Change, ...]:
    """Return the facts that differ, in the order of `Fact`."""
    keys = sorted(dict.fromkeys((*after, *before)), key=lambda key: _ORDER[key[0]])
    changes = (Change(*key, before.get(key), after.get(key)) for key in keys)
    return tuple(each for each in changes if not _is_same(each))


def presence(before: object, after: object) -> Presence:
    """Return whether something came, went or stayed; None stands for what is not there."""
    if before is None:
        return Presence.ADDED
    return Presence.REMOVED if after is None else Presence.CHANGED


def because(change: Change, cause: Cause | None) -> Change:
    """Return the change with its cause."""
    return replace(change, cause=cause)


def _is_same(change: Change) -> bool:
    if change.fact is Fact.BORROW:
        # A queue that may borrow nothing is like one that is not there.
        return (change.before or 0) == (change.after or 0)
    return change.before == change.after


def _is_number(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _amount(value: Value) -> int:
    match value:
        case CoreHours():
            return value.amount
        case Rank():
            return value.value
        case bool() | str() | tuple() | None:
            return 0
    return value


def _by_the_hour(value: Value) -> Fraction:
    """Return a value by which more and less are told, whatever its period."""
    if isinstance(value, CoreHours):
        return value.amount / HOURS[value.period]
    return Fraction(_amount(value))
