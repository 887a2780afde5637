"""All that differs between a platform before and after."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from tallyard.spec.changes.change import Presence, Subject, presence
from tallyard.spec.changes.everybody import everybody
from tallyard.spec.changes.hosts import HostsChange, SupplyChange, host_changes, supply_changes
from tallyard.spec.changes.limits import tiers
from tallyard.spec.changes.projects import ProjectChange, projects
from tallyard.spec.model import Platform


@dataclass(frozen=True)
class Changes:
    """What differs, in the order in which people are told.

    `environment` says whether the environment itself came or went. `zone_before` and
    `zone_after` are the time zones in which the ends of overrides are read.
    """

    environment: Presence
    tiers: tuple[Subject, ...]
    projects: tuple[ProjectChange, ...]
    everybody: tuple[Subject, ...]
    hosts: tuple[HostsChange, ...]
    supply: tuple[SupplyChange, ...]
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
    named = tuple(tiers(before, after))
    teams = tuple(projects(before, after, now))
    shared = tuple(everybody(before, after))
    hosts = tuple(host_changes(before, after))
    supply = tuple(supply_changes(before, after))
    here = presence(before, after)
    if here is Presence.CHANGED and not (named or teams or shared or hosts or supply):
        here = Presence.SAME
    zones = [side.time_zone for side in (before, after) if side]
    return Changes(here, named, teams, shared, hosts, supply, zones[0], zones[-1])
