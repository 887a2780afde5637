"""Both files of a spec, their sound parts read, their meaning not yet checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tallyard.spec.document import OverlayKeys, PlatformKeys
from tallyard.spec.problem import Problem
from tallyard.spec.shape import Shaped
from tallyard.spec.suggest import nearest
from tallyard.spec.tree import Scalar, Sequence, Step, Table, Tree, child, find, find_key

_OVERLAY = frozenset(OverlayKeys.model_fields)


@dataclass(frozen=True)
class Draft:
    """What the checks of meaning look at.

    `written` are the files as they stand, broken parts too. `names` holds, per section,
    every name that is written there, those of broken entries too: a reference to one of them
    is not a second fault.
    """

    platform: Shaped[PlatformKeys]
    overlay: Shaped[OverlayKeys]
    written: tuple[Tree, ...]
    names: Mapping[str, tuple[str, ...]]
    unsure: frozenset[str]

    def is_sound(self, *sections: str) -> bool:
        """Return whether nothing is missing from these sections (root keys)."""
        return not (self.unsure | self.platform.broken | self.overlay.broken) & set(sections)

    def owned_models(self, pool: str) -> tuple[str, ...] | None:
        """Return the models that a pool owns; None where that is wrong or not clear.

        What is wrong with the pool is told by itself, so whoever compares with its models
        leaves it at that.
        """
        keys = self.platform.keys.pools.get(pool)
        if keys is None or keys.borrows_from is not None or keys.models is None:
            return None
        known = set(self.names.get("accelerators", ()))
        return keys.models if known.issuperset(keys.models) else None

    def problem(self, code: str, *steps: Step, **values: object) -> Problem:
        """Return a problem at a value; its path is looked up in the file that has it."""
        return self._told(code, find(self._tree(steps[0]), steps), values)

    def problem_at_key(self, code: str, *steps: Step, **values: object) -> Problem:
        """Return a problem at the key itself."""
        return self._told(code, find_key(self._tree(steps[0]), steps), values)

    def unknown(
        self, section: str, name: Scalar, built_in: tuple[str, ...] = ()
    ) -> Iterator[Problem]:
        """Yield a problem if the section has no such name; nothing if it is not written."""
        written = self.names.get(section, ())
        valid = (*written, *built_in)
        if not written or name.text in valid or self._is_misspelled_there(section, name.text):
            return
        values = {
            "kind": section,
            "found": name.text,
            "nearest": nearest(name.text, valid),
            "choices": valid,
        }
        yield self._told("SPEC201", name, values)

    def _is_misspelled_there(self, section: str, name: str) -> bool:
        """Return whether the name stands in the section in a form that was refused there,
        with capitals: then the reference is right and the fault is told already."""
        kept = written_names(self.platform.tree).get(section, ())
        refused = set(self.names.get(section, ())).difference(kept)
        return name.casefold() in {each.casefold() for each in refused}

    def _tree(self, root: Step) -> Tree:
        return self.overlay.tree if root in _OVERLAY else self.platform.tree

    @staticmethod
    def _told(code: str, node: Tree, values: Mapping[str, object]) -> Problem:
        return Problem(code, node.location, node.path, values)


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
