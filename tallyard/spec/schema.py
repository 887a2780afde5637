"""The JSON Schema of the spec's two files, for editors; and a way to look a place up in it.

The committed copies under `schemas/` are what `text` returns; a test compares.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from tallyard.spec.document import OverlayKeys, PlatformKeys
from tallyard.spec.tree import Step, Steps

type Schema = Mapping[str, Any]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def platform_schema() -> dict[str, Any]:
    """Return the JSON Schema of a platform's file."""
    return _schema(PlatformKeys, "The platform: what is the same in every environment.")


def overlay_schema() -> dict[str, Any]:
    """Return the JSON Schema of an environment's file."""
    return _schema(OverlayKeys, "The environment: what differs from the others.")


def text(schema: Schema) -> str:
    """Return the schema as its committed file has it."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def at(schema: Schema, steps: Steps) -> Schema | None:
    """Return the schema of one place, references followed; None where no key can stand.

    Names that the author chooses (of pools, tiers, people) match any text.
    """
    here: Schema | None = _resolved(schema, schema)
    for step in steps:
        here = _below(schema, here, step) if here is not None else None
    return here


def places(schema: Schema) -> Iterator[Steps]:
    """Yield the path of each key that can stand in the file; `NAME` is the author's own."""
    yield from _places(schema, _resolved(schema, schema), ())


@cache
def _schema(model: type[PlatformKeys | OverlayKeys], title: str) -> dict[str, Any]:
    return {"$schema": _DIALECT, "title": title, **_tidied(model.model_json_schema())}


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
    """Follow a reference and the one kind beside null; what stands beside it is kept."""
    beside = {key: item for key, item in node.items() if key not in {"$ref", "anyOf"}}
    if "$ref" in node:
        name = str(node["$ref"]).rpartition("/")[2]
        return {**_resolved(schema, schema["$defs"][name]), **beside}
    for option in node.get("anyOf", ()):
        if option.get("type") != "null":
            return {**_resolved(schema, option), **beside}
    return node


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
