"""One fact that differs between two platforms, with its unit and whether more of it is better.

Every kind of thing (a project, a pool, a price) is first written out as flat facts; two such
lists are compared here, in one way for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction

from tallyard.spec.changes.facts import KINDS, NAME, Fact, Unit
from tallyard.spec.model import CoreHours, Period

# Nothing of these is none of them.
_AMOUNTS = frozenset({Unit.CARDS, Unit.GRANT, Unit.LASTING, Unit.RANK})
_ORDER = {fact: index for index, fact in enumerate(Fact)}


@dataclass(frozen=True)
class Rank:
    """The priority of a queue: its name, and its value, by which it is compared."""

    name: str
    value: int


@dataclass(frozen=True)
class Lasting:
    """For how long a grant lasts while all cards are used: whole hours of its period, at most all.

    `share` is the exact part of the period; by it grants of different periods are compared.
    """

    hours: int
    period: Period
    share: Fraction = field(compare=False)


type Value = int | str | CoreHours | Lasting | Rank | tuple[str, ...] | None
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
    """What else has changed, so that a fact did; `priority` is one whose new value is refused."""

    TIER = "tier"
    OTHER_TIER = "other-tier"
    OVERRIDE = "override"
    POOL = "pool"
    RATES = "rates"
    PRIORITY = "priority"
    FROM_PROJECT = "from-project"
    TO_PROJECT = "to-project"


@dataclass(frozen=True)
class Cause:
    """Why a fact differs; `name` is that of the tier, pool, priority or project, or empty."""

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
        sides = (self.before, self.after)
        # A priority begins at no zero; and what nobody had has lasted for no time.
        begins_at_zero = not any(isinstance(each, (Rank, Lasting)) for each in sides)
        if self.is_of_other_period or (None in sides and not begins_at_zero):
            return None
        if self.unit in _AMOUNTS or all(map(self._is_amount, sides)):
            return _amount(self.after) - _amount(self.before)
        return None

    @property
    def percent(self) -> int | None:
        """Return the difference in per cent of what was before, rounded; None where that is nothing.

        Grants of different periods are compared by the hour.
        """
        less, more = _by_the_hour(self.before), _by_the_hour(self.after)
        if not less or (self.delta is None and not self.is_of_other_period):
            return None
        return round(100 * (more - less) / abs(less))

    @property
    def is_of_other_period(self) -> bool:
        """Return whether both are grants, each for another period."""
        match self.before, self.after:
            case (CoreHours() as before, CoreHours() as after) | (
                Lasting() as before,
                Lasting() as after,
            ):
                return before.period is not after.period
        return False

    @property
    def effect(self) -> int:
        """Return 1 for a gain, -1 for a loss, 0 for what is neither or will not come about."""
        if self.cause is not None and self.cause.through is Through.PRIORITY:
            return 0
        sign = KINDS.get(self.fact, NAME)[1]
        less, more = _by_the_hour(self.before), _by_the_hour(self.after)
        return sign * ((more > less) - (more < less))

    def _is_amount(self, value: Value) -> bool:
        """Say whether a value is a number that can be subtracted; how a card is shared is none."""
        is_number = isinstance(value, int) and not isinstance(value, bool)
        return is_number and self.unit is not Unit.SHARING


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


def _amount(value: Value) -> int:
    match value:
        case CoreHours():
            return value.amount
        case Lasting():
            return value.hours
        case Rank():
            return value.value
        case bool() | str() | tuple() | None:
            return 0
    return value


def _by_the_hour(value: Value) -> Fraction:
    """Return a value by which more and less are told, whatever its period."""
    if isinstance(value, CoreHours):
        return value.per_hour
    if isinstance(value, Lasting):
        return value.share
    return Fraction(_amount(value))
