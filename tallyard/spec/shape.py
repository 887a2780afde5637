"""Is each file shaped as the models say? Every fault is told; what is sound is kept.

Broken parts are cut out until the rest fits its model, so that the checks of meaning can
still look at it and one run tells everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from tallyard import units
from tallyard.spec import document, fields, guesses, lookalikes, schema
from tallyard.spec.document import OverlayKeys, PlatformKeys
from tallyard.spec.hosts import RANGE_PATTERN
from tallyard.spec.problem import Problem
from tallyard.spec.source import DEPTH_MAX
from tallyard.spec.suggest import nearest
from tallyard.spec.tree import (
    Scalar,
    Sequence,
    Step,
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
FAULTS_TOLD_MAX = 2_000

_TYPES = {
    "string_type": "SPEC105",
    "int_type": "SPEC106",
    "int_from_float": "SPEC106",
    "float_type": "SPEC129",
    "bool_type": "SPEC107",
    "tuple_type": "SPEC108",
    "dict_type": "SPEC109",
    "model_type": "SPEC109",
    "model_attributes_type": "SPEC109",
}
_PATTERNS = {
    fields.DNS_LABEL_PATTERN: "SPEC114",
    RANGE_PATTERN: "SPEC115",
    fields.LABEL_VALUE_PATTERN: "SPEC116",
    units.QUANTITY_PATTERN: "SPEC117",
    fields.RESOURCE_PATTERN: "SPEC120",
    fields.LOGIN_PATTERN: "SPEC121",
    fields.SPOKEN_PATTERN: "SPEC122",
    units.DURATION_PATTERN: "SPEC124",
    fields.PERCENT_PATTERN: "SPEC125",
    fields.CORE_HOURS_PATTERN: "SPEC126",
    fields.MOMENT_PATTERN: "SPEC127",
    fields.ZONE_PATTERN: "SPEC130",
    fields.REGISTRY_PATTERN: "SPEC132",
    fields.RESOURCE_PREFIX_PATTERN: "SPEC133",
}
# Texts that begin with a figure: a bare number there is one without its unit.
_FIGURES = frozenset({"SPEC117", "SPEC124", "SPEC125", "SPEC126", "SPEC127"})
_FIGURE_PARSERS = {
    "SPEC124": units.parse_duration,
    "SPEC125": units.parse_percent,
    "SPEC126": units.core_hours_amount,
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
    "out_of_range": "SPEC111",
    "too_fine": "SPEC128",
    "zone_unknown": "SPEC130",
    "no_such_moment": "SPEC131",
}
_KEY = "[key]"
_FORMS = frozenset({document.WORD, document.MAPPING})

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
    teller: _Teller = _Teller(tree, names, other, _where(names, other))
    problems = [*teller.empty_sections(), *islice(teller.empty_values(tree, ()), FAULTS_TOLD_MAX)]
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
            told = [problem for each in found[:FAULTS_TOLD_MAX] if (problem := teller.tell(each))]
            problems += _without_mistyped(told)
            if len(found) > FAULTS_TOLD_MAX:
                problems.append(Problem("SPEC037", tree.location, "", {"limit": FAULTS_TOLD_MAX}))
        # Of so many faults not each is cut out by itself: their sections go as a whole.
        is_wrong_file = len(found) > FAULTS_TOLD_MAX
        places = {each["loc"][:1] if is_wrong_file else _place(each, names, cut) for each in found}
        broken |= {str(place[0]) for place in places}
        absent = {str(place[0]) for place in places if not has(cut, place[:1])}
        missing |= {key: _EMPTY[key] for key in absent}
        cut = without(cut, (place for place in places if str(place[0]) not in absent))
    raise AssertionError("cutting ends at the root's keys, which have stand-ins")


def root_key(path: str) -> str:
    """Return the key of the file's root that a path begins with."""
    return path.partition(".")[0].partition("[")[0]


