"""What each project gains or loses.

A project is known by its id. The same id under another key is a rename; another id under the
same key is a new namespace, and the old one stays with what is in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from tallyard.spec.changes import limits
from tallyard.spec.changes.change import (
    Cause,
    Change,
    Facts,
    Presence,
    Rank,
    Through,
    about,
    because,
    compared,
    presence,
)
from tallyard.spec.changes.facts import Fact
from tallyard.spec.model import Override, Platform, Project

_OF_TIER = frozenset(
    {
        Fact.CARDS,
        Fact.BORROW,
        Fact.CORE_HOURS,
        Fact.MAX_TIME,
        Fact.USER_SHARE,
        Fact.ROLLOVER,
        Fact.WEIGHT,
    }
)
_OF_GRANT = frozenset({Fact.CARDS, Fact.CORE_HOURS})


@dataclass(frozen=True)
class OverrideChange:
    """An override that came, went or says something else.

    `is_over_*` say whether it has ended by what stands on that side.
    """

    before: Override | None
    after: Override | None
    is_over_before: bool
    is_over_after: bool

    @property
    def presence(self) -> Presence:
        """Return whether it came, went or changed."""
        return presence(self.before, self.after)


@dataclass(frozen=True)
class ProjectChange:
    """A project that differs. `key` and `id` are those after, of a removed one those before.

    `key_before` and `id_before` are None where they are the same. `people` is how many users
    the project has, or had. `rename_of` is the project that went and that this new one looks
    like.
    """

    key: str
    id: str
    tier: str
    presence: Presence
    key_before: str | None
    id_before: str | None
    people: int
    changes: tuple[Change, ...]
    overrides: tuple[OverrideChange, ...]
    rename_of: ProjectChange | None = None


@dataclass(frozen=True)
class _Side:
    """A project within its platform."""

    platform: Platform
    project: Project


def projects(
    before: Platform | None, after: Platform | None, now: datetime
) -> Iterator[ProjectChange]:
    """Yield the projects that differ: those that are there after, then those that are gone."""
    burst = limits.pools_with_burst(before, after)
    for was, now_is in _pairs(before, after):
        found = _change(was, now_is, burst, now)
        if found is not None:
            yield found


def _pairs(
    before: Platform | None, after: Platform | None
) -> Iterator[tuple[_Side | None, _Side | None]]:
    old = {each.id: each for each in before.projects.values()} if before else {}
    new = {each.id: each for each in after.projects.values()} if after else {}
    by_key = {each.key: each for each in old.values() if each.id not in new}
    taken = set()
    for each in new.values():
        was = old.get(each.id) or by_key.get(each.key)
        taken.add(was.id if was else None)
        yield _side(before, was), _side(after, each)
    for each in old.values():
        if each.id not in taken:
            yield _side(before, each), None


def _side(platform: Platform | None, project: Project | None) -> _Side | None:
    return _Side(platform, project) if platform and project else None


def _change(
    was: _Side | None, now_is: _Side | None, burst: frozenset[str], now: datetime
) -> ProjectChange | None:
    side = now_is or was
    if side is None:
        return None
    shown = side.project
    differing = _own_shares(was) | _own_shares(now_is)
    changes = compared(_facts(was, burst, differing), _facts(now_is, burst, differing))
    if was and now_is:
        changes = tuple(
            because(each, _cause(each, changes, was, now_is, burst))
            for each in changes
            # Without cards there is nothing to last, for which the cards' own row is enough.
            if each.fact is not Fact.LASTS or None not in {each.before, each.after}
        )
    else:
        # It is told beside the project's name.
        changes = tuple(each for each in changes if each.fact is not Fact.TIER)
    found = ProjectChange(
        key=shown.key,
        id=shown.id,
        tier=shown.tier.name,
        presence=presence(was, now_is),
        key_before=was.project.key if was and was.project.key != shown.key else None,
        id_before=was.project.id if was and was.project.id != shown.id else None,
        people=len(shown.users),
        changes=changes,
        overrides=tuple(_overrides(was, now_is, now)),
    )
    is_same = not (found.changes or found.overrides or found.key_before or found.id_before)
    return None if is_same and was and now_is else found


def _facts(side: _Side | None, burst: frozenset[str], differing: frozenset[str]) -> Facts:
    if side is None:
        return {}
    platform, project = side.platform, side.project
    ranks = {
        (Fact.PRIORITY, about(pool=pool.name)): Rank(pool.priority.name, pool.priority.value)
        for pool in platform.pools_of(project)
    }
    shares = {
        (Fact.SHARE, about(user=user.name)): user.share
        for user in project.users
        if user.name in differing
    }
    return {
        **limits.of_limits(project.limits, limits.bursts(platform, burst)),
        **ranks,
        **shares,
        **{(Fact.USER, about(user=user.name)): user.logins for user in project.users},
        # Most people are none, and who comes or goes is told as a user.
        **{(Fact.ADMIN, about(user=user.name)): True for user in project.users if user.is_admin},
        (Fact.LASTS, ()): limits.lasting(project.limits, platform),
        (Fact.TIER, ()): project.tier.name,
        (Fact.WEIGHT, ()): project.tier.weight,
        (Fact.DEFAULT_USER, ()): project.default_user,
    }


def _own_shares(side: _Side | None) -> frozenset[str]:
    """Return the users whose share is not simply what each user of the project has."""
    if side is None:
        return frozenset()
    usual = side.project.limits.user_share
    return frozenset(user.name for user in side.project.users if user.share != usual)


def _cause(
    change: Change, others: tuple[Change, ...], was: _Side, now_is: _Side, burst: frozenset[str]
) -> Cause | None:
    """Return what else has changed so that this did."""
    pool = dict(change.about).get("pool", "")
    if change.fact is Fact.LASTS and not any(other.fact in _OF_GRANT for other in others):
        return Cause(Through.RATES)
    if change.fact is Fact.PRIORITY and None not in {change.before, change.after}:
        return _cause_of_rank(pool, was, now_is)
    return _cause_of_limit(change, was, now_is, burst) if change.fact in _OF_TIER else None


def _cause_of_rank(pool: str, was: _Side, now_is: _Side) -> Cause:
    """Return whether the pool has another priority, or the priority a value that is refused."""
    name = now_is.platform.pools[pool].priority.name
    old, new = (side.platform.priorities.get(name) for side in (was, now_is))
    if old is not None and new is not None and old.value != new.value:
        return Cause(Through.PRIORITY, name)
    return Cause(Through.POOL, pool)


def _cause_of_limit(change: Change, was: _Side, now_is: _Side, burst: frozenset[str]) -> Cause:
    names, tier = dict(change.about), now_is.project.tier.name
    key = (change.fact, change.about)
    old, new = _usual(was, burst), _usual(now_is, burst)
    if (old.get(key), new.get(key)) != (change.before, change.after):
        return Cause(Through.OVERRIDE)
    if was.project.tier.name != tier:
        return Cause(Through.OTHER_TIER, tier)
    if change.fact is Fact.BORROW and "model" in names:
        return Cause(Through.POOL, names["pool"])
    return Cause(Through.TIER, tier)


def _usual(side: _Side, burst: frozenset[str]) -> Facts:
    """Return the facts as they would be without overrides."""
    tier = side.project.tier
    without = replace(side, project=replace(side.project, limits=tier.limits))
    return _facts(without, burst, frozenset())


def _overrides(was: _Side | None, now_is: _Side | None, now: datetime) -> Iterator[OverrideChange]:
    """Yield the overrides that differ; those with the same reason are one and the same."""
    old = list(was.project.overrides) if was else []
    new = list(now_is.project.overrides) if now_is else []
    for each in tuple(new):
        if each in old:
            old.remove(each)
            new.remove(each)
    for each in new:
        same = next((one for one in old if one.reason == each.reason), None)
        if same is not None:
            old.remove(same)
        yield _override_change(same, each, now)
    yield from (_override_change(each, None, now) for each in old)


def _override_change(
    before: Override | None, after: Override | None, now: datetime
) -> OverrideChange:
    was, is_now = (each is not None and each.until <= now for each in (before, after))
    return OverrideChange(before, after, was, is_now)
