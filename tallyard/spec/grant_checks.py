"""Checks of core-hours: would somebody who knows the numbers believe this spec?

All sums are exact. A grant is compared by the hour: a day has 24, a week 168, and a month
730.5 of them (a twelfth of a year of 365.25 days).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import groupby

from tallyard import units
from tallyard.spec import rates, resolve, sums, terms
from tallyard.spec.draft import Draft
from tallyard.spec.model import CoreHours, Period, core_hours_a_month
from tallyard.spec.problem import Problem
from tallyard.spec.tree import Steps

_MILLI = 1000
_SECONDS = 3600

type _Grants = Counter[tuple[Steps, CoreHours]]


def lasting(draft: Draft) -> Iterator[Problem]:
    """A tier's core-hours last for a day or more when all of its cards are used."""
    if not draft.is_sound("accelerators", "tiers"):
        return
    for each in rates.short_terms(draft):
        rate = rates.rate_of(draft, each.granted())
        seconds = Fraction(each.amount * _MILLI * _SECONDS, rate)
        yield draft.problem(
            "SPEC509",
            *each.place("core-hours", "cards"),
            found=each.core_hours,
            value=rates.rounded_up(Fraction(rate, _MILLI)),
            length=units.duration(float(seconds)),
            least=math.ceil(rate * Period.DAY.hours / _MILLI),
        )


def supply(draft: Draft) -> Iterator[Problem]:
    """All grants together are not more than the cards can give, or than `overcommit` allows;
    nor will they be when an override ends."""
    installed = draft.installed
    is_sound = draft.is_sound("tiers", "projects", "availability", "overcommit")
    # If hosts are missing, that is told of the cards; the core-hours would tell it again.
    if not installed or not is_sound or not draft.are_hosts_placed() or sums.broken(draft):
        return
    grants = _grants(draft)
    available = resolve.availability(draft)
    given = core_hours_a_month(rates.rate_of(draft, installed.items()), available)
    limit = given * resolve.overcommit(draft).core_hours_milli / _MILLI
    total, ending = _per_month(grants), None
    if total <= limit:
        ending = _first_beyond(draft, grants, limit)
        if ending is None:
            return
        total = _per_month(grants)
    # Sorted, so that a long sum that is cut keeps what matters.
    largest = sorted(grants, key=lambda each: -each[1].per_hour * grants[each])
    summands = (f"{sums.label(at)} {each} x {grants[at, each]}" for at, each in largest)
    code, steps = "SPEC511", largest[0][0]
    if ending is not None:
        code = "SPEC519"
        steps = ("projects", ending.project, "overrides", ending.index, "core-hours")
    yield draft.problem(
        code,
        *steps,
        until=ending.until if ending else "",
        total=rates.rounded_up(total),
        terms=" + ".join(summands),
        installed=rates.rounded_down(given),
        limit=rates.rounded_down(limit),
        overlay=draft.overlay.tree.location.file,
        value=f"{available}%",
    )


def _first_beyond(draft: Draft, grants: _Grants, limit: Fraction) -> sums.Ending | None:
    """Let overrides end until all grants are more than the limit; return the one that does it."""
    if not draft.is_sound("time-zone"):
        return None
    keys, total = draft.platform.keys, _per_month(grants)
    for _, at_once in groupby(sums.endings(draft), key=lambda each: each.moment):
        ending = None
        for each in at_once:
            project = keys.projects[each.project]
            text = project.overrides[each.index].core_hours
            if text is None or project.tier not in keys.tiers:
                continue
            steps = ("projects", each.project, "overrides", each.index, "core-hours")
            old = (steps, resolve.core_hours(text))
            usual = resolve.core_hours(keys.tiers[project.tier].core_hours)
            if old not in grants:
                continue  # of two, which is told, the first never held
            del grants[old]
            grants[("tiers", project.tier, "core-hours"), usual] += 1
            total += (usual.per_hour - old[1].per_hour) * Period.MONTH.hours
            ending = each
        if ending is not None and total > limit:
            return ending
    return None


def _grants(draft: Draft) -> _Grants:
    """Return which grants of core-hours hold now, where they stand and for how many projects."""
    keys = draft.platform.keys
    found: _Grants = Counter()
    for name, project in keys.projects.items():
        tier = keys.tiers.get(project.tier)
        if tier is None:
            continue  # told as a reference
        steps: Steps = ("tiers", project.tier)
        text = tier.core_hours
        for index, override in draft.overrides_in_force(name):
            if override.core_hours is not None:
                steps, text = ("projects", name, "overrides", index), override.core_hours
        found[(*steps, "core-hours"), resolve.core_hours(text)] += 1
    return found


def usual_times(draft: Draft) -> Iterator[Problem]:
    """The time limit of a job that names none is one that each tier permits."""
    if not draft.is_sound("tiers", "freeze"):
        return
    default = draft.platform.keys.freeze.max_time_default
    usual = ("freeze", "max-time-default")
    tiers = draft.platform.keys.tiers
    times = {name: units.parse_duration(tier.max_time) for name, tier in tiers.items()}
    short = [name for name, time in times.items() if time < units.parse_duration(default)]
    if 1 < len(short) == len(times) and draft.is_written(*usual):
        # More than any tier permits: the slip is here, and one.
        longest = max(times, key=lambda name: times[name])
        places: dict[str, Steps] = {longest: usual}
    else:
        places = {name: ("tiers", name, "max-time") for name in short}
    for name, steps in places.items():
        found = tiers[name].max_time
        yield draft.problem("SPEC512", *steps, tier=name, found=found, limit=default)
    for each in terms.overridden(draft):
        is_news = "max-time" in each.places and each.tier not in short
        if is_news and units.parse_duration(each.max_time) < units.parse_duration(default):
            yield draft.problem(
                "SPEC512",
                *each.place("max-time"),
                tier=each.label,
                found=each.max_time,
                limit=default,
            )


def fast_lane(draft: Draft) -> Iterator[Problem]:
    """Work that names no time limit does not pass the cap."""
    if not draft.is_sound("freeze"):
        return
    freeze = draft.platform.keys.freeze
    if units.parse_duration(freeze.fast_lane.up_to) < units.parse_duration(freeze.max_time_default):
        return
    own: Steps = ("freeze", "fast-lane", "up-to")
    steps = own if draft.is_written(*own) else ("freeze", "max-time-default")
    yield draft.problem(
        "SPEC513", *steps, found=freeze.fast_lane.up_to, limit=freeze.max_time_default
    )


def _per_month(grants: _Grants) -> Fraction:
    """Return the core-hours that all grants are together in a month."""
    per_hour = sum((each.per_hour * count for (_, each), count in grants.items()), Fraction())
    return per_hour * Period.MONTH.hours


CHECKS = (lasting, supply, usual_times, fast_lane)
