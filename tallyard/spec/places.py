"""Where a key of a loaded spec stands, by its path as messages write it.

What is found later, in rendered objects, is told with the line of the spec that caused it. Of a
spec the texts are those that were loaded: no file is read again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tallyard.spec import schema
from tallyard.spec.load import Loaded
from tallyard.spec.problem import Location
from tallyard.spec.shape import root_key
from tallyard.spec.source import parse, read
from tallyard.spec.tree import Scalar, Table, Tree
from tallyard.spec.waiver import Waiver


@dataclass(frozen=True)
class Places:
    """The trees of a spec's files; None where there is none, or it is no YAML.

    `per_environment` are the root keys that an environment's file can have.
    """

    platform: Table | None
    overlay: Table | None
    per_environment: frozenset[str]

    def at(self, path: str) -> Location | None:
        """Return where a key stands, or an item of a list.

        Args:
            path: The path as messages write it, e.g. `tiers.gold.cards.training`,
                `nodes[3].cards`, `projects.nlp.users."li.wei"`.

        Returns:
            The place of the nearest key or item on the way that is written; where the
            environment can say it too, that file's word counts if it leads as far. None where
            not even the first step is written.
        """
        reached = [_last(tree, path) for tree in self._trees(root_key(path))]
        found = [each for each in reached if each is not None]
        # The first of those that lead furthest: all of their paths are beginnings of this one.
        return max(found, key=lambda node: len(node.path)).location if found else None

    def of_waiver(self, waiver: Waiver) -> Location | None:
        """Return where a waiver stands: both files can have a `waivers[0]`."""
        tree = self.overlay if waiver.is_of_environment else self.platform
        found = _last(tree, waiver.path) if tree is not None else None
        return found.location if found is not None else None

    def _trees(self, root: str) -> Iterator[Table]:
        """Yield the files in which a root key can stand, the one that counts first."""
        if self.overlay is not None and root in self.per_environment:
            yield self.overlay
        if self.platform is not None:
            yield self.platform


def places_of(loaded: Loaded) -> Places:
    """Return the places of a spec, from the texts that it was loaded from."""
    texts = [(file, loaded.texts[file]) for file in loaded.files if file in loaded.texts]
    trees = {file: parse(text, file).tree for file, text in texts}
    # The platform's file comes first; where only one was found, all is looked up in that.
    platform, overlay = trees.get(loaded.files[0]), trees.get(loaded.files[-1])
    return Places(platform, overlay, frozenset(schema.overlay_schema()["properties"]))


def places_in(file: Path) -> Places:
    """Return the places of a file beside the spec, e.g. `stacks/versions.yaml`, which is read.

    Args:
        file: The file, by the name that places show. One that cannot be read has no places.
    """
    return Places(read(file, file).tree, None, frozenset())


def _last(tree: Table, path: str) -> Tree | None:
    """Return the last key or item on the way to a path that is there."""
    found: Tree | None = None
    here: Tree | None = tree
    while here is not None:
        step = next((each for each in _below(here) if _leads(each[0].path, path)), None)
        found, here = step if step is not None else (found, None)
    return found


def _below(node: Tree) -> Iterable[tuple[Tree, Tree]]:
    """Return what stands one step down: each key, or each item, with what is in it."""
    match node:
        case Table():
            return [(entry.key, entry.value) for entry in node.entries.values()]
        case Scalar():
            return ()
    return [(item, item) for item in node.items]


def _leads(path: str, wanted: str) -> bool:
    """Return whether a path is the wanted one, or a step on the way to it."""
    return wanted == path or wanted.startswith((f"{path}.", f"{path}["))
