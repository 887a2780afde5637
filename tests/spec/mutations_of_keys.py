"""Each place that the schema knows, with a value that it takes or one that it refuses.

The places are read from the schema, so a key that is added tomorrow is mutated tomorrow.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from typing import Any

from tallyard.spec import schema
from tallyard.spec.schema import Schema
from tallyard.spec.tree import Step, Steps
from tests.spec.values import ODD_NAMES, WRONG_FORMS
from tests.spec.yaml_text import Plain, spots

type Mutator = Callable[[random.Random, dict[str, Any], str], None]

_NUMBERS = (0, 1, 2, 3, 4, 8, 10, 16, 64, 100, 1_000, 10**6, 10**9, -1, -(2**31), 2**63, 0.5)
_DEPTH_MAX = 8


def wrong_value(rng: random.Random, tree: dict[str, Any], name: str) -> None:
    place = _place(rng, name)
    _set(rng, tree, place, _any_value(rng))


def value_of_the_right_type(rng: random.Random, tree: dict[str, Any], name: str) -> None:
    """Put a value of the key's type; whether it fits what stands elsewhere is luck."""
    place = _place(rng, name)
    rule = schema.at(_schema(name), place) or {}
    _set(rng, tree, place, _fitting(rng, rule, tree, 0))


def value_at_the_edge(rng: random.Random, tree: dict[str, Any], name: str) -> None:
    """Put the least or the most that a key takes, or one beyond it."""
    bounded = [place for place in _places(name) if _edges(schema.at(_schema(name), place) or {})]
    place = rng.choice(bounded)
    _set(rng, tree, place, rng.choice(_edges(schema.at(_schema(name), place) or {})))


def value_of_nearly_the_form(rng: random.Random, tree: dict[str, Any], name: str) -> None:
    texts = [p for p in _places(name) if "string" in str(schema.at(_schema(name), p))]
    form = rng.choice(list(WRONG_FORMS.values()))
    text = rng.choice(form)
    _set(rng, tree, rng.choice(texts), rng.choice((text, Plain(text))))


def missing_key(rng: random.Random, tree: dict[str, Any], name: str) -> None:
    """Take a key away that the schema knows, wherever the file has it."""
    place = _place(rng, name)
    found = [(where, key) for where, key in spots(tree) if key == place[-1]]
    where, key = rng.choice(found or spots(tree) or [({"x": 1}, "x")])
    del where[key]


def key_of_another_place(rng: random.Random, tree: dict[str, Any], name: str) -> None:
    other = rng.choice(("platform.yaml", name))
    known = [place[-1] for place in _places(other) if place[-1] not in {"NAME", 0}]
    here = (*_place(rng, name)[:-1], str(rng.choice(known)))
    _set(rng, tree, here, _any_value(rng))


def section_of_the_other_file(rng: random.Random, tree: dict[str, Any], name: str) -> None:
    other = "local.yaml" if name == "platform.yaml" else "platform.yaml"
    place = _place(rng, other)
    rule = schema.at(_schema(other), place) or {}
    _set(rng, tree, place, _fitting(rng, rule, tree, 0))


def whole_section_anew(rng: random.Random, tree: dict[str, Any], name: str) -> None:
    """Make one root key from the schema alone, everything below it by chance."""
    roots = [place for place in _places(name) if len(place) == 1]
    place = rng.choice(roots)
    tree[str(place[0])] = _fitting(rng, schema.at(_schema(name), place) or {}, tree, 0)


def other_entry_with_one_change(rng: random.Random, tree: dict[str, Any], name: str) -> None:
    """Add an entry like another to a mapping or list, with one key of it changed."""
    roots = [key for key, value in tree.items() if isinstance(value, (dict, list)) and value]
    if not roots:
        wrong_value(rng, tree, name)
        return
    root = rng.choice(roots)
    section = tree[root]
    keys = list(section) if isinstance(section, dict) else list(range(len(section)))
    entry = deepcopy(section[rng.choice(keys)])
    inner = spots(entry)
    if inner:
        where, key = rng.choice(inner)
        rule = schema.at(_schema(name), (root, "NAME" if isinstance(section, dict) else 0, key))
        where[key] = _fitting(rng, rule or {}, tree, 0)
    if isinstance(section, dict):
        section[rng.choice(("other", "x1", "Other-2", rng.choice(ODD_NAMES)))] = entry
    else:
        section.append(entry)


@cache
def _places(name: str) -> tuple[Steps, ...]:
    return tuple(schema.places(_schema(name)))


def _schema(name: str) -> Schema:
    return schema.platform_schema() if name == "platform.yaml" else schema.overlay_schema()


def _place(rng: random.Random, name: str) -> Steps:
    return rng.choice(_places(name))


