"""Checks of waivers: each ends, and within a year, and nothing is waived twice.

Both files' lists hold together, so what stands in the one can repeat what stands in the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from tallyard.spec.draft import Draft
from tallyard.spec.override_checks import LENGTH_MAX
from tallyard.spec.problem import Problem
from tallyard.spec.tree import Steps, Tree, find


def ends(draft: Draft) -> Iterator[Problem]:
    """A waiver ends, and within a year; one that has ended is to be deleted (a warning)."""
    if not draft.is_sound("time-zone"):
        return
    for tree, index, waiver in draft.waivers():
        left = draft.end(waiver.until) - draft.now
        steps = ("waivers", index, "until")
        if left <= timedelta():
            yield _problem("SPEC701", tree, steps, found=waiver.until, rule=waiver.rule)
        elif left > LENGTH_MAX:
            yield _problem("SPEC702", tree, steps, found=waiver.until)


def repeats(draft: Draft) -> Iterator[Problem]:
    """A rule is waived for the same objects once; of what has ended nothing is told."""
    taken: dict[tuple[str, str], str] = {}
    for tree, index, waiver in draft.waivers():
        if draft.end(waiver.until) <= draft.now:
            continue
        for number, objects in enumerate(waiver.objects):
            place = (waiver.rule, objects)
            if place in taken:
                values = {"rule": waiver.rule, "other": taken[place]}
                yield _problem("SPEC703", tree, ("waivers", index, "objects", number), **values)
            taken.setdefault(place, waiver.until)


def _problem(code: str, tree: Tree, steps: Steps, **values: object) -> Problem:
    node = find(tree, steps)
    return Problem(code, node.location, node.path, values)


CHECKS = (ends, repeats)
