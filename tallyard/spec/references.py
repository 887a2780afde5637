"""Names that refer to another part of the spec: is there something of that name?

Looks at the files as they are written, not at their sound parts: a host group with a wrong
quantity may have a wrong pool as well, and one run tells both.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallyard import labels
from tallyard.spec.draft import Draft
from tallyard.spec.problem import Location, Problem
from tallyard.spec.tree import Scalar, Sequence, Table, Tree, child

_EACH = "*"
_KEYS = "the keys"
# A model in the place of a pool, or a list of pools: what stands below is of another kind.
_LEVELS = frozenset({"SPEC134", "SPEC137"})

# Where a name stands, the section that has it, and the names that are built in.
_REFERENCES: tuple[tuple[tuple[str, ...], str, tuple[str, ...]], ...] = (
    (("pools", _EACH, "priority"), "priorities", ()),
    (("pools", _EACH, "borrows-from"), "pools", ()),
    (("pools", _EACH, "models", _EACH), "accelerators", ()),
    (("projects", _EACH, "tier"), "tiers", ()),
    (("tiers", _EACH, "cards", _KEYS), "pools", ()),
    (("tiers", _EACH, "cards", _EACH, _KEYS), "accelerators", ()),
    (("tiers", _EACH, "borrow", _KEYS), "pools", ()),
    (("pools", _EACH, "default-model"), "accelerators", ()),
    (("projects", _EACH, "overrides", _EACH, "cards", _KEYS), "pools", ()),
    (("projects", _EACH, "overrides", _EACH, "cards", _EACH, _KEYS), "accelerators", ()),
    (("projects", _EACH, "overrides", _EACH, "borrow", _KEYS), "pools", ()),
    (("nodes", _EACH, "pool"), "pools", (labels.CPU_POOL,)),
    (("nodes", _EACH, "model"), "accelerators", ()),
)


def problems(draft: Draft) -> Iterator[Problem]:
    """Yield a problem for each name that nothing in the spec has.

    A value that is no text, or a text that no name can have, is a fault of its shape and is
    told there.
    """
    shaped = (*draft.platform.problems, *draft.overlay.problems)
    told = {problem.location for problem in shaped}
    closed = frozenset(problem.location for problem in shaped if problem.code in _LEVELS)
    for places, section, built_in in _REFERENCES:
        for tree in draft.written:
            for name in _names(tree, places, closed):
                if isinstance(name.value, str) and name.location not in told:
                    yield from draft.unknown(section, name, built_in)


def _names(tree: Tree, places: tuple[str, ...], closed: frozenset[Location]) -> Iterator[Scalar]:
    if not places:
        if isinstance(tree, Scalar):
            yield tree
        return
    first, *rest = places
    if first == _KEYS:
        if isinstance(tree, Table):
            yield from (entry.key for entry in tree.entries.values())
        return
    for below in _below(tree, first, closed):
        yield from _names(below, tuple(rest), closed)


def _below(tree: Tree, place: str, closed: frozenset[Location]) -> Iterator[Tree]:
    if tree.location in closed:
        return
    if place == _EACH and isinstance(tree, Table):
        for entry in tree.entries.values():
            if entry.key.location not in closed:
                yield entry.value
    elif place == _EACH and isinstance(tree, Sequence):
        yield from tree.items
    elif (found := child(tree, place)) is not None:
        yield found
