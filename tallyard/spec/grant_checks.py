"""Checks of core-hours: would somebody who knows the numbers believe this spec?

All sums are exact. A grant is compared by the hour: a day has 24, a week 168, and a month
730.5 of them (a twelfth of a year of 365.25 days).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from tallyard import units
from tallyard.spec import resolve, sums
from tallyard.spec.document import TierKeys, WaitKeys
from tallyard.spec.draft import Draft, Place
from tallyard.spec.model import CoreHours, Period
from tallyard.spec.problem import Problem
from tallyard.spec.tree import Steps

HOURS: dict[Period, Fraction] = {
    Period.DAY: Fraction(24),
    Period.WEEK: Fraction(168),
    Period.MONTH: Fraction(1461, 2),
}
_MILLI = 1000
_SECONDS = 3600
_MINUTE = 60
_PERCENT = 100
_CENT = 100


def lasting(draft: Draft) -> Iterator[Problem]:
    """A tier's core-hours last for a day or more when all of its cards are used."""
    if not draft.is_sound("accelerators", "tiers"):
        return
    tiers = draft.platform.keys.tiers
    for name in _short_tiers(draft):
        tier = tiers[name]
        rate = _rate_of(draft, _cards(tier))
        seconds = Fraction(resolve.core_hours(tier.core_hours).amount * _MILLI * _SECONDS, rate)
        yield draft.problem(
            *("SPEC509", "tiers", name, "core-hours"),
            found=tier.core_hours,
            value=_rounded_up(Fraction(rate, _MILLI)),
            length=units.duration(float(seconds)),
            least=math.ceil(rate * HOURS[Period.DAY] / _MILLI),
        )


def _short_tiers(draft: Draft) -> Iterator[str]:
    """Yield the tiers whose core-hours do not last a day."""
    allowed = sums.allowed(draft)
    for name, tier in draft.platform.keys.tiers.items():
        # More cards than can be there are told as such.
        sure = ((place, _at_most(allowed, place, cards)) for place, cards in _cards(tier))
        grant = resolve.core_hours(tier.core_hours).amount
        if grant * _MILLI < _rate_of(draft, sure) * HOURS[Period.DAY]:
            yield name


@dataclass(frozen=True)
class _Job:
    """The largest job that a tier permits, by what it freezes, and what one queue may freeze."""

    cost: Fraction
    limit: Fraction
    # The longest time limit that the cap lets pass, with the wait.
    seconds_max: Fraction
    cards: int
    # How they add up: own ones, borrowed ones, and how many there are if that is less.
    terms: str
    model: str
    tier: str


def largest_job(draft: Draft) -> Iterator[Problem]:
    """The largest job that a tier permits can be frozen under the cap of one queue."""
    if not draft.is_sound("accelerators", "pools", "tiers", "freeze", "price"):
        return
    keys = draft.platform.keys
    # A grant that does not last a day is told as that.
    short = set(_short_tiers(draft))
    jobs = [
        max(_jobs(draft, name, tier), key=lambda job: job.cost)
        for name, tier in keys.tiers.items()
        if name not in short and any(_jobs(draft, name, tier))
    ]
    refused = [job for job in jobs if job.cost > job.limit]
    is_cap_wrong = 1 < len(refused) == len(jobs) and draft.is_written("freeze", "cap")
    if is_cap_wrong:
        # Too little for any tier: the slip is the cap's, and one.
        refused = [max(refused, key=lambda job: job.cost / job.limit)]
    for job in refused:
        steps: Steps = ("freeze", "cap") if is_cap_wrong else ("tiers", job.tier, "max-time")
        tier = keys.tiers[job.tier]
        yield draft.problem(
            "SPEC510",
            *steps,
            tier=job.tier,
            found=tier.max_time,
            cards=job.cards,
            terms=job.terms,
            model=job.model,
            length=_wait(keys.price.wait),
            right=_time(job.seconds_max),
            total=_rounded_up(job.cost),
            limit=_rounded_down(job.limit),
            value=keys.freeze.cap,
            usual=tier.core_hours,
        )


