"""Small pieces of CEL text that rules are put together from."""

from __future__ import annotations

import re
from collections.abc import Iterable

# A sentence has up to two of them, and the API server takes 5 KiB of eight sentences.
_SHORT = 80
# A field of one of a list, or of the object.
_IS_FIELD = re.compile(r"([a-z]|object)(\.\w+)+")


def text(value: str) -> str:
    """Return a string literal."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def texts(values: Iterable[str]) -> str:
    """Return a list literal of strings."""
    return f"[{', '.join(map(text, values))}]"


def pointer(key: str) -> str:
    """Return a key as a step of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def record(**fields: str) -> str:
    """Return a map literal; CEL wants values of one type, and `dyn` is any.

    What is a field of something is of any type already; to say so again costs a call.
    """
    pieces = (
        f"'{name}': {value if _IS_FIELD.fullmatch(value) else f'dyn({value})'}"
        for name, value in fields.items()
    )
    return f"{{{', '.join(pieces)}}}"


def label(meta: str, key: str) -> str:
    """Return an optional: a label of `meta`."""
    return f"{meta}.?labels[?{text(key)}]"


def annotation(meta: str, key: str) -> str:
    """Return an optional: an annotation of `meta`."""
    return f"{meta}.?annotations[?{text(key)}]"


def asked(template: str, key: str) -> str:
    """Return an annotation that people may write on a pod template or on the whole; or ''."""
    places = (f"{template}.meta", "object.metadata", "variables.carrier.meta")
    first, *others = (annotation(place, key) for place in places)
    return first + "".join(f".or({other})" for other in others) + ".orValue('')"


def listed(optional: str) -> str:
    """Return a list that may be missing; of those that must be there the API server makes null."""
    return f"{optional}.optMap(x, x == null ? dyn([]) : x).orValue([])"


def said(sentence: str, *values: str) -> str:
    """Return a sentence with an expression of a string for each `{}`.

    Raises:
        ValueError: there are more or fewer expressions than places.
    """
    first, *rest = sentence.split("{}")
    pieces = [text(first)] if first else []
    for value, piece in zip(values, rest, strict=True):
        pieces += [value, text(piece)] if piece else [value]
    return "(" + " + ".join(pieces) + ")"


def short(value: str) -> str:
    """Return what a person wrote, cut where it is longer than any that is meant."""
    return f"(size({value}) > {_SHORT} ? {value}.substring(0, {_SHORT}) + '...' : {value})"


def add(path: str, value: str) -> str:
    """Return the patch that sets `value`, both CEL expressions."""
    return f"JSONPatch{{op: 'add', path: {path}, value: {value}}}"


def when(condition: str, *items: str) -> str:
    """Return a list, empty where the condition does not hold."""
    return f"({condition} ? [{', '.join(items)}] : [])"


def where(condition: str, items: str) -> str:
    """Return a list expression, or an empty list where the condition does not hold."""
    return f"({condition} ? {items} : [])"


def joined(lists: Iterable[str]) -> str:
    """Return one list from several list expressions."""
    return " + ".join(f"({each.strip()})" for each in lists)


def one_line(expression: str) -> str:
    """Return an expression without the line breaks of its source."""
    return " ".join(expression.split())