def _set(rng: random.Random, tree: dict[str, Any], place: Steps, value: Any) -> None:
    """Put a value at a place; what is missing on the way is made."""
    here: Any = tree
    for step, following in zip(place, (*place[1:], None), strict=True):
        key = _key(rng, here, step)
        if following is None:
            here[key] = value
            return
        below = here[key] if _has(here, key) else None
        if not isinstance(below, list if isinstance(following, int) else dict):
            below = here[key] = [] if isinstance(following, int) else {}
        here = below


def _key(rng: random.Random, here: Any, step: Step) -> Step:
    """Return the key or index that a step of the schema means here."""
    if isinstance(here, list):
        if not here or rng.random() < 0.2:
            here.append(None)
            return len(here) - 1
        return rng.randrange(len(here))
    names = [key for key in here if isinstance(key, str)]
    if step == "NAME":
        return (
            rng.choice(names) if names and rng.random() < 0.8 else rng.choice(("new", *ODD_NAMES))
        )
    return step


def _has(here: Any, key: Step) -> bool:
    return isinstance(here, list) or key in here


def _any_value(rng: random.Random) -> Any:
    form = rng.choice(list(WRONG_FORMS.values()))
    values: tuple[Any, ...] = (
        *(rng.choice(_NUMBERS), rng.choice(_NUMBERS), rng.choice(form), Plain(rng.choice(form))),
        *(rng.choice(ODD_NAMES), True, False, None, [], {}, [rng.choice(form)], [[]], [None]),
        *({"x": 1}, {rng.choice(ODD_NAMES): rng.choice(_NUMBERS)}, [{}], [1, 2, 3]),
    )
    return rng.choice(values)


def _edges(rule: Schema) -> list[Any]:
    edges: list[Any] = [
        rule[key] + beyond
        for key in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
        if key in rule
        for beyond in (-1, 0, 1)
    ]
    if "maxLength" in rule:
        edges += ["x" * (rule["maxLength"] + beyond) for beyond in (0, 1)]
    return edges


def _fitting(rng: random.Random, rule: Schema, tree: Any, depth: int) -> Any:
    """Return a value of the type that a rule of the schema asks for."""
    options = [each for each in rule.get("anyOf", ()) if each.get("type") != "null"]
    if options:
        return _fitting(rng, rng.choice(options), tree, depth)
    if "const" in rule or "enum" in rule:
        return rng.choice(rule.get("enum", [rule.get("const")]))
    match rule.get("type"):
        case "object" if depth < _DEPTH_MAX:
            return _mapping(rng, rule, tree, depth)
        case "array" if depth < _DEPTH_MAX:
            item = _resolved(rule.get("items", {}))
            return [
                _fitting(rng, item, tree, depth + 1) for _ in range(rng.choice((0, 1, 1, 2, 3)))
            ]
    return _leaf(rng, rule, tree)


def _leaf(rng: random.Random, rule: Schema, tree: Any) -> Any:
    """Return a number, a boolean or a text, one that stands elsewhere or one of some form."""
    match rule.get("type"):
        case "integer" | "number":
            least, most = rule.get("minimum", -5), rule.get("maximum", 10**6)
            return rng.choice((least, most, rng.randint(int(least), int(most)), 4))
        case "boolean":
            return rng.choice((True, False))
    texts = [w[k] for w, k in spots(tree) if isinstance(w[k], str)]
    return rng.choice((rng.choice(texts or ["x"]), *rng.choice(list(WRONG_FORMS.values()))))


def _mapping(rng: random.Random, rule: Schema, tree: Any, depth: int) -> dict[str, Any]:
    required = set(rule.get("required", ()))
    made = {
        key: _fitting(rng, _resolved(below), tree, depth + 1)
        for key, below in rule.get("properties", {}).items()
        if key in required or rng.random() < 0.3
    }
    named = [*rule.get("patternProperties", {}).values(), rule.get("additionalProperties")]
    for below in named:
        if isinstance(below, dict):
            keys = [key for _, key in spots(tree) if isinstance(key, str)] or ["x"]
            for key in rng.sample(keys, min(len(keys), rng.randint(0, 3))):
                made[key] = _fitting(rng, _resolved(below), tree, depth + 1)
    return made


def _resolved(rule: Schema) -> Schema:
    """Follow a reference to a definition of either file's schema."""
    reference = str(rule.get("$ref", ""))
    if not reference:
        return rule
    name = reference.rpartition("/")[2]
    for whole in (schema.platform_schema(), schema.overlay_schema()):
        found: Schema | None = whole.get("$defs", {}).get(name)
        if found is not None:
            return _resolved(found)
    return {}


MUTATORS: tuple[Mutator, ...] = (
    wrong_value,
    value_of_the_right_type,
    value_at_the_edge,
    value_of_nearly_the_form,
    missing_key,
    key_of_another_place,
    section_of_the_other_file,
    whole_section_anew,
    other_entry_with_one_change,
)