def _jobs(draft: Draft, name: str, tier: TierKeys) -> Iterator[_Job]:
    """Yield the largest job of each model, with its wait.

    Services freeze a window at a time instead, so a pool for them has no such job.
    """
    keys = draft.platform.keys
    wait = keys.price.wait
    charged = Fraction(units.parse_percent(wait.charged), _PERCENT)
    waiting = charged * units.parse_duration(wait.up_to)
    seconds = units.parse_duration(tier.max_time) + waiting
    grant = resolve.core_hours(tier.core_hours).amount
    limit = Fraction(grant * units.parse_percent(keys.freeze.cap), _PERCENT)
    for (pool, model), cards in _cards(tier):
        found = keys.pools.get(pool)
        if found is not None and found.work == "batch":
            borrowed = tier.borrow.get(pool, 0)
            most = _at_most(draft.installed, (pool, model), cards + borrowed)
            rate = Fraction(most * _rate(draft, model), _MILLI * _SECONDS)
            longest = limit / rate - waiting if rate else Fraction()
            terms = f"{cards} + {borrowed}" + f" > {most}" * (most < cards + borrowed)
            yield _Job(rate * seconds, limit, longest, most, terms, model, name)


def _cards(tier: TierKeys) -> Iterator[tuple[Place, int]]:
    for pool, models in tier.cards.items():
        for model, cards in models.items():
            yield (pool, model), cards


def _at_most(limits: Mapping[Place, int] | None, place: Place, cards: int) -> int:
    """Return the cards, or as many as there can be where that is known."""
    return cards if limits is None or place not in limits else min(cards, limits[place])


def supply(draft: Draft) -> Iterator[Problem]:
    """All grants together are not more than the cards can give, or than `overcommit` allows."""
    installed = draft.installed
    is_sound = draft.is_sound("tiers", "projects", "availability", "overcommit")
    # If hosts are missing, that is told of the cards; the core-hours would tell it again.
    if not installed or not is_sound or not draft.are_hosts_placed() or sums.broken(draft):
        return
    keys, overlay = draft.platform.keys, draft.overlay.keys
    grants = _grants(draft)
    total = sum((_per_month(each) * n for (_, each), n in grants.items()), Fraction())
    factor = resolve.milli(sums.overcommit(draft).core_hours)
    available = units.parse_percent(overlay.availability or keys.availability)
    rate = Fraction(_rate_of(draft, installed.items()), _MILLI)
    given = rate * HOURS[Period.MONTH] * available / _PERCENT
    limit = given * factor / _MILLI
    if total > limit:
        # Sorted, so that a long sum that is cut keeps what matters.
        largest = sorted(grants, key=lambda each: -_per_month(each[1]) * grants[each])
        terms = (
            f"{sums.label(at)} {each.amount}/{each.period} x {grants[at, each]}"
            for at, each in largest
        )
        yield draft.problem(
            "SPEC511",
            *largest[0][0],
            total=_rounded_up(total),
            terms=" + ".join(terms),
            installed=_rounded_down(given),
            limit=_rounded_down(limit),
            overlay=draft.overlay.tree.location.file,
            value=f"{available}%",
        )


def _grants(draft: Draft) -> Counter[tuple[Steps, CoreHours]]:
    """Return which grants of core-hours hold now, where they stand and for how many projects."""
    keys = draft.platform.keys
    found: Counter[tuple[Steps, CoreHours]] = Counter()
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


def _rate_of(draft: Draft, cards: Iterable[tuple[Place, int]]) -> int:
    """Return what cards cost together for one hour, in thousandths."""
    return sum(number * _rate(draft, model) for (_, model), number in cards)


def _rate(draft: Draft, model: str) -> int:
    """Return a model's rate in thousandths; nothing for one that is not there."""
    card = draft.platform.keys.accelerators.get(model)
    return resolve.milli(card.rate) if card is not None else 0


def _per_month(grant: CoreHours) -> Fraction:
    return grant.amount * HOURS[Period.MONTH] / HOURS[grant.period]


def _rounded_up(amount: Fraction) -> str:
    """Return an amount of core-hours with at most two decimals."""
    return _number(math.ceil(amount * _CENT))


def _rounded_down(amount: Fraction) -> str:
    """Return the same for a limit, so that what is above it is never shown as equal to it."""
    return _number(math.floor(amount * _CENT))


def _wait(wait: WaitKeys) -> str:
    """Return how much of a wait is charged at most: `5m`, or `5m x 50%`."""
    is_whole = units.parse_percent(wait.charged) == _PERCENT
    return wait.up_to if is_whole else f"{wait.up_to} x {wait.charged}"


def _time(seconds: Fraction) -> str:
    """Return the whole minutes of a time, as the spec writes them: `71h55m`."""
    hours, minutes = divmod(max(math.floor(seconds / _MINUTE), 0), _MINUTE)
    return f"{hours}h" * bool(hours) + f"{minutes}m" * bool(minutes or not hours)


def _number(cents: int) -> str:
    whole, rest = divmod(cents, _CENT)
    return f"{whole}.{rest:02}".rstrip("0") if rest else str(whole)


CHECKS = (lasting, largest_job, supply, usual_times, fast_lane)
