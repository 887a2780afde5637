"""Is each file shaped as the models say? Every fault is told; what is sound is kept.

Broken parts are cut out until the rest fits its model, so that the checks of meaning can
still look at it and one run tells everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from tallyard import units
from tallyard.spec import document, schema
from tallyard.spec.document import OverlayKeys, PlatformKeys
from tallyard.spec.hosts import RANGE_PATTERN
from tallyard.spec.problem import Problem
from tallyard.spec.source import DEPTH_MAX
from tallyard.spec.suggest import nearest
from tallyard.spec.tree import (
    Scalar,
    Sequence,
    Steps,
    Table,
    Tree,
    find,
    find_key,
    has,
    key_path,
    plain,
    without,
)

# More faults in one file mean that it is another kind of file; telling each takes its time.
FAULTS_TOLD_MAX = 10_000

_TYPES = {
    "string_type": "SPEC105",
    "int_type": "SPEC106",
    "int_from_float": "SPEC106",
    "bool_type": "SPEC107",
    "tuple_type": "SPEC108",
    "dict_type": "SPEC109",
    "model_type": "SPEC109",
    "model_attributes_type": "SPEC109",
}
_PATTERNS = {
    document.DNS_LABEL_PATTERN: "SPEC114",
    RANGE_PATTERN: "SPEC115",
    document.LABEL_VALUE_PATTERN: "SPEC116",
    units.QUANTITY_PATTERN: "SPEC117",
    document.RESOURCE_PATTERN: "SPEC120",
    document.LOGIN_PATTERN: "SPEC121",
    document.SPOKEN_PATTERN: "SPEC122",
}
_OTHERS = {
    "literal_error": "SPEC110",
    "greater_than_equal": "SPEC111",
    "less_than_equal": "SPEC111",
    "too_short": "SPEC112",
    "string_too_short": "SPEC112",
    "string_too_long": "SPEC113",
    "quantity_inexact": "SPEC118",
    "quantity_small": "SPEC119",
}
_KEY = "[key]"

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
    teller = _Teller(tree, names, other, tuple(schema.places(names)))
    problems = list(teller.empty_sections())
    broken = {problem.path for problem in problems}
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
            found = error.errors(include_url=False, include_input=False)
        if attempt == 0:
            told = [problem for each in found[:FAULTS_TOLD_MAX] if (problem := teller.tell(each))]
            problems += _without_mistyped(told)
        places = {_place(each, names, cut) for each in found}
        broken |= {str(place[0]) for place in places}
        absent = {str(place[0]) for place in places if not has(cut, place[:1])}
        missing |= {key: _EMPTY[key] for key in absent}
        cut = without(cut, (place for place in places if str(place[0]) not in absent))
    raise AssertionError("cutting ends at the root's keys, which have stand-ins")


def _without_mistyped(problems: list[Problem]) -> list[Problem]:
    """Drop "`tiers` is missing" where "`teirs` is unknown, did you mean `tiers`" is told."""
    meant = {
        problem.path.removesuffix(str(problem.values["key"])) + str(problem.values["nearest"])
        for problem in problems
        if problem.code == "SPEC101" and problem.values["nearest"]
    }
    return [each for each in problems if each.code != "SPEC104" or each.path not in meant]


def _place(error: ErrorDetails, names: schema.Schema, tree: Tree) -> Steps:
    """Return what to cut: the entry that the fault is in, for a check of an entry that lost
    a key would tell the loss as a second fault."""
    steps = error["loc"]
    for length in range(len(steps), 0, -1):
        above = steps[:length]
        if has(tree, above) and "properties" in (schema.at(names, above) or {}):
            return above
    return steps[:1]


@dataclass(frozen=True)
class _Teller:
    """Turns pydantic's errors about one file into problems."""

    tree: Table
    names: schema.Schema
    other: schema.Schema
    places: tuple[Steps, ...]

    def empty_sections(self) -> list[Problem]:
        return [
            Problem("SPEC112", entry.key.location, entry.key.path, {})
            for key, entry in self.tree.entries.items()
            if _is_filled(schema.at(self.names, (key,))) and _is_empty(entry.value)
        ]

    def tell(self, error: ErrorDetails) -> Problem | None:
        steps, kind = error["loc"], error["type"]
        if kind == "extra_forbidden":
            return self._unknown_key(steps)
        if kind == "missing":
            return self._missing(steps)
        if steps[-1] == _KEY:
            return self._value(error, find_key(self.tree, steps[:-1]))
        node = find(self.tree, steps)
        if kind == "too_short" and not _is_empty(node):
            return None  # its items are told one by one
        return self._value(error, node)

    def _unknown_key(self, steps: Steps) -> Problem:
        key = str(steps[-1])
        at = find_key(self.tree, steps)
        valid = sorted((schema.at(self.names, steps[:-1]) or {}).get("properties", {}))
        if len(steps) == 1 and key in self.other["properties"]:
            return Problem("SPEC102", at.location, at.path, {"key": key})
        suggestion = nearest(key, valid)
        elsewhere = "" if suggestion else self._elsewhere(key)
        values = {"key": key, "nearest": suggestion, "choices": valid, "elsewhere": elsewhere}
        return Problem("SPEC103" if elsewhere else "SPEC101", at.location, at.path, values)

    def _elsewhere(self, key: str) -> str:
        return next((_shown(place) for place in self.places if place[-1] == key), "")

    def _missing(self, steps: Steps) -> Problem:
        parent = find_key(self.tree, steps[:-1]) if len(steps) > 1 else self.tree
        path = key_path(parent.path, str(steps[-1]))
        return Problem("SPEC104", parent.location, path, {"key": steps[-1]})

    def _value(self, error: ErrorDetails, node: Tree) -> Problem:
        rule = schema.at(self.names, error["loc"]) or {}
        code, values = _fault(error, rule, node)
        return Problem(code, node.location, node.path, {"found": _found(node), **values})


