"""What tiers and projects may use, as facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from tallyard.spec.changes.change import (
    About,
    Facts,
    Lasting,
    Subject,
    about,
    compared,
    presence,
)
from tallyard.spec.changes.facts import Fact
from tallyard.spec.model import Limits, Platform, Pool, Tier

_MILLI = 1000

type Bursts = Mapping[str, Pool | None]


def of_limits(limits: Limits, bursts: Bursts) -> Facts:
    """Return the facts of limits.

    Args:
        limits: A tier's or a project's.
        bursts: The pools in which one of the two platforms gives a queue room in per cent of
            its cards; there borrowing is told for each model.
    """
    cards = {
        (Fact.CARDS, about(pool=pool, model=model)): number
        for pool, models in limits.cards.items()
        for model, number in models.items()
    }
    return {
        **cards,
        **dict(_borrowing(limits, bursts)),
        (Fact.CORE_HOURS, ()): limits.core_hours,
        (Fact.MAX_TIME, ()): limits.max_time_seconds,
        (Fact.USER_SHARE, ()): limits.user_share,
        (Fact.ROLLOVER, ()): limits.rollover,
    }


def lasting(limits: Limits, platform: Platform) -> Lasting | None:
    """Return for how long the core-hours last while all cards are used.

    None where there are no cards.
    """
    rate = sum(
        cards * platform.accelerators[model].rate_milli
        for models in limits.cards.values()
        for model, cards in models.items()
    )
    if not rate:
        return None
    grant, length = limits.core_hours, limits.core_hours.period.hours
    hours = min(Fraction(grant.amount * _MILLI, rate), length)
    return Lasting(int(hours), grant.period, hours / length)


def tiers(before: Platform | None, after: Platform | None) -> Iterator[Subject]:
    """Yield the tiers that differ; also those that no project has."""
    old, new = before.tiers if before else {}, after.tiers if after else {}
    for name in dict.fromkeys((*new, *old)):
        was, now = old.get(name), new.get(name)
        changes = compared(_of_tier(was), _of_tier(now))
        if changes:
            yield Subject(
                "tier",
                name,
                presence(was, now),
                changes,
                tuple(_used_by(name, after if now else before, after)),
            )


def bursts(platform: Platform, pools: Iterable[str]) -> Bursts:
    """Return these pools as the platform has them; None for one that it does not have."""
    return {pool: platform.pools.get(pool) for pool in pools}


def pools_with_burst(*platforms: Platform | None) -> frozenset[str]:
    """Return the pools that have burst in one of the platforms."""
    return frozenset(
        name
        for platform in platforms
        if platform
        for name, pool in platform.pools.items()
        if pool.burst is not None
    )


def _used_by(tier: str, side: Platform | None, after: Platform | None) -> Iterator[str]:
    """Yield the projects that have a tier on one side, as they are called after."""
    keys = {each.id: each.key for each in after.projects.values()} if after else {}
    for project in side.projects.values() if side else ():
        if project.tier.name == tier:
            yield keys.get(project.id, project.key)


def _of_tier(tier: Tier | None) -> Facts:
    if tier is None:
        return {}
    return {**of_limits(tier.limits, {}), (Fact.WEIGHT, ()): tier.weight}


def _borrowing(limits: Limits, bursts: Bursts) -> Iterator[tuple[tuple[Fact, About], int]]:
    for pool, models in limits.cards.items():
        usual = limits.borrow.get(pool, 0)
        if pool not in bursts:
            yield (Fact.BORROW, about(pool=pool)), usual
            continue
        found = bursts[pool]
        for model, cards in models.items():
            most = found.borrow_limit(cards, usual) if found else usual
            yield (Fact.BORROW, about(pool=pool, model=model)), most
