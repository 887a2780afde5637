"""People who go from one project to another, and projects that may only have a new key.

A project is known by its id, which is its key where it has none of its own. So a key that is
changed alone is one project that goes and one that comes. Who wrote it may have meant a new
name; the same tier and mostly the same people say so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from tallyard.spec.changes.change import Cause, Change, Presence, Through, because
from tallyard.spec.changes.facts import Fact
from tallyard.spec.changes.projects import ProjectChange
from tallyard.spec.model import Platform


def with_moves(projects: Iterable[ProjectChange]) -> tuple[ProjectChange, ...]:
    """Return the projects; who has left one of them and come into one is told of both."""
    found = tuple(projects)
    came, left = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for project in found:
        for change in _people(project):
            side = came if change.before is None else left
            side[_name(change)].append(project.key)
    moved = {name for name in came if len(came[name]) == len(left.get(name, ())) == 1}

    def told(change: Change) -> Change:
        name = _name(change) if change.fact is Fact.USER else ""
        if name not in moved or None not in {change.before, change.after}:
            return change
        if change.before is None:
            return because(change, Cause(Through.FROM_PROJECT, left[name][0]))
        return because(change, Cause(Through.TO_PROJECT, came[name][0]))

    return tuple(replace(each, changes=tuple(map(told, each.changes))) for each in found)


def with_likely_renames(
    projects: Iterable[ProjectChange], before: Platform | None, after: Platform | None
) -> tuple[ProjectChange, ...]:
    """Return the projects; a new one that may be one that went says which (`rename_of`)."""
    found = list(projects)
    if before is None or after is None:
        return tuple(found)
    old, new = _users(before), _users(after)
    gone = [each for each in found if each.presence is Presence.REMOVED]
    for index, each in enumerate(found):
        if each.presence is not Presence.ADDED:
            continue
        likes = [one for one in gone if _is_like(one, each, old[one.id], new[each.id])]
        if likes:
            common = {one.id: len(old[one.id] & new[each.id]) for one in likes}
            likely = max(likes, key=lambda one: common[one.id])
            gone.remove(likely)
            found[index] = replace(each, rename_of=likely)
    return tuple(found)


def _is_like(
    old: ProjectChange, new: ProjectChange, was: frozenset[str], now_is: frozenset[str]
) -> bool:
    is_mostly_same = 2 * len(was & now_is) > max(len(was), len(now_is))
    return old.tier == new.tier and is_mostly_same


def _users(side: Platform) -> Mapping[str, frozenset[str]]:
    """Return the names of each project's users, by its id."""
    return {each.id: frozenset(user.name for user in each.users) for each in side.projects.values()}


def _people(project: ProjectChange) -> Iterator[Change]:
    for change in project.changes:
        if change.fact is Fact.USER and None in {change.before, change.after}:
            yield change


def _name(change: Change) -> str:
    return dict(change.about)["user"]
