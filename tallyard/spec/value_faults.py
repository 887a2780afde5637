# ruff: noqa: RUF001 - Chinese has its own commas
"""What is wrong with one value, in a code and what fills its sentence: a kind, a form, a range.

`faults.py` tells what is wrong with keys and with where something stands.
"""

from __future__ import annotations

import re
from typing import Any

from pydantic_core import ErrorDetails

from tallyard import units
from tallyard.spec import fields, guesses, schema
from tallyard.spec.hosts import RANGE_PATTERN
from tallyard.spec.suggest import nearest
from tallyard.spec.tree import Scalar, Sequence, Table, Tree

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
MAPPING_KINDS = frozenset(kind for kind, code in _TYPES.items() if code == "SPEC109")
# Of more than these the beginning of the list would say no more.
_TEXTS_LISTED_MAX = 3
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
    fields.OBJECT_PATTERN: "SPEC141",
}
# Texts that begin with a figure: a bare number there is one without its unit.
_FIGURES = frozenset({"SPEC117", "SPEC124", "SPEC125", "SPEC126", "SPEC127"})
_SINGLE_KINDS = frozenset(
    {"string_type", "int_type", "float_type", "bool_type", "literal_error", "bool_parsing"}
)
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
    "rule_unknown": "SPEC205",
    "rule_not_waivable": "SPEC206",
}


def is_told_elsewhere(kind: str, node: Tree) -> bool:
    """Return whether what is wrong with a value is told of its parts, or told as empty."""
    match node:
        case Table():
            return any(key.startswith("?") for key in node.entries)  # a key that is no text
        case Sequence():
            return kind == "too_short" and bool(node.items)
        case Scalar():
            return node.value is None


def fault(
    error: ErrorDetails, rule: schema.Schema, node: Tree, item: schema.Schema | None = None
) -> tuple[str, dict[str, Any]]:
    """Return the code and the values of a fault in one value.

    Args:
        error: What pydantic says of it.
        rule: The schema of its place.
        node: What stands there.
        item: The schema of an item, where a list is wanted.
    """
    kind, context = error["type"], error.get("ctx", {})
    code = _TYPES.get(kind) or _PATTERNS.get(context.get("pattern", "")) or _OTHERS.get(kind)
    values: dict[str, Any] = {}
    if kind in _SINGLE_KINDS and (only := _only_item(node)):
        return "SPEC138", {"right": only}
    match code:
        case "SPEC105" if _PATTERNS.get(rule.get("pattern", "")) in _expected_of(node):
            code = _PATTERNS[rule["pattern"]]
        case "SPEC108":
            values = {"right": _as_list(node, item or {})}
        case "SPEC109":
            values = {"choices": list(rule.get("properties", ()))}
        case "SPEC110" | "SPEC205":
            code, values = _not_a_word(code, rule, node)
        case "SPEC111":
            values = {
                "least": context.get("least", rule.get("minimum")),
                "most": context.get("most", rule.get("maximum")),
            }
        case "SPEC113":
            values = {"limit": context["max_length"]}
        case None:
            code, values = "SPEC199", {"detail": error["msg"]}
    likely = guesses.likely(code, found(node))
    if likely and _is_within(code, likely, rule):
        values["nearest"] = likely
    return code, values


def _not_a_word(code: str, rule: schema.Schema, node: Tree) -> tuple[str, dict[str, Any]]:
    """Return what is told of a value that is none of the words of its place."""
    words = rule.get("enum", (rule.get("const"),))
    likely = nearest(str(found(node)), map(str, words))
    values = {"choices": [*words, *_mapping_choices(rule)], "nearest": likely}
    can_be_left_out = "default" in rule and rule["default"] is None
    return "SPEC140" if can_be_left_out and not likely else code, values


def _only_item(node: Tree) -> str:
    """Return the text of a list's only item."""
    items = node.items if isinstance(node, Sequence) else ()
    return items[0].text if len(items) == 1 and isinstance(items[0], Scalar) else ""


def _as_list(node: Tree, item: schema.Schema) -> str:
    """Return how a list is written of what stands there without brackets."""
    match node:
        case _ if "properties" in item:
            return "[{...}]"
        case Scalar():
            texts = [text for text in re.split(r"[\s,;，、；]+", node.text) if text]
        case _:
            texts = list(node.entries) if isinstance(node, Table) else []
    return f"[{', '.join(texts)}]" if 0 < len(texts) <= _TEXTS_LISTED_MAX else "[...]"


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


def found(node: Tree) -> object:
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
