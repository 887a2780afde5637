"""From keys to meaning: references followed, defaults filled in, ranges written out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType

from tallyard import labels, units
from tallyard.catalog import vendors
from tallyard.spec import hosts, moments
from tallyard.spec.document import HostsKeys, OverlayKeys, PlatformKeys
from tallyard.spec.draft import Draft
from tallyard.spec.in_force import limits_at
from tallyard.spec.keys import Keys
from tallyard.spec.keys_of_core_hours import FreezeKeys, PriceKeys
from tallyard.spec.keys_of_pools import AcceleratorKeys, PoolKeys, SharingKeys
from tallyard.spec.keys_of_projects import OverrideKeys, ProjectKeys, TierKeys, UserKeys
from tallyard.spec.keys_of_waivers import WaiverKeys
from tallyard.spec.keys_of_work import GangKeys, RetentionKeys
from tallyard.spec.model import (
    Accelerator,
    Borrowed,
    CoreHours,
    Defaults,
    Freeze,
    Gangs,
    Level,
    Limits,
    Node,
    Overcommit,
    Override,
    Period,
    Platform,
    Pool,
    Price,
    Priority,
    Project,
    Retention,
    Tier,
    Uneven,
    User,
    Work,
)
from tallyard.spec.tree import find
from tallyard.spec.waiver import Waiver

_MILLI = 1000


def platform(draft: Draft) -> Platform:
    """Return the meaning of a draft in which no check found an error."""
    keys, overlay = draft.platform.keys, draft.overlay.keys
    priorities = {
        each.name: Priority(each.name, each.value, each.preemptible) for each in keys.priorities
    }
    tiers = {name: Tier(name, tier.weight, limits(tier)) for name, tier in keys.tiers.items()}
    pools = {name: _pool(name, pool, keys, priorities) for name, pool in keys.pools.items()}
    return Platform(
        name=keys.metadata.name,
        time_zone=keys.time_zone,
        price=_price(keys.price),
        accelerators=MappingProxyType(
            {name: _accelerator(name, card) for name, card in keys.accelerators.items()}
        ),
        topology=tuple(Level(level) for level in keys.topology),
        priorities=MappingProxyType(priorities),
        pools=MappingProxyType(pools),
        tiers=MappingProxyType(tiers),
        projects=MappingProxyType(_projects(keys, tiers, draft.now)),
        nodes=tuple(node for group in overlay.nodes for node in _nodes(group)),
        freeze=_freeze(keys.freeze),
        defaults=_defaults(keys, overlay),
        uncounted=keys.uncounted,
        overcommit=overcommit(draft),
        availability=availability(draft),
        gangs=_gangs(_of_environment(keys.gangs, overlay.gangs)),
        retention=_retention(_of_environment(keys.retention, overlay.retention)),
        waivers=tuple(_waivers(draft)),
    )


def identity(key: str, project: ProjectKeys) -> str:
    """Return a project's id; its key where none is given."""
    return project.id or key


def logins(name: str, user: UserKeys) -> tuple[str, ...]:
    """Return what the API server calls a user; the name itself where none is given."""
    return user.logins or (name,)


def resource(card: AcceleratorKeys) -> str | None:
    """Return what whole cards are asked for by; None where only the spec can say it and does not."""
    return card.resource or vendors.DEFAULT_RESOURCE.get(card.vendor)


def offered(draft: Draft) -> Mapping[str, tuple[str, ...]]:
    """Return the resources that each model's cards are asked for by, where that is known.

    That of whole cards comes first, then that of slices if some pool cuts them.
    """
    keys = draft.platform.keys
    sliced = {
        model for pool in keys.pools.values() if slices(pool) > 1 for model in pool.models or ()
    }
    found = {name: resource(card) for name, card in keys.accelerators.items()}
    return {
        name: (whole, labels.slice_resource(whole)) if name in sliced else (whole,)
        for name, whole in found.items()
        if whole is not None
    }


