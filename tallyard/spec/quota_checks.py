"""Checks of tiers: what is granted exists, and all grants together are installed."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass

from tallyard import units
from tallyard.spec import resolve, sums
from tallyard.spec.draft import Draft
from tallyard.spec.keys_of_projects import TierKeys
from tallyard.spec.problem import Problem
from tallyard.spec.tree import Steps


@dataclass(frozen=True)
class _Grantor:
    """A tier, or an override that is in force: where it stands, and the cards that go with it."""

    steps: Steps
    cards: Mapping[str, Mapping[str, int]]
    borrow: Mapping[str, int]
    # What the queues that may borrow have when it holds: an override's tier grants what it does
    # not name.
    all_cards: Mapping[str, Mapping[str, int]]


def _grantors(draft: Draft) -> Iterator[_Grantor]:
    keys = draft.platform.keys
    for name, tier in keys.tiers.items():
        yield _Grantor(("tiers", name), tier.cards, tier.borrow, tier.cards)
    for name, project in keys.projects.items():
        usual = keys.tiers[project.tier].cards if project.tier in keys.tiers else {}
        for index, each in draft.overrides_in_force(name):
            merged = {
                pool: {**usual[pool], **each.cards.get(pool, {})}
                for pool in each.borrow
                if pool in usual
            }
            yield _Grantor(("projects", name, "overrides", index), each.cards, each.borrow, merged)


def granted_pools(draft: Draft) -> Iterator[Problem]:
    """Cards are granted where there are some: of models that the pool lists and owns."""
    known = draft.names.get("accelerators", ())
    for grantor in _grantors(draft):
        for pool, cards in grantor.cards.items():
            steps = (*grantor.steps, "cards", pool)
            yield from _owning(draft, steps, pool)
            models = draft.owned_models(pool)
            for model in cards:
                if models is not None and model in known and model not in models:
                    yield draft.problem_at_key(
                        "SPEC503", *steps, model, found=model, pool=pool, choices=models
                    )


def _owning(draft: Draft, steps: Steps, pool: str) -> Iterator[Problem]:
    """Yield a problem if the pool owns nothing that could be granted or lent."""
    found = draft.platform.keys.pools.get(pool)
    if found is not None and found.borrows_from is not None:
        yield draft.problem_at_key("SPEC502", *steps, found=pool, lender=found.borrows_from)


def borrowing(draft: Draft) -> Iterator[Problem]:
    """A limit for borrowing stands only for a pool in which the tier has a queue of its own."""
    for grantor in _grantors(draft):
        for pool in grantor.borrow:
            yield from _owning(draft, (*grantor.steps, "borrow", pool), pool)
    if not draft.is_sound("tiers"):
        return
    for tier, keys in draft.platform.keys.tiers.items():
        for pool in keys.borrow:
            if pool in keys.cards or not _may_own(draft, pool):
                continue
            yield draft.problem_at_key(
                "SPEC504", "tiers", tier, "borrow", pool, found=pool, tier=tier
            )


def _may_own(draft: Draft, pool: str) -> bool:
    """Return whether the pool has cards of its own, as far as is known."""
    found = draft.platform.keys.pools.get(pool)
    is_written = pool in draft.names.get("pools", (pool,))
    return is_written and (found is None or found.borrows_from is None)


def borrowing_limits(draft: Draft) -> Iterator[Problem]:
    """A queue has one limit for borrowing, and it is not more than there is."""
    installed, allowed = draft.installed, sums.allowed(draft)
    for grantor in _grantors(draft):
        for pool, most in grantor.borrow.items():
            steps = (*grantor.steps, "borrow", pool)
            found = draft.platform.keys.pools.get(pool)
            if found is not None and found.burst is not None:
                # Where there is no queue at all, that is told.
                if pool not in grantor.all_cards and draft.is_sound("tiers"):
                    continue
                yield draft.problem_at_key("SPEC507", *steps, pool=pool, value=found.burst)
                continue
            granted = {(pool, model): n for model, n in grantor.all_cards.get(pool, {}).items()}
            if installed is None or allowed is None or not granted.keys() <= installed.keys():
                continue
            # A grant that alone is too much is told as such.
            is_too_much = any(cards > allowed[place] for place, cards in granted.items())
            beyond = max((installed[at] - cards for at, cards in granted.items()), default=most)
            if most > max(beyond, 0) and not is_too_much:
                yield draft.problem("SPEC508", *steps, found=most, pool=pool, limit=max(beyond, 0))


def tiers(draft: Draft) -> Iterator[Problem]:
    """Each tier has a project and says something of its own."""
    keys = draft.platform.keys
    if not draft.is_sound("tiers", "projects"):
        return
    used = {project.tier for project in keys.projects.values()}
    # A project whose tier nothing has may have meant the one that nobody has.
    is_known = used <= set(keys.tiers)
    first: dict[Hashable, str] = {}
    for tier, found in keys.tiers.items():
        other = first.setdefault(_meaning(found), tier)
        if other != tier:
            yield draft.problem_at_key("SPEC506", "tiers", tier, found=tier, other=other)
        elif is_known and tier not in used:
            yield draft.problem_at_key("SPEC505", "tiers", tier, found=tier)


def _meaning(tier: TierKeys) -> Hashable:
    """Return what a tier says, alike for two that say the same in other words or another order."""
    cards = {(pool, model, n) for pool, of in tier.cards.items() for model, n in of.items()}
    return (
        tier.weight,
        resolve.core_hours(tier.core_hours),
        units.parse_duration(tier.max_time),
        tier.user_share,
        tier.rollover,
        frozenset(cards),
        frozenset(tier.cards),
        frozenset(tier.borrow.items()),
    )


def promises_later(draft: Draft) -> Iterator[Problem]:
    """What an override has freed is not promised to others beyond its end: on that day the
    sums would be refused, and nobody would have changed a word."""
    limits = sums.allowed(draft) or {}
    for (pool, model), excess in sums.broken_later(draft).items():
        ending, grants = excess.ending, excess.grants
        yield draft.problem(
            *("SPEC518", "projects", ending.project, "overrides", ending.index),
            *("cards", pool, model),
            until=ending.until,
            model=model,
            pool=pool,
            total=sums.promised(grants),
            terms=_summands(grants),
            limit=limits[pool, model],
            overlay=draft.overlay.tree.location.file,
        )


def promises(draft: Draft) -> Iterator[Problem]:
    """No more cards are promised than are installed, or than `overcommit` allows: Kueue would
    promise them in silence."""
    installed, allowed, granted = draft.installed, sums.allowed(draft), sums.granted(draft)
    if installed is None or allowed is None:
        return
    for (pool, model), total in sums.broken(draft).items():
        grants = granted[pool, model]
        yield draft.problem(
            "SPEC501",
            *_largest_first(grants)[0].steps,
            model=model,
            pool=pool,
            total=total,
            terms=_summands(grants),
            installed=installed[pool, model],
            limit=allowed[pool, model],
            overlay=draft.overlay.tree.location.file,
        )


def _largest_first(grants: Mapping[sums.Grant, int]) -> list[sums.Grant]:
    return sorted(grants, key=lambda each: -each.cards * grants[each])


def _summands(grants: Mapping[sums.Grant, int]) -> str:
    """Return a sum's terms, so sorted that a long one that is cut keeps what matters."""
    largest = _largest_first(grants)
    return " + ".join(f"{sums.label(at.steps)} {at.cards} x {grants[at]}" for at in largest)


CHECKS = (granted_pools, borrowing, borrowing_limits, tiers, promises, promises_later)
