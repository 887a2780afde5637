"""Both files of a spec, their sound parts read, their meaning not yet checked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache

from tallyard import labels
from tallyard.spec import fields, hosts, moments
from tallyard.spec.document import HostsKeys, OverlayKeys, PlatformKeys
from tallyard.spec.keys_of_projects import OverrideKeys
from tallyard.spec.keys_of_waivers import WaiverKeys
from tallyard.spec.problem import Problem
from tallyard.spec.shape import Shaped
from tallyard.spec.suggest import nearest
from tallyard.spec.tree import Scalar, Sequence, Step, Table, Tree, child, find, find_key, has

# The root keys that only an environment's file has.
_OVERLAY = frozenset({"base", "nodes"})
_UNKNOWN = {
    "accelerators": "SPEC201",
    "pools": "SPEC202",
    "tiers": "SPEC203",
    "priorities": "SPEC204",
}
# The other sections have names that become names of objects.
_FORMS = {"accelerators": fields.LABEL_VALUE_PATTERN}
# A node's name is also the value of its label kubernetes.io/hostname.
_HOST_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


type Place = tuple[str, str]
"""A pool and a model."""


@dataclass(frozen=True)
class Draft:
    """What the checks of meaning look at.

    `written` are the files as they stand, broken parts too. `names` holds, per section,
    every name that is written there, those of broken entries too: a reference to one of them
    is not a second fault. `now` is the moment that the ends of overrides and
    waivers are compared with.
    """

    platform: Shaped[PlatformKeys]
    overlay: Shaped[OverlayKeys]
    written: tuple[Tree, ...]
    names: Mapping[str, tuple[str, ...]]
    unsure: frozenset[str]
    now: datetime

    def is_sound(self, *sections: str) -> bool:
        """Return whether nothing is missing from these sections (root keys)."""
        return not (self.unsure | self.platform.broken | self.overlay.broken) & set(sections)

    def end(self, until: str) -> datetime:
        """Return the moment at which something ends that holds `until` a text."""
        return moments.end(until, self.platform.keys.time_zone)

    def owned_models(self, pool: str) -> tuple[str, ...] | None:
        """Return the models that a pool owns; None where that is wrong or not clear.

        What is wrong with the pool is told by itself, so whoever compares with its models
        leaves it at that.
        """
        return self._owned.get(pool)

    @cached_property
    def _owned(self) -> Mapping[str, tuple[str, ...]]:
        """The models of each pool that owns some, as far as all of them are known."""
        known = self._known["accelerators"]
        return {
            name: pool.models
            for name, pool in self.platform.keys.pools.items()
            if pool.borrows_from is None
            and pool.models is not None
            and known.issuperset(pool.models)
        }

    def is_placed(self, group: HostsKeys) -> bool:
        """Return whether the hosts' pool lists their model; hosts without cards always are.

        What is not is told by itself. The cards may have been meant for any pool, so sums over
        the hosts would tell it again.
        """
        if group.pool == labels.CPU_POOL:
            return group.model is None and group.cards is None
        models = self.owned_models(group.pool)
        return models is not None and group.model in models and group.cards is not None

    def are_hosts_placed(self) -> bool:
        """Return whether all hosts are placed, and each model has hosts in each of its pools."""
        groups = self.overlay.keys.nodes
        present = {(group.pool, group.model) for group in groups}
        for name, pool in self.platform.keys.pools.items():
            models = self.owned_models(name)
            if models is None and pool.borrows_from is None:
                return False
            if not present.issuperset((name, model) for model in models or ()):
                return False
        return all(self.is_placed(group) for group in groups)

    @cached_property
    def installed(self) -> Mapping[Place, int] | None:
        """The cards by pool and model; None where it is not clear which hosts stand where.

        A host that is written twice counts twice; the sum is then told too large, never too small.
        """
        groups = self.overlay.keys.nodes
        if not self.is_sound("nodes", "pools", "accelerators"):
            return None
        if not all(self.is_placed(group) and are_counted(group) for group in groups):
            return None
        cards: Counter[Place] = Counter()
        for group in groups:
            if group.model is not None:
                cards[group.pool, group.model] += hosts.count(group.hosts) * (group.cards or 0)
        return cards

    def is_written(self, *steps: Step) -> bool:
        """Return whether a value stands in its file, rather than being the default."""
        return has(self._tree(steps[0]), steps)

    def overrides_in_force(self, project: str) -> Iterator[tuple[int, OverrideKeys]]:
        """Yield a project's overrides that have not ended, each with its place in the list."""
        for index, override in enumerate(self.platform.keys.projects[project].overrides):
            if self.now < self.end(override.until):
                yield index, override

    def waivers(self) -> Iterator[tuple[Tree, int, WaiverKeys]]:
        """Yield the waivers of both files, each with its file and its place in the list there."""
        for file in (self.platform, self.overlay):
            for index, waiver in enumerate(file.keys.waivers):
                yield file.tree, index, waiver

    def problem(self, code: str, *steps: Step, **values: object) -> Problem:
        """Return a problem at a value; its path is looked up in the file that has it."""
        return self._told(code, find(self._tree(steps[0]), steps), values)

    def line(self, *steps: Step) -> int:
        """Return the line on which something stands."""
        return find(self._tree(steps[0]), steps).location.line

    def problem_at_key(self, code: str, *steps: Step, **values: object) -> Problem:
        """Return a problem at the key itself."""
        return self._told(code, find_key(self._tree(steps[0]), steps), values)

    def unknown(
        self, section: str, name: Scalar, built_in: tuple[str, ...] = ()
    ) -> Iterator[Problem]:
        """Yield a problem if the section has no such name; nothing if it is not written."""
        known = self._known[section]
        if not known or name.text in known or name.text in built_in:
            return
        # The name stands there in a form that was refused, with capitals: then the reference
        # is right and the fault is told already.
        legal, refused = self._forms[section]
        if name.text.casefold() in refused:
            return
        valid = (*legal, *built_in)
        values = {"found": name.text, "nearest": nearest(name.text, valid), "choices": valid}
        yield self._told(_UNKNOWN[section], name, values)

    @cached_property
    def _known(self) -> Mapping[str, frozenset[str]]:
        """The names that are written in each section."""
        return {section: frozenset(self.names.get(section, ())) for section in _UNKNOWN}

    @cached_property
    def _forms(self) -> Mapping[str, tuple[tuple[str, ...], frozenset[str]]]:
        """The names of each section that have the form of one, and the others in small letters.

        A name whose entry is broken inside is a name all the same.
        """
        found: dict[str, tuple[tuple[str, ...], frozenset[str]]] = {}
        for section, written in self.names.items():
            form = re.compile(_FORMS.get(section, fields.DNS_LABEL_PATTERN))
            legal = tuple(
                name
                for name in written
                if len(name) <= fields.NAME_LENGTH_MAX and form.fullmatch(name)
            )
            refused = frozenset(name.casefold() for name in set(written).difference(legal))
            found[section] = (legal, refused)
        return found

    def _tree(self, root: Step) -> Tree:
        return self.overlay.tree if root in _OVERLAY else self.platform.tree

    @staticmethod
    def _told(code: str, node: Tree, values: Mapping[str, object]) -> Problem:
        return Problem(code, node.location, node.path, values)


