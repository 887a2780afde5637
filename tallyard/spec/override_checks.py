"""Checks of overrides: each says something, that its tier knows, once, and not for ever."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from tallyard import units
from tallyard.spec import resolve
from tallyard.spec.draft import Draft
from tallyard.spec.keys_of_projects import OverrideKeys, ProjectKeys, TierKeys
from tallyard.spec.problem import Problem
from tallyard.spec.tree import Step, Steps

# What holds for longer than this is no exception any more.
LENGTH_MAX = timedelta(days=366)


def ends(draft: Draft) -> Iterator[Problem]:
    """An override ends, and within a year; one that has ended is to be deleted (a warning)."""
    if not draft.is_sound("time-zone"):
        return
    for key, project in draft.platform.keys.projects.items():
        for index, override in enumerate(project.overrides):
            steps = ("projects", key, "overrides", index, "until")
            left = draft.end(override.until) - draft.now
            if left <= timedelta():
                yield draft.problem("SPEC609", *steps, found=override.until)
            elif left > LENGTH_MAX:
                yield draft.problem("SPEC612", *steps, found=override.until)


def changes(draft: Draft) -> Iterator[Problem]:
    """An override that has not ended changes something that the project has, and nothing twice."""
    for key, project in draft.platform.keys.projects.items():
        tier = draft.platform.keys.tiers.get(project.tier)
        taken: dict[Steps, str] = {}
        for index, override in draft.overrides_in_force(key):
            steps = ("projects", key, "overrides", index)
            if not any(_changes(override)):
                yield draft.problem("SPEC611", *steps)
            if tier is not None and draft.is_sound("tiers"):
                yield from _ungranted(draft, steps, override, tier)
                yield from _unchanged(draft, steps, override, tier)
            yield from _overlaps(draft, steps, override, taken)


def _ungranted(
    draft: Draft, steps: tuple[Step, ...], override: OverrideKeys, tier: TierKeys
) -> Iterator[Problem]:
    """Yield where an override is for what the tier has no queue for; a pool once."""
    for pool in dict.fromkeys((*override.cards, *override.borrow)):
        keys = draft.platform.keys.pools.get(pool)
        if keys is None or keys.borrows_from is not None:
            continue  # told by itself
        section = "cards" if pool in override.cards else "borrow"
        if pool not in tier.cards:
            yield draft.problem_at_key("SPEC613", *steps, section, pool, found=pool)
            continue
        models = draft.owned_models(pool) or ()
        for model in override.cards.get(pool, {}):
            if model in models and model not in tier.cards[pool]:
                yield draft.problem_at_key("SPEC613", *steps, "cards", pool, model, found=model)


def _unchanged(
    draft: Draft, steps: tuple[Step, ...], override: OverrideKeys, tier: TierKeys
) -> Iterator[Problem]:
    usual = dict(_usual(tier))
    for place, value, text in _changes(override):
        if usual.get(place) == value:
            yield draft.problem("SPEC615", *steps, *place, found=text)


def _overlaps(
    draft: Draft, steps: tuple[Step, ...], override: OverrideKeys, taken: dict[Steps, str]
) -> Iterator[Problem]:
    for place, _, _ in _changes(override):
        if place in taken:
            yield draft.problem_at_key(
                "SPEC610", *steps, *place, found=place[-1], other=taken[place]
            )
        taken.setdefault(place, override.until)


def _changes(override: OverrideKeys) -> Iterator[tuple[Steps, object, object]]:
    """Yield where an override says something, what it means, and how it is written."""
    for pool, models in override.cards.items():
        for model, cards in models.items():
            yield ("cards", pool, model), cards, cards
    for pool, most in override.borrow.items():
        yield ("borrow", pool), most, most
    if (grant := override.core_hours) is not None:
        yield ("core-hours",), resolve.core_hours(grant), grant
    if (time := override.max_time) is not None:
        yield ("max-time",), units.parse_duration(time), time


def _usual(tier: TierKeys) -> Iterator[tuple[Steps, object]]:
    """Yield what the tier says in the places where an override can."""
    yield ("core-hours",), resolve.core_hours(tier.core_hours)
    yield ("max-time",), units.parse_duration(tier.max_time)
    for pool, models in tier.cards.items():
        yield ("borrow", pool), tier.borrow.get(pool, 0)
        for model, cards in models.items():
            yield ("cards", pool, model), cards


def default_users(draft: Draft) -> Iterator[Problem]:
    """Who pays for service accounts is one of the project's people."""
    for key, project in draft.platform.keys.projects.items():
        wanted = project.default_user
        if wanted is not None and draft.is_sound("projects") and wanted not in project.users:
            yield _unknown_user(draft, key, project)


def _unknown_user(draft: Draft, key: str, project: ProjectKeys) -> Problem:
    return draft.problem(
        *("SPEC608", "projects", key, "default-user"),
        found=project.default_user,
        choices=tuple(project.users),
    )


CHECKS = (ends, changes, default_users)
