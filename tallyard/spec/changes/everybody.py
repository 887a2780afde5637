"""What changes for everybody: prices, freeze rules, defaults, priorities, pools, the platform."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from tallyard import units
from tallyard.spec.changes.change import (
    Cause,
    Facts,
    Presence,
    Subject,
    Through,
    Value,
    about,
    because,
    compared,
    presence,
)
from tallyard.spec.changes.facts import Fact
from tallyard.spec.model import Accelerator, Platform, Pool, Priority


def everybody(before: Platform | None, after: Platform | None) -> Iterator[Subject]:
    """Yield the things that all projects share and that differ."""
    yield from _one("price", _price, before, after)
    yield from _each("accelerator", _accelerator, lambda side: side.accelerators, before, after)
    yield from _one("freeze", _freeze, before, after)
    yield from _one("gangs", _gangs, before, after)
    yield from _one("retention", _retention, before, after)
    yield from _one("defaults", _defaults, before, after)
    yield from map(_refused, _each("priority", _priority, _priorities_of, before, after))
    yield from _each("pool", _pool, lambda side: side.pools, before, after)
    yield from _one("platform", _platform, before, after)


def _one(
    kind: str,
    facts: Callable[[Platform], Facts],
    before: Platform | None,
    after: Platform | None,
) -> Iterator[Subject]:
    changes = compared(facts(before) if before else {}, facts(after) if after else {})
    if changes:
        yield Subject(kind, "", presence(before, after), changes)


def _each[T](
    kind: str,
    facts: Callable[[T], Facts],
    of: Callable[[Platform], Mapping[str, T]],
    before: Platform | None,
    after: Platform | None,
) -> Iterator[Subject]:
    old: Mapping[str, T] = of(before) if before else {}
    new: Mapping[str, T] = of(after) if after else {}
    for name in dict.fromkeys((*new, *old)):
        was, now = old.get(name), new.get(name)
        changes = compared(
            facts(was) if was is not None else {}, facts(now) if now is not None else {}
        )
        if changes:
            yield Subject(kind, name, presence(was, now), changes)


def _facts(values: Mapping[Fact, Value]) -> Facts:
    return {(fact, ()): value for fact, value in values.items()}


def _price(side: Platform) -> Facts:
    return _facts(
        {
            Fact.UNEVEN: side.price.uneven.value,
            Fact.WAIT_CHARGED: side.price.wait_charged,
            Fact.WAIT_UP_TO: side.price.wait_seconds_max,
        }
    )


def _accelerator(card: Accelerator) -> Facts:
    return _facts(
        {
            Fact.RATE: card.rate_milli,
            Fact.INCLUDES_CPU: card.includes_cpu,
            Fact.INCLUDES_MEMORY: card.includes_memory_bytes,
            Fact.ORIGIN: card.origin,
            Fact.VENDOR: card.vendor,
            Fact.RESOURCE: card.resource,
            # Its text is a label that people select on.
            Fact.CARD_MEMORY: card.memory,
        }
    )


def _freeze(side: Platform) -> Facts:
    freeze = side.freeze
    return _facts(
        {
            Fact.CAP: freeze.cap,
            Fact.FAST_LANE: freeze.fast_lane_seconds,
            Fact.MAX_TIME_DEFAULT: freeze.max_time_default_seconds,
            Fact.WINDOW: freeze.window_seconds,
            Fact.DEBT_MAX: freeze.debt_max,
        }
    )


def _gangs(side: Platform) -> Facts:
    return _facts(
        {
            Fact.START_WITHIN: side.gangs.start_seconds_max,
            Fact.REQUEUES: side.gangs.requeues,
            Fact.REQUEUE_AFTER: side.gangs.requeue_seconds,
        }
    )


def _retention(side: Platform) -> Facts:
    return _facts(
        {
            Fact.FINISHED: side.retention.finished_seconds,
            Fact.STOPPED: side.retention.stopped_seconds,
        }
    )


def _defaults(side: Platform) -> Facts:
    defaults = side.defaults
    resources = {
        (Fact.RESOURCES, about(resource=name)): number
        for name, number in defaults.resources.items()
    }
    return {
        **_facts(
            {
                Fact.REGISTRY: defaults.registry,
                Fact.CPU_PER_CARD: defaults.cpu_per_card,
                Fact.MEMORY_PER_CARD: units.parse_bytes(defaults.memory_per_card),
                Fact.STORAGE: units.parse_bytes(defaults.ephemeral_storage),
            }
        ),
        **resources,
    }


def _priority(priority: Priority) -> Facts:
    return _facts({Fact.VALUE: priority.value, Fact.PREEMPTIBLE: priority.preemptible})


def _priorities_of(side: Platform) -> Mapping[str, Priority]:
    return side.priorities


def _refused(priority: Subject) -> Subject:
    """Return a priority; that another value of it is refused is told where it stands."""
    if priority.presence is not Presence.CHANGED:
        return priority
    cause = Cause(Through.PRIORITY, priority.name)
    changes = tuple(
        because(each, cause) if each.fact is Fact.VALUE else each for each in priority.changes
    )
    return replace(priority, changes=changes)


def _pool(pool: Pool) -> Facts:
    return _facts(
        {
            # A priority of another value is told by itself.
            Fact.POOL_PRIORITY: pool.priority.name,
            Fact.MODELS: pool.models,
            Fact.WORK: pool.work.value,
            # Only what owns cards can share them.
            Fact.SHARING: None if pool.borrows_from else pool.slices,
            Fact.DEFAULT_MODEL: pool.default_model,
            Fact.BORROWED: pool.borrowed.value,
            Fact.BORROWS_FROM: pool.borrows_from,
            Fact.RUNS_CPU_WORK: pool.cpu,
            Fact.GRACE: pool.termination_grace_seconds,
            Fact.BURST: pool.burst,
            Fact.SCALE_WITHIN: pool.scale_within_seconds,
            Fact.PODS_PER_AGENT: pool.pods_per_agent,
            Fact.BACKOFF_LIMIT: pool.backoff_limit,
        }
    )


def _platform(side: Platform) -> Facts:
    return _facts(
        {
            Fact.NAME: side.name,
            Fact.TIME_ZONE: side.time_zone,
            Fact.TOPOLOGY: tuple(level.value for level in side.topology),
            Fact.UNCOUNTED: side.uncounted,
            Fact.OVERCOMMIT_CARDS: side.overcommit.cards_milli,
            Fact.OVERCOMMIT_CORE_HOURS: side.overcommit.core_hours_milli,
            Fact.AVAILABILITY: side.availability,
        }
    )
