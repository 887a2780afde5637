"""Which values a key can have, in words: `whole number, 1 to 1000`.

The words come from the key's schema, so that they say what is checked; `key_texts.py` has them
in Chinese.
"""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tallyard import units
from tallyard.languages import Language
from tallyard.spec import fields
from tallyard.spec.editor_schema import range_of
from tallyard.spec.hosts import RANGE_PATTERN
from tallyard.spec.key_texts import told

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
    fields.OBJECT_PATTERN: "object: Kind/name or Kind/namespace/name",
    fields.ZONE_PATTERN: "time zone: Area/City",
    RANGE_PATTERN: "name, or range of names: gpu-[00-03]",
    units.QUANTITY_PATTERN: "quantity with its unit: 512Mi, 4Gi, 1.5Ti",
    units.DURATION_PATTERN: "time: 90s, 15m, 4h, 3d",
}
_NUMBERS = {"integer": "whole number", "number": "number, with up to three decimals"}
_MAPPING = "mapping"
_MAPPINGS = "list of mappings"
_LIST = "list of {}"
_BOOLEAN = "true or false"
_FREE_TEXT = "text"
_RANGE = "{} to {}"
_WITHIN = "{}, {}"
_BOUNDED = "{} ({})"
_LONGEST = "at most {} characters"
_FILLED = "{}, at least one"
TEXTS: tuple[str, ...] = (
    *(*_TEXTS.values(), *_NUMBERS.values(), _MAPPING, _MAPPINGS, _LIST, _BOOLEAN, _FREE_TEXT),
    *(_RANGE, _WITHIN, _BOUNDED, _LONGEST, _FILLED),
)
# Words of Chinese stand without a blank between them.
_BLANK = re.compile(r"(?<=[\u3400-\u9fff）]) (?=[\u3400-\u9fff（])")


type Node = Mapping[str, Any]


def words(node: Node, lang: Language = "en") -> str:
    """Return what can stand in a place.

    Args:
        node: The place's schema, with references followed, as `schema.whole` returns it.
        lang: `en` or `zh`.
    """
    if "anyOf" in node:
        return either([words(form, lang) for form in node["anyOf"]], lang)
    if choices := choices_of(node):
        return either(choices, lang)
    match node["type"]:
        case "array":
            item = words(node["items"], lang)
            is_mapping = item == told(_MAPPING, lang)
            text = told(_MAPPINGS, lang) if is_mapping else told(_LIST, lang).format(item)
        case "object":
            values = node.get("additionalProperties")
            if isinstance(values, dict):
                text = f"NAME: {words(values, lang)}"
            else:
                text = told(_MAPPING, lang)
        case "boolean":
            text = told(_BOOLEAN, lang)
        case "string":
            text = _text(node, lang)
        case number:
            text = told(_WITHIN, lang).format(told(_NUMBERS[number], lang), _range(node, lang))
    return text


def choices_of(node: Node) -> tuple[str, ...]:
    """Return the words of which one has to stand in a place, or none where it is free."""
    return tuple(map(str, node.get("enum", [node["const"]] if "const" in node else [])))


def either(choices: Sequence[str], lang: Language = "en") -> str:
    """Return choices as one text, of which one holds: `a or b`."""
    if lang == "en" or len(choices) < 2:  # noqa: PLR2004
        return " or ".join(choices)
    return _BLANK.sub("", f"{'、'.join(choices[:-1])} 或 {choices[-1]}")


def filled(text: str, lang: Language = "en") -> str:
    """Return the words of a section that may not be empty."""
    return told(_FILLED, lang).format(text)


def _text(node: Node, lang: Language) -> str:
    text = told(_TEXTS.get(str(node.get("pattern")), _FREE_TEXT), lang)
    bounds = _range(node, lang)
    if not bounds and "maxLength" in node:
        bounds = told(_LONGEST, lang).format(node["maxLength"])
    return told(_BOUNDED, lang).format(text, bounds) if bounds else text


def _range(node: Node, lang: Language) -> str:
    bounds = range_of(node)
    return told(_RANGE, lang).format(*bounds.split(" to ")) if bounds else ""
