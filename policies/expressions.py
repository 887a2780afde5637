"""Which expressions of the admission policies are not what they were.

What an expression means no rule can tell; that it is another one, a reader should know.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from policies.planned import at, mappings

# How the sentences of one lock end in an expression that has several.
_LOCK = re.compile(r"\[([a-z]+(?:-[a-z]+)+)\]'")
_PARTS = ("matchConditions", "variables", "validations", "mutations")
# How expressions are joined; what stands first in one may stand later in another.
_BETWEEN = " +()'\""


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return the names of what differs in the expressions of a policy.

    A lock is called by its name, whatever variable it stands in.

    Args:
        before: the policy's spec as it was.
        after: the same as it will be.
    """
    old, new = _by_name(before), _by_name(after)
    return sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def _by_name(spec: Mapping[str, Any]) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for name, text in _expressions(spec):
        found[name].append(text)
    return found


def _expressions(spec: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for part in _PARTS:
        for number, each in enumerate(mappings(spec, part)):
            name = str(each.get("name") or f"{part}[{number}]")
            for field in ("expression", "messageExpression", "message"):
                yield from _locks(name, str(each.get(field) or ""))
            for field in ("jsonPatch", "applyConfiguration"):
                yield from _locks(name, str(at(each, field, "expression") or ""))


def _locks(name: str, expression: str) -> Iterator[tuple[str, str]]:
    """Yield the locks of an expression, and what of it is no lock's."""
    *pieces, rest = _LOCK.split(expression)
    for text, lock in zip(pieces[::2], pieces[1::2], strict=True):
        yield lock, text.strip(_BETWEEN)
    if rest := rest.strip(_BETWEEN):
        yield name, rest
