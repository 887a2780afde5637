"""The JSON Schema of the spec's two files, and a way to look a place up in it.

It is the models' own; `editor_schema.py` makes of it what editors read. The committed copies
under `schemas/` are what `text` returns; a test compares.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from tallyard.spec import editor_schema
from tallyard.spec.document import OverlayKeys, PlatformKeys
from tallyard.spec.tree import Step, Steps

type Schema = Mapping[str, Any]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_UNIONS = ("anyOf", "oneOf")


def platform_schema() -> dict[str, Any]:
    """Return the JSON Schema of a platform's file."""
    return _schema(PlatformKeys)


def overlay_schema() -> dict[str, Any]:
    """Return the JSON Schema of an environment's file."""
    return _schema(OverlayKeys)


def text(schema: Schema) -> str:
    """Return the schema as its committed file has it, for editors."""
    return json.dumps(editor_schema.form(schema), indent=2, ensure_ascii=False) + "\n"


def at(schema: Schema, steps: Steps) -> Schema | None:
    """Return the schema of one place, references followed; None where no key can stand.

    Names that the author chooses (of pools, tiers, people) match any text. Where one of
    several forms can stand (a word or a mapping), the result tells of all of them: `enum` has
    the words, `properties` the keys, and `anyOf` the forms one by one.
    """
    here: Schema | None = _resolved(schema, schema)
    for step in steps:
        here = _below(schema, here, step) if here is not None else None
    return here


def whole(schema: Schema, steps: Steps) -> Schema | None:
    """Return the schema of one place as `at` does, and of the values below that have no fixed
    key (items of lists, names that the author chooses) in their places, references followed.
    """
    node = at(schema, steps)
    if node is None:
        return None
    deeper: dict[str, Any] = {}
    if isinstance(node.get("items"), dict):
        deeper["items"] = whole(schema, (*steps, 0))
    if _named(node) is not None:
        deeper["additionalProperties"] = whole(schema, (*steps, "NAME"))
    if isinstance(node.get("propertyNames"), dict):
        deeper["propertyNames"] = _resolved(schema, node["propertyNames"])
    return {**node, **deeper}


def can_be_named(schema: Schema, steps: Steps, name: str) -> bool:
    """Return whether an author may choose this name for a key below a place."""
    node = at(schema, steps) or {}
    patterns = tuple(node.get("patternProperties", ()))
    if "propertyNames" in node:
        patterns += (str(_resolved(schema, node["propertyNames"]).get("pattern", "")),)
    return any(re.search(pattern, name) for pattern in patterns)


def places(schema: Schema) -> Iterator[Steps]:
    """Yield the path of each key that can stand in the file; `NAME` is the author's own."""
    yield from _places(schema, _resolved(schema, schema), ())


@cache
def _schema(model: type[PlatformKeys | OverlayKeys]) -> dict[str, Any]:
    return {"$schema": _DIALECT, **_tidied(model.model_json_schema())}


def _tidied(value: Any) -> Any:
    """Drop titles that repeat the key, and refuse names that match no pattern."""
    if isinstance(value, list):
        return [_tidied(item) for item in value]
    if not isinstance(value, dict):
        return value
    tidy = {
        key: _tidied(item)
        for key, item in value.items()
        if not (key == "title" and isinstance(item, str))
    }
    if "patternProperties" in tidy:
        tidy["additionalProperties"] = False
    return tidy


def _resolved(schema: Schema, node: Schema) -> Schema:
    """Follow references and put the forms that can stand in one place together.

    What stands beside a reference or beside the forms is kept and goes before theirs. A null
    is no form: it says that the key can be left out.
    """
    beside = {key: item for key, item in node.items() if key not in {"$ref", *_UNIONS}}
    if "$ref" in node:
        name = str(node["$ref"]).rpartition("/")[2]
        return {**_resolved(schema, schema["$defs"][name]), **beside}
    forms = [form for union in _UNIONS for form in node.get(union, ()) if not _is_null(form)]
    if not forms:
        return node
    return {**_together([_resolved(schema, form) for form in forms]), **beside}


def _is_null(form: Schema) -> bool:
    return form.get("type") == "null"


def _together(forms: list[Schema]) -> dict[str, Any]:
    """Return one node that tells of all its forms.

    A rule that two forms state differently belongs to neither alone and is told in `anyOf`
    only; `required` is about the one form that is a mapping.
    """
    if len(forms) == 1:
        return dict(forms[0])
    told: dict[str, Any] = {}
    for key in dict.fromkeys(key for form in forms for key in form):
        said = [form[key] for form in forms if key in form]
        if all(each == said[0] for each in said):
            told[key] = said[0]
    told.pop("const", None)
    if words := _words(forms):
        told["enum"] = words
    if kinds := list(dict.fromkeys(kind for form in forms for kind in _kinds(form))):
        told["type"] = kinds[0] if len(kinds) == 1 else kinds
    if keys := _properties(form.get("properties", {}) for form in forms):
        told["properties"] = keys
    return {**told, "anyOf": forms}


def _words(forms: Iterable[Schema]) -> list[Any]:
    """Return the fixed values among the forms, in their order, once each."""
    stated = (form.get("enum", [form["const"]] if "const" in form else []) for form in forms)
    return list(dict.fromkeys(word for words in stated for word in words))


def _kinds(form: Schema) -> list[str]:
    kind = form.get("type", [])
    return kind if isinstance(kind, list) else [kind]


def _properties(mappings: Iterable[Schema]) -> dict[str, Any]:
    """Return the keys of all mappings; one that differs between them has the forms of each."""
    forms: dict[str, list[Schema]] = {}
    for mapping in mappings:
        for key, rule in mapping.items():
            if rule not in forms.setdefault(key, []):
                forms[key].append(rule)
    return {key: rules[0] if len(rules) == 1 else {"anyOf": rules} for key, rules in forms.items()}


def _below(schema: Schema, node: Schema, step: Step) -> Schema | None:
    if isinstance(step, int):
        found = node.get("items")
    else:
        found = node.get("properties", {}).get(step) or _named(node)
    return _resolved(schema, found) if isinstance(found, dict) else None


def _named(node: Schema) -> Schema | None:
    """Return the schema of the values whose keys the author names."""
    for found in node.get("patternProperties", {}).values():
        return dict(found)
    extra = node.get("additionalProperties")
    return extra if isinstance(extra, dict) else None


def _places(schema: Schema, node: Schema, above: Steps) -> Iterator[Steps]:
    below: dict[Step, Schema] = dict(node.get("properties", {}))
    named = _named(node)
    if named is not None:
        below["NAME"] = named
    if isinstance(node.get("items"), dict):
        below[0] = node["items"]
    for step, found in below.items():
        here = (*above, step)
        yield here
        yield from _places(schema, _resolved(schema, found), here)
