"""From keys to meaning: references followed, defaults filled in, ranges written out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from tallyard import units
from tallyard.catalog import vendors
from tallyard.spec import hosts
from tallyard.spec.document import HostsKeys, PlatformKeys, PoolKeys
from tallyard.spec.draft import Draft
from tallyard.spec.model import (
    Accelerator,
    Borrowed,
    Defaults,
    Level,
    Node,
    Platform,
    Pool,
    Priority,
    Project,
    Tier,
    User,
)


def platform(draft: Draft) -> Platform:
    """Return the meaning of a draft in which no check found an error."""
    keys = draft.platform.keys
    priorities = {
        each.name: Priority(each.name, each.value, each.preemptible) for each in keys.priorities
    }
    tiers = _tiers(keys)
    return Platform(
        name=keys.metadata.name,
        accelerators=MappingProxyType(_accelerators(keys)),
        topology=tuple(Level(level) for level in keys.topology),
        priorities=MappingProxyType(priorities),
        pools=MappingProxyType(
            {name: _pool(name, pool, keys, priorities) for name, pool in keys.pools.items()}
        ),
        tiers=MappingProxyType(tiers),
        projects=MappingProxyType(_projects(keys, tiers)),
        nodes=tuple(node for group in draft.overlay.keys.nodes for node in _nodes(group)),
        defaults=Defaults(
            cpu_per_card=keys.defaults.per_card.cpu,
            memory_per_card=keys.defaults.per_card.memory,
            ephemeral_storage=keys.defaults.ephemeral_storage,
        ),
    )


def _accelerators(keys: PlatformKeys) -> dict[str, Accelerator]:
    return {
        name: Accelerator(
            name=name,
            vendor=card.vendor,
            memory=card.memory,
            memory_bytes=units.parse_bytes(card.memory),
            resource=card.resource or vendors.DEFAULT_RESOURCE[card.vendor],
        )
        for name, card in keys.accelerators.items()
    }


def _pool(
    name: str, pool: PoolKeys, keys: PlatformKeys, priorities: Mapping[str, Priority]
) -> Pool:
    lender = keys.pools[pool.borrows_from] if pool.borrows_from else None
    return Pool(
        name=name,
        models=(lender or pool).models or (),
        priority=priorities[pool.priority],
        # What a pool without cards of its own uses can always be taken back.
        borrowed=Borrowed.RECLAIM if lender else Borrowed(pool.borrowed),
        borrows_from=pool.borrows_from,
        cpu=pool.cpu,
    )


def _tiers(keys: PlatformKeys) -> dict[str, Tier]:
    return {
        name: Tier(
            name=name,
            weight=tier.weight,
            cards=MappingProxyType(
                {pool: MappingProxyType(dict(models)) for pool, models in tier.cards.items()}
            ),
            borrow=MappingProxyType(dict(tier.borrow)),
        )
        for name, tier in keys.tiers.items()
    }


def _projects(keys: PlatformKeys, tiers: Mapping[str, Tier]) -> dict[str, Project]:
    return {
        key: Project(
            key=key,
            id=project.id or key,
            tier=tiers[project.tier],
            users=tuple(User(name, user.logins or (name,)) for name, user in project.users.items()),
        )
        for key, project in keys.projects.items()
    }


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
        )
