"""Is each file shaped as the models say? Every fault is told; what is sound is kept.

Broken parts are cut out until the rest fits its model, so that the checks of meaning can
still look at it and one run tells everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from tallyard.spec import document, faults, keys_of_pools, schema
from tallyard.spec.document import OverlayKeys, PlatformKeys
from tallyard.spec.problem import Location, Problem
from tallyard.spec.source import DEPTH_MAX
from tallyard.spec.tree import Steps, Table, Tree, has, plain, without

_FORMS = frozenset({keys_of_pools.WORD, keys_of_pools.MAPPING})

# What stands in for a section that is missing or was cut: nothing that a check looks at.
_EMPTY: Mapping[str, object] = {
    "apiVersion": document.API_VERSION,
    "kind": "Platform",
    "metadata": {"name": "none"},
    "accelerators": {},
    "topology": (),
    "priorities": (),
    "pools": {},
    "defaults": {"per-card": {"cpu": 1, "memory": "1Mi"}, "ephemeral-storage": "1Mi"},
    "tiers": {},
    "projects": {},
    "base": "none",
    "nodes": (),
}


@dataclass(frozen=True)
class Shaped[K: (PlatformKeys, OverlayKeys)]:
    """A file whose sound parts fit their model.

    `tree` has the parts that `keys` has; `broken` are the root keys under which something
    was cut or is missing.
    """

    keys: K
    tree: Tree
    problems: tuple[Problem, ...]
    broken: frozenset[str]


def shape[K: (PlatformKeys, OverlayKeys)](model: type[K], tree: Table) -> Shaped[K]:
    """Check a file's tree against its model; see the module."""
    names = schema.platform_schema() if model is PlatformKeys else schema.overlay_schema()
    other = schema.overlay_schema() if model is PlatformKeys else schema.platform_schema()
    teller = faults.teller(tree, names, other)
    problems = list(teller.unasked())
    broken = {root_key(problem.path) for problem in problems}
    cut: Tree = tree
    missing: dict[str, object] = {}
    # Each round cuts at least one level above what the last one cut.
    for attempt in range(DEPTH_MAX + 2):
        data = plain(cut)
        assert isinstance(data, dict)  # noqa: S101 - the root of a tree is never cut
        try:
            return Shaped(
                model.model_validate({**data, **missing}), cut, tuple(problems), frozenset(broken)
            )
        except ValidationError as error:
            found = [_placed(each) for each in error.errors(include_url=False, include_input=False)]
        if attempt == 0:
            told = [
                problem
                for each in found[: faults.FAULTS_TOLD_MAX]
                if (problem := teller.tell(each))
            ]
            problems += faults.without_mistyped(told)
            if len(found) > faults.FAULTS_TOLD_MAX:
                problems.append(
                    Problem("SPEC037", tree.location, "", {"limit": faults.FAULTS_TOLD_MAX})
                )
        # Of so many faults not each is cut out by itself: their sections go as a whole.
        is_wrong_file = len(found) > faults.FAULTS_TOLD_MAX
        places = {each["loc"][:1] if is_wrong_file else _place(each, names, cut) for each in found}
        broken |= {str(place[0]) for place in places}
        absent = {str(place[0]) for place in places if not has(cut, place[:1])}
        missing |= {key: _EMPTY[key] for key in absent}
        cut = without(cut, (place for place in places if str(place[0]) not in absent))
    raise AssertionError("cutting ends at the root's keys, which have stand-ins")


def unread[K: (PlatformKeys, OverlayKeys)](model: type[K], file: Path) -> Shaped[K]:
    """Return what stands in for a file of which nothing could be read: nothing in it is sure."""
    names = {key.alias or name: key for name, key in model.model_fields.items()}
    needed = {name: _EMPTY[name] for name, key in names.items() if key.is_required()}
    tree = Table(Location(file, 1, 1), "", {})
    return Shaped(model.model_validate(needed), tree, (), frozenset(names))


def root_key(path: str) -> str:
    """Return the key of the file's root that a path begins with."""
    return path.partition(".")[0].partition("[")[0]


def _placed(error: ErrorDetails) -> ErrorDetails:
    """Return a fault with the place of the tree, without the form that pydantic tried there."""
    error["loc"] = tuple(step for step in error["loc"] if step not in _FORMS)
    return error


def _place(error: ErrorDetails, names: schema.Schema, tree: Tree) -> Steps:
    """Return what to cut: the entry that the fault is in, for a check of an entry that lost
    a key would tell the loss as a second fault."""
    steps = error["loc"]
    for length in range(len(steps), 1, -1):
        above = steps[:length]
        if has(tree, above) and "properties" in (schema.at(names, above) or {}):
            return above
    return steps[:1]
