"""Which fields of an object Pulumi would change, from what to what. Pure.

Of a Secret, and of what Pulumi calls secret, the value is told nowhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from policies.recorded import SIGNATURE
from tallyard.failures import one_line

# A whole file can stand in one value.
VALUE_SHOWN_MAX = 60
_CONTEXT = 12
HIDDEN = "(secret)"
UNKNOWN = "(not known yet)"
# What `pulumi preview --json` has in the place of a secret, and what its engine writes for a
# secret and for a value that only `up` will know (sdk/go/common/resource, properties.go).
_SECRET = "[secret]"  # noqa: S105 - a word, no secret
_UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
# The steps of a path: `.name`, `[0]`, `["a.name"]`.
_STEP = re.compile(r'\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|\.?([^.\[\]]+)')
_PROVIDER = "pulumi:providers:"
_ABSENT = object()


@dataclass(frozen=True)
class FieldText:
    """A field that differs; a side is None where it is not there."""

    field: str
    before: str | None
    after: str | None


def field_changes(step: Mapping[str, Any]) -> tuple[FieldText, ...]:
    """Return what a step of a preview changes in its object, by path.

    Args:
        step: One of `steps`; one without details has the keys that differ at least.
    """
    old, new = step.get("oldState") or {}, step.get("newState") or {}
    detailed = step.get("detailedDiff") or {}
    fields = sorted(map(str, detailed or step.get("diffReasons") or ()), key=_natural)
    is_hidden = _is_secret(step, old, new)
    return tuple(
        FieldText(
            each,
            *_shortened(
                _text(_before(each, old), hide=is_hidden),
                _text(_found(each, new.get("inputs")), hide=is_hidden),
            ),
        )
        for each in fields
    )


def _before(path: str, state: Mapping[str, Any]) -> object:
    """Return what was there: among the inputs, or what the server has added to them."""
    found = _found(path, state.get("inputs"))
    return _found(path, state.get("outputs")) if found is _ABSENT else found


def _shortened(before: str | None, after: str | None) -> tuple[str | None, str | None]:
    """Return both from where they differ, where their beginnings do not show it."""
    begin = 0
    if before is not None and after is not None:
        pairs = enumerate(zip(before, after, strict=False))
        shorter = min(len(before), len(after))
        same = next((at for at, (old, new) in pairs if old != new), shorter)
        begin = same - _CONTEXT if same > VALUE_SHOWN_MAX - _CONTEXT else 0
    return _part(before, begin), _part(after, begin)


def _part(text: str | None, begin: int) -> str | None:
    if text is None:
        return None
    shown = text[begin : begin + VALUE_SHOWN_MAX]
    more = "…" if begin + VALUE_SHOWN_MAX < len(text) else ""
    return f"{'…' if begin else ''}{shown}{more}"


def _is_secret(step: Mapping[str, Any], *states: Mapping[str, Any]) -> bool:
    kinds = {(state.get("inputs") or {}).get("kind") for state in states}
    of_type = str(step["urn"]).split("::")[2].rpartition("$")[2]
    # What a provider is configured with can be how it logs in.
    return "Secret" in kinds | {of_type.rpartition(":")[2]} or of_type.startswith(_PROVIDER)


def _natural(path: str) -> tuple[tuple[str, int], ...]:
    """Sort `[2]` before `[10]`."""
    return tuple((text, int(number or 0)) for text, number in re.findall(r"([^\d]+)|(\d+)", path))


def _found(path: str, state: object) -> object:
    """Return the value at a path; `_ABSENT` where there is none."""
    for step in _steps(path):
        match state:
            case Mapping() if SIGNATURE in state:
                return _SECRET
            case Mapping() if step in state:
                state = state[step]
            case list() if step.isdecimal() and int(step) < len(state):
                state = state[int(step)]
            case _:
                # A secret stands for all that is below it.
                return state if state == _SECRET else _ABSENT
    return state


def _steps(path: str) -> Iterator[str]:
    for quoted, index, name in _STEP.findall(path):
        yield re.sub(r"\\(.)", r"\1", quoted) or index or name


def _text(value: object, *, hide: bool) -> str | None:
    if value is _ABSENT:
        return None
    if hide or _has_secret(value):
        return HIDDEN
    if value == _UNKNOWN:
        return UNKNOWN
    # An empty text would be seen as nothing at all.
    written = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
    return one_line(written)


def _has_secret(value: object) -> bool:
    match value:
        case Mapping():
            return SIGNATURE in value or any(map(_has_secret, value.values()))
        case list():
            return any(map(_has_secret, value))
    return value == _SECRET