def limits(tier: TierKeys) -> Limits:
    """Return what a tier's keys allow."""
    return Limits(
        cards=_cards(tier.cards),
        borrow=MappingProxyType(dict(tier.borrow)),
        core_hours=core_hours(tier.core_hours),
        max_time_seconds=units.parse_duration(tier.max_time),
        user_share=units.parse_percent(tier.user_share),
        rollover=units.parse_percent(tier.rollover),
    )


def overcommit(draft: Draft) -> Overcommit:
    """Return how much more is promised than there is: key by key the environment's word counts."""
    keys, own = draft.platform.keys.overcommit, draft.overlay.keys.overcommit
    written = own.model_fields_set if own is not None else frozenset()
    cards = own.cards if own is not None and "cards" in written else keys.cards
    hours = own.core_hours if own is not None and "core_hours" in written else keys.core_hours
    return Overcommit(milli(cards), milli(hours))


def availability(draft: Draft) -> int:
    """Return in how many per cent of all hours a card works; the environment's word counts."""
    return units.parse_percent(draft.overlay.keys.availability or draft.platform.keys.availability)


def core_hours(text: str) -> CoreHours:
    """Return the grant of a text such as `600000/month`."""
    return CoreHours(units.core_hours_amount(text), Period(text.rpartition("/")[2]))


def milli(number: float) -> int:
    """Return the thousandths of a number with at most three decimals, exactly."""
    return int(Decimal(repr(number)) * _MILLI)


def slices(pool: PoolKeys) -> int:
    """Return into how many slices the cards of a pool are cut."""
    return pool.sharing.time_slicing if isinstance(pool.sharing, SharingKeys) else 1


def _price(keys: PriceKeys) -> Price:
    return Price(
        uneven=Uneven(keys.uneven),
        wait_charged=units.parse_percent(keys.wait.charged),
        wait_seconds_max=units.parse_duration(keys.wait.up_to),
    )


def _freeze(keys: FreezeKeys) -> Freeze:
    return Freeze(
        cap=units.parse_percent(keys.cap),
        fast_lane_seconds=units.parse_duration(keys.fast_lane.up_to),
        max_time_default_seconds=units.parse_duration(keys.max_time_default),
        window_seconds=units.parse_duration(keys.window),
        debt_max=units.parse_percent(keys.debt_max),
    )


def _of_environment[T: Keys](keys: T, own: T | None) -> T:
    """Return a section: key by key the environment's word counts where it says one."""
    if own is None:
        return keys
    return keys.model_copy(update={name: getattr(own, name) for name in own.model_fields_set})


def _gangs(keys: GangKeys) -> Gangs:
    return Gangs(
        start_seconds_max=units.parse_duration(keys.start_within),
        requeues=keys.requeues,
        requeue_seconds=units.parse_duration(keys.requeue_after),
    )


def _retention(keys: RetentionKeys) -> Retention:
    return Retention(
        finished_seconds=units.parse_duration(keys.finished),
        stopped_seconds=units.parse_duration(keys.stopped),
    )


def _defaults(keys: PlatformKeys, overlay: OverlayKeys) -> Defaults:
    own = overlay.defaults.registry if overlay.defaults else None
    return Defaults(
        cpu_per_card=keys.defaults.per_card.cpu,
        memory_per_card=keys.defaults.per_card.memory,
        ephemeral_storage=keys.defaults.ephemeral_storage,
        registry=own or keys.defaults.registry,
        resources=MappingProxyType(dict(keys.defaults.resources)),
    )


def _accelerator(name: str, card: AcceleratorKeys) -> Accelerator:
    whole = resource(card)
    assert whole is not None  # noqa: S101 - a check has refused such a card
    return Accelerator(
        name=name,
        vendor=card.vendor,
        memory=card.memory,
        memory_bytes=units.parse_bytes(card.memory),
        resource=whole,
        rate_milli=milli(card.rate),
        includes_cpu=card.includes.cpu if card.includes else 0,
        includes_memory_bytes=units.parse_bytes(card.includes.memory) if card.includes else 0,
        origin=card.origin,
    )


