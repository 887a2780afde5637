"""Which values a key can have, in words: `whole number, 1 to 1000`.

The words come from the key's schema, so that they say what is checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tallyard import units
from tallyard.spec import fields
from tallyard.spec.editor_schema import range_of
from tallyard.spec.hosts import RANGE_PATTERN

_TEXTS: Mapping[str, str] = {
    fields.DNS_LABEL_PATTERN: "name of small letters, digits and dashes",
    fields.LABEL_VALUE_PATTERN: "name of letters, digits, dashes, dots and underscores",
    fields.SPOKEN_PATTERN: "text in one line",
    fields.LOGIN_PATTERN: "login, without blanks",
    fields.RESOURCE_PATTERN: "resource: domain/name",
    fields.RESOURCE_PREFIX_PATTERN: "beginning of a resource: domain or domain/",
    fields.REGISTRY_PATTERN: "registry: host, host:port/path",
    fields.PERCENT_PATTERN: "percentage",
    fields.CORE_HOURS_PATTERN: "number/day, number/week or number/month",
    fields.MOMENT_PATTERN: "day, or moment: 2026-12-31, 2026-12-31T18:00+08:00",
    fields.ZONE_PATTERN: "time zone: Area/City",
    RANGE_PATTERN: "name, or range of names: gpu-[00-03]",
    units.QUANTITY_PATTERN: "quantity with its unit: 512Mi, 4Gi, 1.5Ti",
    units.DURATION_PATTERN: "time: 90s, 15m, 4h, 3d",
}
_NUMBERS = {"integer": "whole number", "number": "number, with up to three decimals"}

type Node = Mapping[str, Any]


def words(node: Node) -> str:
    """Return what can stand in a place.

    Args:
        node: The place's schema, with references followed, as `schema.whole` returns it.
    """
    if "anyOf" in node:
        return " or ".join(words(form) for form in node["anyOf"])
    if choices := choices_of(node):
        return " or ".join(choices)
    match node["type"]:
        case "array":
            item = words(node["items"])
            text = "list of mappings" if item == "mapping" else f"list of {item}"
        case "object":
            values = node.get("additionalProperties")
            text = f"NAME: {words(values)}" if isinstance(values, dict) else "mapping"
        case "boolean":
            text = "true or false"
        case "string":
            text = _text(node)
        case number:
            text = f"{_NUMBERS[number]}, {range_of(node)}"
    return text


def choices_of(node: Node) -> tuple[str, ...]:
    """Return the words of which one has to stand in a place, or none where it is free."""
    return tuple(map(str, node.get("enum", [node["const"]] if "const" in node else [])))


def _text(node: Node) -> str:
    text = _TEXTS.get(str(node.get("pattern")), "text")
    if bounds := range_of(node):
        return f"{text} ({bounds})"
    return f"{text} (at most {node['maxLength']} characters)" if "maxLength" in node else text
