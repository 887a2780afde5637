"""What still stands in the cluster as an override gave it that has ended. Pure.

Only what is exactly as it was while an override held is changed: a quota that somebody has set by
hand since, or that a newer `pulumi up` has, is theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from tallyard.cluster.additions import covers
from tallyard.cluster.conditions import Object
from tallyard.render.admission.table import table_manifest
from tallyard.render.manifest import Manifest
from tallyard.render.queues import cluster_queue_manifests, cohort_manifests
from tallyard.spec.in_force import ends, platform_at
from tallyard.spec.model import Platform

_BEFORE = timedelta(microseconds=1)


@dataclass(frozen=True)
class Return:
    """An object that an override has changed: what it was at earlier moments, what it is now.

    All are its `spec`.
    """

    kind: str
    name: str
    earlier: tuple[Object, ...]
    wanted: Object

    def change(self, live: Object) -> Mapping[str, Any] | None:
        """Return what makes the object what it is to be (RFC 7396), None where nothing does.

        Args:
            live: The object as the API server has it.
        """
        spec = live["spec"]
        was = next((each for each in self.earlier if covers(spec, each)), None)
        if was is None or covers(spec, self.wanted):
            return None
        version = {"resourceVersion": live["metadata"]["resourceVersion"]}
        return {"metadata": version, "spec": difference(was, self.wanted)}


def returns(platform: Platform, now: datetime) -> tuple[Return, ...]:
    """Return what overrides that have ended had changed, whether it is already back or not."""
    wanted = _rendered(platform_at(platform, now))
    past = [_rendered(platform_at(platform, end - _BEFORE)) for end in ends(platform) if end <= now]
    return tuple(
        Return(*place, earlier, spec)
        for place, spec in wanted.items()
        if (earlier := tuple(_others(place, spec, past)))
    )


def ended(platform: Platform, now: datetime) -> tuple[str, ...]:
    """Return the overrides that have ended, as people call them: project, end, reason."""
    zone = ZoneInfo(platform.time_zone)
    return tuple(
        f"{project.key}, until {each.until.astimezone(zone):%Y-%m-%d %H:%M %Z}: {each.reason}"
        for project in platform.projects.values()
        for each in project.overrides
        if each.until <= now
    )


def difference(was: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the merge patch (RFC 7396) that makes one mapping of another."""
    found: dict[str, Any] = {key: None for key in was if key not in wanted}
    for key, value in wanted.items():
        before = was.get(key)
        if isinstance(value, Mapping) and isinstance(before, Mapping):
            if inner := difference(before, value):
                found[key] = inner
        elif value != before:
            found[key] = value
    return found


type _Place = tuple[str, str]


def _rendered(platform: Platform) -> Mapping[_Place, Object]:
    """Return the objects in which the limits of projects stand, by kind and name."""
    return {(each.kind, each.name): each.object["spec"] for each in _limited(platform)}


def _limited(platform: Platform) -> Iterator[Manifest]:
    yield table_manifest(platform)
    yield from cohort_manifests(platform)
    yield from cluster_queue_manifests(platform)


def _others(place: _Place, wanted: Object, past: list[Mapping[_Place, Object]]) -> Iterator[Object]:
    """Yield what an object was at earlier moments, where that is something else."""
    seen: list[Object] = []
    for rendered in past:
        if (spec := rendered[place]) != wanted and spec not in seen:
            seen.append(spec)
            yield spec
