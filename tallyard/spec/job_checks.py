"""Checks of the largest job that a tier permits: its project and its users can freeze it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from tallyard import units
from tallyard.spec import rates, terms
from tallyard.spec.draft import Draft
from tallyard.spec.keys_of_core_hours import WaitKeys
from tallyard.spec.problem import Problem
from tallyard.spec.terms import Terms
from tallyard.spec.tree import Steps

_MILLI = 1000
_SECONDS = 3600
_MINUTE = 60
_PERCENT = 100


@dataclass(frozen=True)
class _Job:
    """The largest job that a tier permits, by what it freezes, and what one queue may freeze."""

    cost: Fraction
    limit: Fraction
    # The longest time limit that the cap lets pass, with the wait.
    seconds_max: Fraction
    cards: int
    # How they add up: own ones, borrowed ones, and how many there are if that is less.
    sum: str
    model: str
    terms: Terms


def largest_job(draft: Draft) -> Iterator[Problem]:
    """The largest job that a tier permits can be frozen under the cap of one queue."""
    if not draft.is_sound("accelerators", "pools", "tiers", "freeze", "price"):
        return
    # A grant that does not last a day is told as that.
    short = {each.label for each in rates.short_terms(draft)}
    jobs = _largest_jobs(draft, (each for each in terms.of_tiers(draft) if each.tier not in short))
    refused = [job for job in jobs if job.cost > job.limit]
    names = {job.terms.tier for job in refused}
    is_cap_wrong = 1 < len(refused) == len(jobs) and draft.is_written("freeze", "cap")
    if is_cap_wrong:
        # Too little for any tier: the slip is the cap's, and one.
        worst = max(refused, key=lambda job: job.cost / job.limit)
        yield _refused(draft, worst, ("freeze", "cap"))
    else:
        for job in refused:
            yield _refused(draft, job, ("tiers", job.terms.tier, "max-time"))
    others = (each for each in terms.overridden(draft) if not {each.tier, each.label} & short)
    for job in _largest_jobs(draft, others):
        if job.cost > job.limit and job.terms.tier not in names:
            yield _refused(draft, job, job.terms.place("max-time", "core-hours", "borrow", "cards"))
    yield from _largest_of_a_user(draft, (job for job in jobs if job.cost <= job.limit))


def _refused(draft: Draft, job: _Job, steps: Steps) -> Problem:
    keys = draft.platform.keys
    return draft.problem(
        "SPEC510",
        *steps,
        tier=job.terms.label,
        found=job.terms.max_time,
        cards=job.cards,
        terms=job.sum,
        model=job.model,
        length=_wait(keys.price.wait),
        right=_time(job.seconds_max),
        total=rates.rounded_up(job.cost),
        limit=rates.rounded_down(job.limit),
        value=keys.freeze.cap,
        usual=job.terms.core_hours,
    )


def _largest_of_a_user(draft: Draft, jobs: Iterable[_Job]) -> Iterator[Problem]:
    """The largest job that a tier permits is not more than what one of its users may use.

    What a project gives a single user is its own business.
    """
    for job in jobs:
        name = job.terms.tier
        found = draft.platform.keys.tiers[name].user_share
        limit = Fraction(job.terms.amount * units.parse_percent(found), _PERCENT)
        if job.cost > limit:
            yield draft.problem(
                *("SPEC520", "tiers", name, "user-share"),
                tier=name,
                value=found,
                cards=job.cards,
                model=job.model,
                length=job.terms.max_time,
                total=rates.rounded_up(job.cost),
                limit=rates.rounded_down(limit),
                least=math.ceil(job.cost * _PERCENT / job.terms.amount),
                usual=job.terms.core_hours,
            )


def _largest_jobs(draft: Draft, each_terms: Iterable[Terms]) -> list[_Job]:
    found = (tuple(_jobs(draft, each)) for each in each_terms)
    return [max(jobs, key=lambda job: job.cost) for jobs in found if jobs]


def _jobs(draft: Draft, each: Terms) -> Iterator[_Job]:
    """Yield the largest job of each model, with its wait.

    Services freeze a window at a time instead, so a pool for them has no such job.
    """
    keys = draft.platform.keys
    wait = keys.price.wait
    charged = Fraction(units.parse_percent(wait.charged), _PERCENT)
    waiting = charged * units.parse_duration(wait.up_to)
    seconds = units.parse_duration(each.max_time) + waiting
    limit = Fraction(each.amount * units.parse_percent(keys.freeze.cap), _PERCENT)
    for (pool, model), cards in each.granted():
        found = keys.pools.get(pool)
        if found is not None and found.work == "batch":
            borrowed = each.borrow.get(pool, 0)
            most = rates.at_most(draft.installed, (pool, model), cards + borrowed)
            rate = Fraction(most * rates.rate(draft, model), _MILLI * _SECONDS)
            longest = limit / rate - waiting if rate else Fraction()
            summed = f"{cards} + {borrowed}" + f" > {most}" * (most < cards + borrowed)
            yield _Job(rate * seconds, limit, longest, most, summed, model, each)


def _wait(wait: WaitKeys) -> str:
    """Return how much of a wait is charged at most: `5m`, or `5m x 50%`."""
    is_whole = units.parse_percent(wait.charged) == _PERCENT
    return wait.up_to if is_whole else f"{wait.up_to} x {wait.charged}"


def _time(seconds: Fraction) -> str:
    """Return the whole minutes of a time, as the spec writes them: `71h55m`."""
    hours, minutes = divmod(max(math.floor(seconds / _MINUTE), 0), _MINUTE)
    return f"{hours}h" * bool(hours) + f"{minutes}m" * bool(minutes or not hours)


CHECKS = (largest_job,)
