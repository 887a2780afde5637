"""Accelerators, pools and tiers that have another name and are otherwise the same.

Told as what it is, a new name is one line; told as one thing that went and one that came, it
is two full lists, and all that refers to it differs too. So the platform before is put into
the new names first, and only then compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from tallyard.spec.model import (
    Accelerator,
    Limits,
    Node,
    Override,
    Platform,
    Pool,
    Project,
    Tier,
)


@dataclass(frozen=True)
class Rename:
    """Something that is called otherwise after; `kind` is accelerator, pool or tier."""

    kind: str
    before: str
    after: str


@dataclass(frozen=True)
class _Names:
    """The new names by the old ones."""

    models: Mapping[str, str]
    pools: Mapping[str, str]
    tiers: Mapping[str, str]


def renamed(before: Platform, after: Platform) -> tuple[Platform, tuple[Rename, ...]]:
    """Return the platform before in the names after, and what has another name.

    A name counts as new only where exactly one thing that went and one that came are the
    same in all but their name; hosts and grants may differ, and are then told.
    """
    models = _matched(before.accelerators, after.accelerators, lambda card: replace(card, name=""))
    names = _Names(models, {}, {})
    for is_lender in (True, False):
        # What borrows names its lender, so the lenders' names have to be known.
        old, new = (
            {name: pool for name, pool in pools.items() if (not pool.borrows_from) is is_lender}
            for pools in (_pools(before, names), after.pools)
        )
        found = _matched(old, new, lambda pool: replace(pool, name=""))
        names = replace(names, pools={**names.pools, **found})
    tiers = {name: _tier(tier, names) for name, tier in before.tiers.items()}
    names = replace(names, tiers=_matched(tiers, after.tiers, lambda tier: replace(tier, name="")))
    return _platform(before, names), tuple(_told(names))


def _told(names: _Names) -> Iterator[Rename]:
    for kind, found in (
        ("tier", names.tiers),
        ("accelerator", names.models),
        ("pool", names.pools),
    ):
        yield from (Rename(kind, old, new) for old, new in found.items())


def _matched[T](
    before: Mapping[str, T], after: Mapping[str, T], nameless: Callable[[T], T]
) -> dict[str, str]:
    """Return the new names of what is there under another one, where only one can be meant."""
    gone = [(name, nameless(each)) for name, each in before.items() if name not in after]
    come = [(name, nameless(each)) for name, each in after.items() if name not in before]
    found = {}
    for old, content in gone:
        likes = [name for name, each in come if each == content]
        if len(likes) == 1 and sum(each == content for _, each in gone) == 1:
            found[old] = likes[0]
    return found


def _platform(side: Platform, names: _Names) -> Platform:
    if not (names.models or names.pools or names.tiers):
        return side
    tiers = {each.name: each for each in (_tier(one, names) for one in side.tiers.values())}
    pools = _pools(side, names)
    return replace(
        side,
        accelerators={
            each.name: each
            for each in (_accelerator(one, names) for one in side.accelerators.values())
        },
        pools={each.name: each for each in pools.values()},
        tiers=tiers,
        projects={key: _project(each, tiers, names) for key, each in side.projects.items()},
        nodes=tuple(_node(each, names) for each in side.nodes),
    )


def _accelerator(card: Accelerator, names: _Names) -> Accelerator:
    return replace(card, name=names.models.get(card.name, card.name))


def _pools(side: Platform, names: _Names) -> Mapping[str, Pool]:
    """Return the pools by their old names, in the new ones as far as these are known."""
    return {name: _pool(pool, names) for name, pool in side.pools.items()}


def _pool(pool: Pool, names: _Names) -> Pool:
    lender = pool.borrows_from
    return replace(
        pool,
        name=names.pools.get(pool.name, pool.name),
        models=tuple(names.models.get(each, each) for each in pool.models),
        default_model=names.models.get(pool.default_model, pool.default_model),
        borrows_from=names.pools.get(lender, lender) if lender else lender,
    )


def _tier(tier: Tier, names: _Names) -> Tier:
    return replace(
        tier, name=names.tiers.get(tier.name, tier.name), limits=_limits(tier.limits, names)
    )


def _limits(limits: Limits, names: _Names) -> Limits:
    return replace(limits, cards=_cards(limits.cards, names), borrow=_borrow(limits.borrow, names))


def _project(project: Project, tiers: Mapping[str, Tier], names: _Names) -> Project:
    tier = names.tiers.get(project.tier.name, project.tier.name)
    return replace(
        project,
        tier=tiers[tier],
        overrides=tuple(_override(each, names) for each in project.overrides),
        limits=_limits(project.limits, names),
    )


def _override(override: Override, names: _Names) -> Override:
    return replace(
        override, cards=_cards(override.cards, names), borrow=_borrow(override.borrow, names)
    )


def _node(node: Node, names: _Names) -> Node:
    model = node.model
    return replace(
        node,
        pool=names.pools.get(node.pool, node.pool),
        model=names.models.get(model, model) if model else model,
    )


def _cards(
    cards: Mapping[str, Mapping[str, int]], names: _Names
) -> Mapping[str, Mapping[str, int]]:
    return {
        names.pools.get(pool, pool): {
            names.models.get(model, model): number for model, number in models.items()
        }
        for pool, models in cards.items()
    }


def _borrow(borrow: Mapping[str, int], names: _Names) -> Mapping[str, int]:
    return {names.pools.get(pool, pool): number for pool, number in borrow.items()}
