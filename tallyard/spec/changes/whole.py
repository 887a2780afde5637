"""All that differs between a platform before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from tallyard.spec.changes.change import Presence, Subject, presence
from tallyard.spec.changes.everybody import everybody
from tallyard.spec.changes.hosts import HostsChange, Move, host_changes, moves
from tallyard.spec.changes.limits import tiers
from tallyard.spec.changes.people import with_likely_renames, with_moves
from tallyard.spec.changes.projects import ProjectChange, projects
from tallyard.spec.changes.renames import Rename, renamed
from tallyard.spec.changes.supply import (
    BudgetChange,
    SupplyChange,
    budgets,
    supply_changes,
)
from tallyard.spec.changes.waivers import WaiverChange, waiver_changes
from tallyard.spec.model import Platform


@dataclass(frozen=True)
class Changes:
    """What differs, in the order in which people are told.

    `environment` says whether the environment itself came or went. What is in `renames` is
    called by its new name everywhere else. `slices` says of each pool that cuts its cards
    into how many. `zone_before` and `zone_after` are the time zones in which the ends of
    overrides and waivers are read.
    """

    environment: Presence
    renames: tuple[Rename, ...]
    tiers: tuple[Subject, ...]
    projects: tuple[ProjectChange, ...]
    everybody: tuple[Subject, ...]
    hosts: tuple[HostsChange, ...]
    moves: tuple[Move, ...]
    supply: tuple[SupplyChange, ...]
    budget: BudgetChange
    waivers: tuple[WaiverChange, ...]
    slices: Mapping[str, int]
    zone_before: str
    zone_after: str


def changes(before: Platform | None, after: Platform | None, now: datetime) -> Changes:
    """Return what differs.

    Args:
        before: The platform before; None where the environment was not there.
        after: The platform after; None where the environment is gone.
        now: The moment at which both were loaded, with its offset.

    Raises:
        ValueError: There is no platform at all.
    """
    if before is None and after is None:
        raise ValueError("nothing to compare")
    names: tuple[Rename, ...] = ()
    if before is not None and after is not None:
        before, names = renamed(before, after)
    named = tuple(tiers(before, after))
    teams = with_likely_renames(with_moves(projects(before, after, now)), before, after)
    shared = tuple(everybody(before, after))
    hosts = tuple(host_changes(before, after))
    supply = tuple(supply_changes(before, after))
    budget = budgets(before, after)
    waivers = tuple(waiver_changes(before, after))
    here = presence(before, after)
    if here is Presence.CHANGED and not (
        names or named or teams or shared or hosts or supply or budget.differs or waivers
    ):
        here = Presence.SAME
    sides = [side for side in (before, after) if side]
    pools = {name: pool for side in sides for name, pool in side.pools.items()}
    return Changes(
        environment=here,
        renames=names,
        tiers=named,
        projects=teams,
        everybody=shared,
        hosts=hosts,
        moves=tuple(moves(before, after)),
        supply=supply,
        budget=budget,
        waivers=waivers,
        slices={name: pool.slices for name, pool in pools.items() if pool.slices > 1},
        zone_before=sides[0].time_zone,
        zone_after=sides[-1].time_zone,
    )
