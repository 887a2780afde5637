"""What there is to grant, of cards and of core-hours, and how much of it is granted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from tallyard.spec.model import Period, Platform, core_hours_a_month

_MILLI = 1000


@dataclass(frozen=True)
class Supply:
    """Whole cards of one model in one pool; each gives `slices` of itself.

    `allowed` is how many of them may be granted together, by `overcommit`.
    """

    installed: int
    allowed: int
    granted: int
    slices: int

    @property
    def unassigned(self) -> int:
        """Return what no project is granted; nothing where more is granted than there is."""
        return max(self.installed - self.granted, 0)


@dataclass(frozen=True)
class SupplyChange:
    """What there is of a model in a pool before and after."""

    pool: str
    model: str
    before: Supply
    after: Supply


@dataclass(frozen=True)
class Budget:
    """Core-hours a month: what all cards can give, what of it may be granted, and what is.

    All in whole core-hours; `granted` is rounded up and the others down, as the check of the
    spec tells them. `availability` is in per cent of all hours.
    """

    given: int
    allowed: int
    granted: int
    availability: int

    @property
    def unassigned(self) -> int:
        """Return what no project is granted; nothing where more is granted than there is."""
        return max(self.given - self.granted, 0)


@dataclass(frozen=True)
class BudgetChange:
    """The core-hours of the whole platform before and after."""

    before: Budget
    after: Budget

    @property
    def differs(self) -> bool:
        """Return whether anything of it has changed."""
        return self.before != self.after


def supply_changes(before: Platform | None, after: Platform | None) -> Iterator[SupplyChange]:
    """Yield the pools and models of which another number is installed, allowed or granted."""
    places = dict.fromkeys((*_places(after), *_places(before)))
    for pool, model in places:
        was, now = _supply(before, pool, model), _supply(after, pool, model)
        if was != now:
            yield SupplyChange(pool, model, was, now)


def budgets(before: Platform | None, after: Platform | None) -> BudgetChange:
    """Return the core-hours of both platforms, which may be the same."""
    return BudgetChange(_budget(before), _budget(after))


def _places(platform: Platform | None) -> Iterator[tuple[str, str]]:
    for pool in platform.pools.values() if platform else ():
        if pool.borrows_from is None:
            yield from ((pool.name, model) for model in pool.models)


def _supply(platform: Platform | None, pool: str, model: str) -> Supply:
    if platform is None or pool not in platform.pools:
        return Supply(0, 0, 0, 1)
    installed = platform.cards_installed(pool, model)
    return Supply(
        installed,
        installed * platform.overcommit.cards_milli // _MILLI,
        platform.cards_granted(pool, model),
        platform.pools[pool].slices,
    )


def _budget(platform: Platform | None) -> Budget:
    if platform is None:
        return Budget(0, 0, 0, 0)
    cards = Counter[str | None]()
    for node in platform.nodes:
        cards[node.model] += node.cards
    rate = sum(card.rate_milli * cards[name] for name, card in platform.accelerators.items())
    given = core_hours_a_month(rate, platform.availability)
    allowed = given * platform.overcommit.core_hours_milli / _MILLI
    grants = (each.limits.core_hours for each in platform.projects.values())
    granted = sum((each.per_hour * Period.MONTH.hours for each in grants), Fraction())
    return Budget(int(given), int(allowed), -int(-granted // 1), platform.availability)
