"""What is told of one fault of shape: which slip it was, where it stands, what was meant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from pydantic_core import ErrorDetails

from tallyard.spec import lookalikes, misplaced, schema, value_faults
from tallyard.spec.problem import Problem
from tallyard.spec.suggest import nearest
from tallyard.spec.tree import (
    Entry,
    Scalar,
    Sequence,
    Step,
    Steps,
    Table,
    Tree,
    find,
    find_key,
    key_path,
    path_of,
)

# More faults in one file mean that it is another kind of file; telling each takes its time.
FAULTS_TOLD_MAX = 2_000

_KEY = "[key]"
_NOT_SHARED = frozenset({"mig", "mps"})
_NAMES_SHOWN_MAX = 3
# How deep the cards of a tier and those of an override are named.
_MODEL_DEPTHS = (4, 6)
# `weight:4`; behind the colon of a login or an address comes no figure and no bracket.
_UNSPACED = re.compile(r"([^\s:]{1,100}):([0-9{\[].*)", re.DOTALL)


def teller(tree: Table, names: schema.Schema, other: schema.Schema) -> Teller:
    """Return what tells the faults of one file.

    Args:
        tree: The file as it is written.
        names: Its schema.
        other: The schema of the spec's other file, whose keys may stand here by mistake.
    """
    known = misplaced.names(tree)
    models = dict(islice(misplaced.models(tree, known), FAULTS_TOLD_MAX))
    return Teller(tree, names, other, _where(names, other), known, models)


@dataclass(frozen=True)
class Teller:
    """Turns pydantic's errors about one file into problems.

    `where` has for each key a place at which it can stand; `models` are the places of models
    that stand where a pool is wanted.
    """

    tree: Table
    names: schema.Schema
    other: schema.Schema
    where: Mapping[str, str]
    known: misplaced.Names
    models: Mapping[Steps, Problem]

    def unasked(self) -> Iterator[Problem]:
        """Yield what no model tells: empty sections and values, models in a pool's place."""
        for key, entry in self.tree.entries.items():
            if _is_filled(schema.at(self.names, (key,))) and _is_empty(entry.value):
                yield Problem("SPEC112", entry.key.location, entry.key.path, {})
        yield from islice(self._empty_values(self.tree, ()), FAULTS_TOLD_MAX)
        yield from self.models.values()

    def _empty_values(self, node: Tree, steps: Steps) -> Iterator[Problem]:
        """Yield a problem for each key of the spec, or item of a list, without a value."""
        match node:
            case Table():
                for key, entry in node.entries.items():
                    here = (*steps, key)
                    if _is_login_alone(here, entry.value):
                        continue  # told as a login, with what stands behind the name
                    if not _is_unspaced(entry):
                        yield from self._empty_values(entry.value, here)
                    elif schema.at(self.names, here) is not None:
                        yield _unspaced(entry.key)
            case Sequence():
                for index, item in enumerate(node.items):
                    yield from self._empty_values(item, (*steps, index))
            case Scalar(value=None) if schema.at(self.names, steps) is not None:
                yield Problem("SPEC123", node.location, node.path, {})

    def tell(self, error: ErrorDetails) -> Problem | None:
        """Return the problem behind an error of pydantic; None where it is told already."""
        steps, kind = error["loc"], error["type"]
        if any(steps[:length] in self.models for length in _MODEL_DEPTHS):
            return None
        if kind == "extra_forbidden":
            return None if self._is_merge(steps) else self._unknown_key(steps)
        if kind == "missing":
            return self._missing(steps)
        if steps[-1] == _KEY:
            return self._key(error)
        node = find(self.tree, steps)
        return None if value_faults.is_told_elsewhere(kind, node) else self._value(error, node)

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
        if _is_unspaced_key(at, find(self.tree, steps)):
            return _unspaced(at, nearest(key.partition(":")[0], valid))
        if key in (schema.at(self.other, steps[:-1]) or {}).get("properties", {}):
            return Problem("SPEC102", at.location, at.path, {"key": key})
        if steps[-2:-1] == ("sharing",) and key.casefold() in _NOT_SHARED:
            values = {"found": key, "key": key, "nearest": "time-slicing"}
            return Problem("SPEC139", at.location, at.path, values)
        if place := misplaced.place_of(steps, self.known):
            values = {"key": key, "elsewhere": place, "nearest": "cards"}
            return Problem("SPEC103", at.location, at.path, values)
        suggestion = nearest(key, valid)
        elsewhere = "" if suggestion else self.where.get(key, "")
        values = {"key": key, "nearest": suggestion, "choices": valid, "elsewhere": elsewhere}
        return Problem("SPEC103" if elsewhere else "SPEC101", at.location, at.path, values)

    def _missing(self, steps: Steps) -> Problem:
        parent = find_key(self.tree, steps[:-1]) if len(steps) > 1 else self.tree
        path = key_path(parent.path, str(steps[-1]))
        values = {"key": steps[-1], "place": path_of(self._named(steps), numbered=False)}
        return Problem("SPEC104", parent.location, path, values)

    def _named(self, steps: Steps) -> Steps:
        """Return a place with NAME for each name that the author has chosen."""
        shown: list[Step] = []
        for length, step in enumerate(steps):
            above = schema.at(self.names, steps[:length]) or {}
            is_ours = isinstance(step, int) or step in above.get("properties", {})
            shown.append(step if is_ours else "NAME")
        return tuple(shown)

    def _key(self, error: ErrorDetails) -> Problem | None:
        """Return what is wrong with a name that the author has chosen."""
        steps = error["loc"][:-1]
        key = find_key(self.tree, steps)
        if _is_unspaced_key(key, find(self.tree, steps)):
            return None  # told with the empty values
        return self._value(error, key)

    def _value(self, error: ErrorDetails, node: Tree) -> Problem:
        lookalike = lookalikes.cause(node.text) if isinstance(node, Scalar) else None
        if lookalike and error["type"] != "string_too_long":
            return Problem(lookalike.code, node.location, node.path, lookalike.values)
        steps = tuple(step for step in error["loc"] if step != _KEY)
        slip = self._slip(steps, error["type"], node)
        if slip is not None:
            return Problem(slip[0], node.location, node.path, slip[1])
        rule = schema.at(self.names, error["loc"]) or {}
        item = schema.at(self.names, (*error["loc"], 0))
        code, values = value_faults.fault(error, rule, node, item)
        values = {"found": value_faults.found(node), **values}
        return Problem(code, node.location, node.path, values)

    def _slip(self, steps: Steps, kind: str, node: Tree) -> tuple[str, dict[str, object]] | None:
        """Return what is told of a value whose place says more than its form."""
        login = misplaced.login(steps, node, find(self.tree, steps[:2]))
        if login is not None:
            return "SPEC136", login
        is_word = isinstance(node, Scalar) and steps[-1:] == ("sharing",)
        if is_word and str(value_faults.found(node)).casefold() in _NOT_SHARED:
            return "SPEC139", {"found": value_faults.found(node)}
        return self._no_mapping(steps, node) if kind in value_faults.MAPPING_KINDS else None

    def _no_mapping(self, steps: Steps, node: Tree) -> tuple[str, dict[str, object]] | None:
        """Return what is told of a value in the place of a mapping, if it can be written as one."""
        limits = find(self.tree, steps[: 2 if steps[0] == "tiers" else 4])
        amount = misplaced.amount(steps, node, limits, self.known)
        if amount is not None:
            return "SPEC135", amount
        below = schema.at(self.names, (*steps, "NAME"))
        if isinstance(node, Sequence) and (right := _as_mapping(node, below)):
            return "SPEC137", {"right": right}
        if isinstance(node, Scalar) and self._is_pair(steps, node.text):
            return "SPEC038", _spaced(node.text)
        return None

    def _is_pair(self, steps: Steps, text: str) -> bool:
        """Return whether a text where a mapping is wanted is one entry without its blank."""
        pair = re.fullmatch(r"([\w.-]{1,100}):(\S.*)", text)
        rule = schema.at(self.names, steps) or {}
        if pair is None or "properties" in rule:
            return pair is not None and pair[1] in rule["properties"]
        return _UNSPACED.fullmatch(text) is not None