def _pool(
    name: str, pool: PoolKeys, keys: PlatformKeys, priorities: Mapping[str, Priority]
) -> Pool:
    lender = keys.pools[pool.borrows_from] if pool.borrows_from else None
    models = (lender or pool).models or ()
    return Pool(
        name=name,
        models=models,
        work=Work(pool.work),
        priority=priorities[pool.priority],
        slices=slices(lender or pool),
        default_model=pool.default_model or (lender or pool).default_model or models[0],
        # What a pool without cards of its own uses can always be taken back.
        borrowed=Borrowed.RECLAIM if lender else Borrowed(pool.borrowed),
        borrows_from=pool.borrows_from,
        cpu=pool.cpu,
        termination_grace_seconds=units.parse_duration(pool.termination_grace),
        burst=units.parse_percent(pool.burst) if pool.burst else None,
        scale_within_seconds=_seconds(pool.scale_within),
        pods_per_agent=pool.pods_per_agent,
        backoff_limit=pool.backoff_limit,
    )


def _seconds(text: str | None) -> int | None:
    return units.parse_duration(text) if text else None


def _cards(by_pool: Mapping[str, Mapping[str, int]]) -> Mapping[str, Mapping[str, int]]:
    return MappingProxyType({pool: MappingProxyType(dict(of)) for pool, of in by_pool.items()})


def _projects(keys: PlatformKeys, tiers: Mapping[str, Tier], now: datetime) -> dict[str, Project]:
    return {
        key: _project(key, project, tiers[project.tier], keys.time_zone, now)
        for key, project in keys.projects.items()
    }


def _project(key: str, keys: ProjectKeys, tier: Tier, zone: str, now: datetime) -> Project:
    overrides = tuple(_override(each, zone) for each in keys.overrides)
    current = limits_at(tier.limits, overrides, now)
    usual = current.user_share
    return Project(
        key=key,
        id=identity(key, keys),
        tier=tier,
        users=tuple(
            User(
                name,
                logins(name, user),
                units.parse_percent(user.share) if user.share else usual,
                user.admin,
            )
            for name, user in keys.users.items()
        ),
        default_user=keys.default_user,
        overrides=overrides,
        limits=current,
    )


def _override(keys: OverrideKeys, zone: str) -> Override:
    return Override(
        cards=_cards(keys.cards),
        borrow=MappingProxyType(dict(keys.borrow)),
        core_hours=core_hours(keys.core_hours) if keys.core_hours else None,
        max_time_seconds=_seconds(keys.max_time),
        until=moments.end(keys.until, zone),
        reason=keys.reason,
    )


def _waivers(draft: Draft) -> Iterator[Waiver]:
    """Yield the waivers of both files that have not ended."""
    for tree, index, keys in draft.waivers():
        until = draft.end(keys.until)
        if draft.now < until:
            path = find(tree, ("waivers", index)).path
            yield _waiver(keys, until, path, is_of_environment=tree is draft.overlay.tree)


def _waiver(keys: WaiverKeys, until: datetime, path: str, *, is_of_environment: bool) -> Waiver:
    return Waiver(
        rule=keys.rule,
        objects=keys.objects,
        reason=keys.reason,
        until=until,
        path=path,
        is_of_environment=is_of_environment,
    )


def _nodes(group: HostsKeys) -> Iterator[Node]:
    names = hosts.expand(group.hosts)
    places = hosts.spread(len(names), group.rack, group.block)
    for name, (block, rack) in zip(names, places, strict=True):
        yield Node(
            name=name,
            pool=group.pool,
            model=group.model,
            cards=group.cards or 0,
            cpu=group.cpu,
            memory=group.memory,
            memory_bytes=units.parse_bytes(group.memory),
            block=block,
            rack=rack,
            links=group.links,
        )
