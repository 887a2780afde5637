"""The JSON Schema as editors read it: what they show on a key, and what they write for one.

Editors know only JSON Schema's own words, so effect, origin and range become part of the text.
yaml-language-server takes a keyword that it does not know beside a reference for one more rule,
and then no longer sees which kind of value the key has: it would complete `pool`, without a
colon. It also writes a default into the file, where null or an empty list is of no use.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from tallyard.spec.fields import EFFECT, LEAST, MOST, ORIGIN, PER_ENVIRONMENT

_OURS = "x-tallyard-"
_DATA = frozenset({"default", "enum", "const", "required", "examples"})
_UNIONS = ("anyOf", "oneOf")
# A backtick is left alone: the texts have names of keys in pairs of them.
_MARKDOWN = re.compile(r"([\\*_<>#|~])")

# What a kind of value looks like: editors offer it where the value is to be written.
_EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "CoreHours": ("30000/month",),
    "ObjectPattern": ("ClusterQueue/nlp-training",),
    "Moment": ("2026-12-31", "2026-12-31T18:00+08:00"),
    "Quantity": ("64Gi",),
    "Share": ("40%",),
    "WorkTime": ("8h",),
}
# What people write most often where several keys belong together, of which not all are required.
_SNIPPETS: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "HostsKeys": (
        {
            "label": "hosts with cards",
            "body": {
                "hosts": "${1:gpu-[00-03]}",
                "pool": "${2:training}",
                "model": "${3:A100-SXM4-40GB}",
                "cards": "^${4:8}",
                "cpu": "^${5:128}",
                "memory": "${6:1Ti}",
                "block": "${7:b0}",
                "rack": "${8:r0}",
            },
        },
    ),
    "OverrideKeys": (
        {
            "label": "more cards for a time",
            "body": {
                "cards": {"${1:training}": {"${2:A100-SXM4-40GB}": "^${3:8}"}},
                "until": "${4:2026-12-31}",
                "reason": "${5:why}",
            },
        },
    ),
    "ProjectKeys": (
        {
            "label": "a project with one user",
            "body": {
                "tier": "${1:bronze}",
                "users": {"${2:li.wei}": {"logins": ["${3:oidc:li.wei@corp.example}"]}},
            },
        },
    ),
    "WaiverKeys": (
        {
            "label": "a rule waived for some objects",
            "body": {
                "rule": "${1:objects-replaced}",
                "objects": ["${2:ResourceFlavor/training-*}"],
                "reason": "${3:why}",
                "until": "${4:2026-12-31}",
            },
        },
    ),
    "Sharing": ({"label": "time-slicing", "body": {"time-slicing": "^${1:4}"}},),
}


def form(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema of `schema.py` in the form for editors. It accepts the same values,
    but for null: a key that has been given no value yet is marked."""
    made = _form(schema, schema["$defs"])
    kinds = made["$defs"]
    for name in _EXAMPLES.keys() & kinds.keys():
        kinds[name]["examples"] = list(_EXAMPLES[name])
    for name in _SNIPPETS.keys() & kinds.keys():
        kinds[name]["defaultSnippets"] = [dict(each) for each in _SNIPPETS[name]]
    for name, node in kinds.items():
        if name.endswith("Keys"):
            node["title"] = name.removesuffix("Keys")
    return {**made, "title": "Tallyard"}


def facts_of(node: Mapping[str, Any]) -> dict[str, str]:
    """Return what is known of a key beside its text: the name of a fact, and the fact.

    Args:
        node: The key's schema with its kind's rules, as `schema.at` returns it.
    """
    default, origin = default_of(node), str(node.get(ORIGIN, ""))
    facts = {
        "Effect": str(node.get(EFFECT, "")),
        "Range": range_of(node),
        "Default": f"{default} ({origin})" if default and origin else default or origin,
        "Environments": "an environment's file may say it." if node.get(PER_ENVIRONMENT) else "",
    }
    return {name: fact for name, fact in facts.items() if fact}


def range_of(node: Mapping[str, Any]) -> str:
    """Return the least and the most that a figure can be, or an empty text."""
    least, most = (node.get(LEAST, node.get("minimum")), node.get(MOST, node.get("maximum")))
    return "" if least is None or most is None else f"{least} to {most}"


def default_of(node: Mapping[str, Any]) -> str:
    """Return a key's default as the file would have it.

    It is empty where there is none, and where the keys below have defaults of their own.
    """
    default = node.get("default")
    if default is None or isinstance(default, dict | list):
        return ""
    return default if isinstance(default, str) else json.dumps(default)


def _form(node: Any, kinds: Mapping[str, Any]) -> Any:
    if isinstance(node, list):
        return [_form(item, kinds) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {
        key: item if key in _DATA else _form(item, kinds)
        for key, item in node.items()
        if not key.startswith(_OURS)
    }
    if not default_of(node):
        kept.pop("default", None)
    return _described(_without_null(node), _without_null(kept), kinds)


def _without_null(node: Mapping[str, Any]) -> dict[str, Any]:
    """Return the node with the one form beside null in its place, or without null in the list."""
    made = dict(node)
    for union in _UNIONS:
        if union in made:
            forms = [form for form in made.pop(union) if form.get("type") != "null"]
            made = {**forms[0], **made} if len(forms) == 1 else {**made, union: forms}
    return made


def _described(
    node: Mapping[str, Any], made: dict[str, Any], kinds: Mapping[str, Any]
) -> dict[str, Any]:
    """Add what editors show: plain text for those that know no other, Markdown for the rest."""
    kind = kinds.get(str(node.get("$ref", "")).rpartition("/")[2], {})
    # pydantic leaves out a description that its kind has word for word.
    text = {**kind, **node}.get("description")
    if not isinstance(text, str) or not ("description" in node or facts_of(node)):
        return made
    facts = facts_of({**kind, **node})
    lines = [text, *(f"{name}: {fact}" for name, fact in facts.items())]
    marked = [_escaped(text), *(f"**{name}:** {_escaped(fact)}" for name, fact in facts.items())]
    return {**made, "description": "\n".join(lines), "markdownDescription": "\n\n".join(marked)}


def _escaped(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", text)