def _placed(error: ErrorDetails) -> ErrorDetails:
    """Return a fault with the place of the tree, without the form that pydantic tried there."""
    error["loc"] = tuple(step for step in error["loc"] if step not in _FORMS)
    return error


def _without_mistyped(problems: list[Problem]) -> list[Problem]:
    """Drop "`tiers` is missing" where "`teirs` is unknown, did you mean `tiers`" is told."""
    meant = {
        key_path(problem.path.removesuffix(last).removesuffix("."), str(problem.values["nearest"]))
        for problem in problems
        if problem.values.get("nearest") and "key" in problem.values
        for last in [key_path("", str(problem.values["key"]))]
    }
    return [each for each in problems if each.code != "SPEC104" or each.path not in meant]


def _place(error: ErrorDetails, names: schema.Schema, tree: Tree) -> Steps:
    """Return what to cut: the entry that the fault is in, for a check of an entry that lost
    a key would tell the loss as a second fault."""
    steps = error["loc"]
    for length in range(len(steps), 1, -1):
        above = steps[:length]
        if has(tree, above) and "properties" in (schema.at(names, above) or {}):
            return above
    return steps[:1]


def _where(*files: schema.Schema) -> Mapping[str, str]:
    """Return for each key the first place at which it can stand, that of its own file before
    that of the other."""
    places = [place for names in files for place in schema.places(names)]
    return {str(place[-1]): _shown(place) for place in reversed(places)}


@dataclass(frozen=True)
class _Teller:
    """Turns pydantic's errors about one file into problems."""

    tree: Table
    names: schema.Schema
    other: schema.Schema
    where: Mapping[str, str]

    def empty_sections(self) -> list[Problem]:
        return [
            Problem("SPEC112", entry.key.location, entry.key.path, {})
            for key, entry in self.tree.entries.items()
            if _is_filled(schema.at(self.names, (key,))) and _is_empty(entry.value)
        ]

    def empty_values(self, node: Tree, steps: Steps) -> Iterator[Problem]:
        """Yield a problem for each key of the spec, or item of a list, without a value."""
        match node:
            case Table():
                for key, entry in node.entries.items():
                    yield from self.empty_values(entry.value, (*steps, key))
            case Sequence():
                for index, item in enumerate(node.items):
                    yield from self.empty_values(item, (*steps, index))
            case Scalar(value=None) if schema.at(self.names, steps) is not None:
                yield Problem("SPEC123", node.location, node.path, {})

    def tell(self, error: ErrorDetails) -> Problem | None:
        steps, kind = error["loc"], error["type"]
        if kind == "extra_forbidden":
            return None if self._is_merge(steps) else self._unknown_key(steps)
        if kind == "missing":
            return self._missing(steps)
        if steps[-1] == _KEY:
            return self._value(error, find_key(self.tree, steps[:-1]))
        node = find(self.tree, steps)
        return None if _is_told_elsewhere(kind, node) else self._value(error, node)

    def _is_merge(self, steps: Steps) -> bool:
        """Return whether this is `<<: *name`, whose alias is told."""
        value = find(self.tree, steps)
        return steps[-1] == "<<" and isinstance(value, Scalar) and value.text.startswith("*")

    def _unknown_key(self, steps: Steps) -> Problem:
        key = str(steps[-1])
        at = find_key(self.tree, steps)
        valid = sorted((schema.at(self.names, steps[:-1]) or {}).get("properties", {}))
        if lookalike := lookalikes.cause(key):
            meant = nearest(lookalikes.plain(key).partition(":")[0], valid)
            values = {**lookalike.values, "key": key, "nearest": meant}
            return Problem(lookalike.code, at.location, at.path, values)
        if key in (schema.at(self.other, steps[:-1]) or {}).get("properties", {}):
            return Problem("SPEC102", at.location, at.path, {"key": key})
        suggestion = nearest(key, valid)
        elsewhere = "" if suggestion else self.where.get(key, "")
        values = {"key": key, "nearest": suggestion, "choices": valid, "elsewhere": elsewhere}
        return Problem("SPEC103" if elsewhere else "SPEC101", at.location, at.path, values)

    def _missing(self, steps: Steps) -> Problem:
        parent = find_key(self.tree, steps[:-1]) if len(steps) > 1 else self.tree
        path = key_path(parent.path, str(steps[-1]))
        values = {"key": steps[-1], "place": _shown(self._named(steps))}
        return Problem("SPEC104", parent.location, path, values)

    def _named(self, steps: Steps) -> Steps:
        """Return a place with NAME for each name that the author has chosen."""
        shown: list[Step] = []
        for length, step in enumerate(steps):
            above = schema.at(self.names, steps[:length]) or {}
            is_ours = isinstance(step, int) or step in above.get("properties", {})
            shown.append(step if is_ours else "NAME")
        return tuple(shown)

    def _value(self, error: ErrorDetails, node: Tree) -> Problem:
        lookalike = lookalikes.cause(node.text) if isinstance(node, Scalar) else None
        if lookalike and error["type"] != "string_too_long":
            return Problem(lookalike.code, node.location, node.path, lookalike.values)
        rule = schema.at(self.names, error["loc"]) or {}
        code, values = _fault(error, rule, node)
        return Problem(code, node.location, node.path, {"found": _found(node), **values})


