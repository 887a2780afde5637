"""What the overrides of a spec come to at a moment: they end by themselves. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType

from tallyard.spec.model import Limits, Override, Platform


def limits_at(base: Limits, overrides: tuple[Override, ...], at: datetime) -> Limits:
    """Return the limits with the overrides that have not ended."""
    for each in overrides:
        if at < each.until:
            base = Limits(
                cards=_merged(base.cards, each.cards),
                borrow=MappingProxyType({**base.borrow, **each.borrow}),
                core_hours=each.core_hours or base.core_hours,
                max_time_seconds=each.max_time_seconds or base.max_time_seconds,
                user_share=base.user_share,
                rollover=base.rollover,
            )
    return base


def platform_at(platform: Platform, at: datetime) -> Platform:
    """Return a platform as its spec means it at another moment than the one it was read at."""
    return replace(
        platform,
        projects=MappingProxyType(
            {
                key: replace(project, limits=limits_at(project.tier.limits, project.overrides, at))
                for key, project in platform.projects.items()
            }
        ),
    )


def ends(platform: Platform) -> tuple[datetime, ...]:
    """Return the moments at which overrides end or have ended, the earliest first."""
    every = (each.until for project in platform.projects.values() for each in project.overrides)
    return tuple(sorted(set(every)))


type _Cards = Mapping[str, Mapping[str, int]]


def _merged(cards: _Cards, others: _Cards) -> _Cards:
    return MappingProxyType(
        {
            pool: MappingProxyType({**models, **others.get(pool, {})})
            for pool, models in cards.items()
        }
    )