def without_mistyped(problems: list[Problem]) -> list[Problem]:
    """Drop "`tiers` is missing" where "`teirs` is unknown, did you mean `tiers`" is told."""
    meant = {
        key_path(problem.path.removesuffix(last).removesuffix("."), str(problem.values["nearest"]))
        for problem in problems
        if problem.values.get("nearest") and "key" in problem.values
        for last in [key_path("", str(problem.values["key"]))]
    }
    return [each for each in problems if each.code != "SPEC104" or each.path not in meant]


def _where(*files: schema.Schema) -> Mapping[str, str]:
    """Return for each key the first place at which it can stand, that of its own file before
    that of the other."""
    places = [place for names in files for place in schema.places(names)]
    return {str(place[-1]): path_of(place, numbered=False) for place in reversed(places)}


def _is_login_alone(steps: Steps, value: Tree) -> bool:
    """Return whether a user has nothing but a login in the place of the name."""
    is_empty = isinstance(value, Scalar) and value.value is None
    return is_empty and steps[-2:-1] == ("users",) and misplaced.is_login(str(steps[-1]))


def _is_unspaced(entry: Entry) -> bool:
    return _is_unspaced_key(entry.key, entry.value)


def _is_unspaced_key(key: Tree, value: Tree) -> bool:
    """Return whether `weight:4` stands there, which is a key without a value."""
    is_empty = isinstance(value, Scalar) and value.value is None and not value.text
    if not is_empty or not isinstance(key, Scalar) or misplaced.is_login(key.text):
        return False
    before, colon, after = key.text.partition(":")
    return bool(before and colon and after)


def _unspaced(key: Tree, meant: str = "") -> Problem:
    text = key.text if isinstance(key, Scalar) else ""
    return Problem("SPEC038", key.location, key.path, {**_spaced(text), "nearest": meant})


def _spaced(text: str) -> dict[str, object]:
    before, _, after = text.partition(":")
    return {"key": text, "found": text, "right": f"{before}: {after}"}


def _as_mapping(node: Sequence, below: schema.Schema | None) -> str:
    """Return a list of names, or of mappings with one entry each, as one mapping."""
    sample = "..."
    if below is not None and below.get("type") == "object":
        sample = "{...}" if below.get("required") else "{}"
    entries: list[str] = []
    for item in node.items:
        match item:
            case Scalar(value=str(text)) if below is not None and text:
                entries.append(f"{text}: {sample}")
            case Table(entries=inner) if len(inner) == 1:
                (entry,) = inner.values()
                entries.append(f"{entry.key.text}: {_short(entry.value) or sample}")
            case _:
                return ""
    more = ["..."] if len(entries) > _NAMES_SHOWN_MAX else []
    return f"{{{', '.join([*entries[:_NAMES_SHOWN_MAX], *more])}}}" if entries else ""


def _short(value: Tree) -> str:
    if isinstance(value, Scalar):
        return value.text
    return "{}" if _is_empty(value) else "{...}"


def _is_empty(node: Tree) -> bool:
    return (isinstance(node, Sequence) and not node.items) or (
        isinstance(node, Table) and not node.entries
    )


def _is_filled(rule: schema.Schema | None) -> bool:
    return rule is not None and ("minItems" in rule or "minProperties" in rule)
