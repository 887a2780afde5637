"""Quota tables: which flavor gives how much of which resource, for a queue or a cohort.

Kueue wants every flavor of a group to list the same resources in the same order, so a
flavor lists the other vendors' resources too, with nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tallyard.render.capacity import BASE_RESOURCES, Amount, of_hosts, per_card
from tallyard.render.flavors import CardFlavor, Flavor
from tallyard.spec.model import Platform

_NOTHING = "0"


@dataclass(frozen=True)
class Quota:
    """What one flavor gives. Amounts are Kubernetes quantities; a limit of None is no limit.

    `is_lent` says whether others of the cohort may use what of it is idle.
    """

    flavor: Flavor
    nominal: Mapping[str, str]
    borrowing_limit: Mapping[str, str] | None = None
    is_lent: bool = True


def resource_group(quotas: Iterable[Quota]) -> Mapping[str, object]:
    """Return one group of a `resourceGroups` list, as the templates print it."""
    rows = tuple(quotas)
    card_resources = dict.fromkeys(
        row.flavor.resource for row in rows if isinstance(row.flavor, CardFlavor)
    )
    covered = (*BASE_RESOURCES, *card_resources)
    return {
        "covered": covered,
        "flavors": [
            {
                "name": row.flavor.name,
                "resources": [
                    {
                        "name": resource,
                        "nominal": row.nominal.get(resource, _NOTHING),
                        "borrowing_limit": _limit(row, resource),
                        "lending_limit": None if row.is_lent else _NOTHING,
                    }
                    for resource in covered
                ],
            }
            for row in rows
        ],
    }


def card_quota(
    platform: Platform, flavor: CardFlavor, cards: int, borrow: int | None, *, is_lent: bool = True
) -> Quota:
    """Return the quota of `cards` cards and what goes with them.

    Args:
        platform: for the hosts' share per card.
        flavor: whose cards.
        cards: the nominal quota.
        borrow: how many cards more may be borrowed; None for no limit.
        is_lent: whether others may use what of them is idle.
    """
    share = per_card(platform, flavor.pool, flavor.model)
    return Quota(
        flavor=flavor,
        nominal=_amounts(share, flavor, cards),
        borrowing_limit=None if borrow is None else _amounts(share, flavor, borrow),
        is_lent=is_lent,
    )


def host_quota(platform: Platform, flavor: Flavor) -> Quota:
    """Return everything that CPU hosts have."""
    return Quota(flavor, of_hosts(platform.nodes_of(flavor.pool, None)).quantities())


def nothing(flavor: Flavor) -> Quota:
    """Return a nominal quota of nothing without a limit on borrowing."""
    return Quota(flavor, {})


def _amounts(share: Amount, flavor: CardFlavor, cards: int) -> Mapping[str, str]:
    return {**share.times(cards).quantities(), flavor.resource: str(cards * flavor.slices)}


def _limit(row: Quota, resource: str) -> str | None:
    return None if row.borrowing_limit is None else row.borrowing_limit.get(resource, _NOTHING)
