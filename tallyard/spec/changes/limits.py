"""What tiers and projects may use, as facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tallyard.spec.changes.change import About, Facts, Subject, about, compared, presence
from tallyard.spec.changes.facts import Fact
from tallyard.spec.model import Limits, Platform, Tier

_PERCENT = 100
_MILLI = 1000

type Bursts = Mapping[str, int | None]


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
    }


def hours_at_full_quota(limits: Limits, platform: Platform) -> int | None:
    """Return for how many whole hours the core-hours last while all cards are used.

    None where there are no cards.
    """
    rate = sum(
        cards * platform.accelerators[model].rate_milli
        for models in limits.cards.values()
        for model, cards in models.items()
    )
    return limits.core_hours.amount * _MILLI // rate if rate else None


def tiers(before: Platform | None, after: Platform | None) -> Iterator[Subject]:
    """Yield the tiers that differ; also those that no project has."""
    old, new = before.tiers if before else {}, after.tiers if after else {}
    projects = [each for side in (after, before) if side for each in side.projects.values()]
    for name in dict.fromkeys((*new, *old)):
        was, now = old.get(name), new.get(name)
        changes = compared(_of_tier(was), _of_tier(now))
        if changes:
            yield Subject(
                "tier",
                name,
                presence(was, now),
                changes,
                tuple(dict.fromkeys(each.key for each in projects if each.tier.name == name)),
            )


def bursts(platform: Platform, pools: Iterable[str]) -> Bursts:
    """Return what these pools give of burst."""
    return {pool: platform.pools[pool].burst if pool in platform.pools else None for pool in pools}


def pools_with_burst(*platforms: Platform | None) -> frozenset[str]:
    """Return the pools that have burst in one of the platforms."""
    return frozenset(
        name
        for platform in platforms
        if platform
        for name, pool in platform.pools.items()
        if pool.burst is not None
    )


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
        burst = bursts[pool]
        for model, cards in models.items():
            most = usual if burst is None else cards * burst // _PERCENT
            yield (Fact.BORROW, about(pool=pool, model=model)), most
