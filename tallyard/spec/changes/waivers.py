"""Which waivers of a rule came, went or say something else; those that have ended are none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tallyard.spec.changes.change import Presence, presence
from tallyard.spec.model import Platform
from tallyard.spec.waiver import Waiver


@dataclass(frozen=True)
class WaiverChange:
    """A waiver on both sides; None where it is not in force."""

    before: Waiver | None
    after: Waiver | None

    @property
    def presence(self) -> Presence:
        """Return whether it came, went or changed."""
        return presence(self.before, self.after)


def waiver_changes(before: Platform | None, after: Platform | None) -> Iterator[WaiverChange]:
    """Yield the waivers that differ: those that are in force after, then those that are gone.

    Of one rule those for the same objects are one and the same, then those of the same reason.
    """
    old = list(before.waivers) if before else []
    new = list(after.waivers) if after else []
    for each in tuple(new):
        if each in old:
            old.remove(each)
            new.remove(each)
    same: dict[int, Waiver] = {}
    for alike in (_of_same_objects, _of_same_reason):
        for index, each in enumerate(new):
            found = None if index in same else _taken(old, each, alike)
            if found is not None:
                same[index] = found
    yield from (WaiverChange(same.get(index), each) for index, each in enumerate(new))
    yield from (WaiverChange(each, None) for each in old)


def _taken(
    old: list[Waiver], wanted: Waiver, alike: Callable[[Waiver, Waiver], bool]
) -> Waiver | None:
    """Return the first that is alike, which is no longer among the others then."""
    found = next((each for each in old if alike(each, wanted)), None)
    if found is not None:
        old.remove(found)
    return found


def _of_same_objects(one: Waiver, other: Waiver) -> bool:
    return one.rule == other.rule and set(one.objects) == set(other.objects)


def _of_same_reason(one: Waiver, other: Waiver) -> bool:
    return one.rule == other.rule and one.reason == other.reason