def _fault(error: ErrorDetails, rule: schema.Schema, node: Tree) -> tuple[str, dict[str, Any]]:
    """Return the code and the values of a fault in one value."""
    kind, context = error["type"], error.get("ctx", {})
    code = _TYPES.get(kind) or _PATTERNS.get(context.get("pattern", "")) or _OTHERS.get(kind)
    values: dict[str, Any] = {}
    match code:
        case "SPEC105" if rule.get("pattern") == units.QUANTITY_PATTERN and _is_number(node):
            code = "SPEC117"
        case "SPEC110":
            choices = list(rule.get("enum", (rule.get("const"),)))
            values = {"choices": choices, "nearest": nearest(str(_found(node)), map(str, choices))}
        case "SPEC111":
            values = {"least": rule.get("minimum"), "most": rule.get("maximum")}
        case "SPEC113":
            values = {"limit": context["max_length"]}
        case None:
            code, values = "SPEC199", {"detail": error["msg"]}
    return code, values


def _is_number(node: Tree) -> bool:
    return isinstance(node, Scalar) and type(node.value) in {int, float}


def _found(node: Tree) -> object:
    """Return what messages show of a node: its text, or what kind of thing it is."""
    match node:
        case Scalar(value=str()):
            return node.text
        case Scalar():
            return node.value
        case Sequence():
            return []
        case Table():
            return {}


def _is_empty(node: Tree) -> bool:
    return (isinstance(node, Sequence) and not node.items) or (
        isinstance(node, Table) and not node.entries
    )


def _is_filled(rule: schema.Schema | None) -> bool:
    return rule is not None and ("minItems" in rule or "minProperties" in rule)


def _shown(place: Steps) -> str:
    path = ""
    for step in place:
        path = f"{path}[]" if isinstance(step, int) else key_path(path, step)
    return path