def _is_told_elsewhere(kind: str, node: Tree) -> bool:
    """Return whether what is wrong with a value is told of its parts, or told as empty."""
    match node:
        case Table():
            return any(key.startswith("?") for key in node.entries)  # a key that is no text
        case Sequence():
            return kind == "too_short" and bool(node.items)
        case Scalar():
            return node.value is None


def _fault(error: ErrorDetails, rule: schema.Schema, node: Tree) -> tuple[str, dict[str, Any]]:
    """Return the code and the values of a fault in one value."""
    kind, context = error["type"], error.get("ctx", {})
    code = _TYPES.get(kind) or _PATTERNS.get(context.get("pattern", "")) or _OTHERS.get(kind)
    values: dict[str, Any] = {}
    match code:
        case "SPEC105" if _PATTERNS.get(rule.get("pattern", "")) in _expected_of(node):
            code = _PATTERNS[rule["pattern"]]
        case "SPEC109":
            values = {"choices": list(rule.get("properties", ()))}
        case "SPEC110":
            words = rule.get("enum", (rule.get("const"),))
            likely = nearest(str(_found(node)), map(str, words))
            values = {"choices": [*words, *_mapping_choices(rule)], "nearest": likely}
        case "SPEC111":
            values = {
                "least": context.get("least", rule.get("minimum")),
                "most": context.get("most", rule.get("maximum")),
            }
        case "SPEC113":
            values = {"limit": context["max_length"]}
        case None:
            code, values = "SPEC199", {"detail": error["msg"]}
    likely = guesses.likely(code, _found(node))
    if likely and _is_within(code, likely, rule):
        values["nearest"] = likely
    return code, values


def _is_within(code: str, text: str, rule: schema.Schema) -> bool:
    parse = _FIGURE_PARSERS.get(code)
    if parse is None or fields.LEAST not in rule:
        return True
    return parse(rule[fields.LEAST]) <= parse(text) <= parse(rule[fields.MOST])


def _mapping_choices(rule: schema.Schema) -> list[str]:
    """Return the mappings that can stand where a word can: `{time-slicing: ...}`."""
    return [f"{{{key}: ...}}" for key in rule.get("properties", ())]


def _expected_of(node: Tree) -> frozenset[str]:
    """Return the codes that say more of what is no text than that it is none."""
    if isinstance(node, Scalar):
        return _FIGURES if type(node.value) in {int, float} else frozenset()
    return frozenset({"SPEC115"})


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