def are_counted(group: HostsKeys) -> bool:
    """Return whether it is clear how many hosts a group has.

    It is not where their name is refused, and where they are fewer than their racks: then
    `h100-00-23` stands there and 24 hosts are meant. Either is told by the checks of hosts.
    """
    if bad_host(group.hosts) is not None:
        return False
    try:
        return hosts.count(group.rack) <= hosts.count(group.hosts)
    except hosts.RangeError:
        return True  # it is the racks that are told


def bad_host(pattern: str) -> str | None:
    """Return the first name of a range that no host can have; the range itself if it is none."""
    try:
        return next((name for name in hosts.ends(pattern) if not _is_host_name(name)), None)
    except hosts.RangeError:
        return pattern


# Each group of hosts is looked at by several checks.
@lru_cache(maxsize=8_192)
def _is_host_name(name: str) -> bool:
    return len(name) <= fields.NAME_LENGTH_MAX and _HOST_NAME.fullmatch(name) is not None


def written_names(tree: Tree) -> dict[str, tuple[str, ...]]:
    """Return, per section of a platform's file, the names that stand there."""
    names: dict[str, tuple[str, ...]] = {}
    for section in ("accelerators", "pools", "tiers", "projects"):
        table = child(tree, section)
        if isinstance(table, Table):
            names[section] = tuple(table.entries)
    priorities = child(tree, "priorities")
    if isinstance(priorities, Sequence):
        found = (child(each, "name") for each in priorities.items)
        names["priorities"] = tuple(name.text for name in found if isinstance(name, Scalar))
    return names
