"""What a text tells: line by line, and by its keys where it is YAML or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from policies.secret_lines import told
from policies.secret_words import is_secret

# Nobody nests deeper, and libyaml takes the square of the depth for it.
_DEPTH_MAX = 200
_LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader


def in_text(text: str) -> Mapping[tuple[int, int], str]:
    """Return the keys of what a text tells, by line and column from 1; empty where none has one."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        if each := told(line):
            found[number, each.place + 1] = each.key
    lines = {number for number, _ in found}
    for key, number, column in _named(text):
        if number not in lines:
            found[number, column] = key
    return found


def is_text_told(value: Any) -> bool:
    """Return whether a value is a text that tells something, of one line or a whole file."""
    if not isinstance(value, str):
        return False
    if "\n" in value:
        return bool(in_text(value))
    # JSON on one line, as of an annotation.
    return bool(told(value)) or (value.startswith(("{", "[")) and any(_named(value)))


@dataclass
class _Open:
    """A collection of a YAML text that is not at its end yet.

    Attributes:
        is_mapping: whether it is one, or a list.
        over: the key under which it stands.
        key: the key of which the value comes next.
        name: what stands under `name`.
        value: what stands under `value`.
    """

    is_mapping: bool
    over: yaml.Event | None
    key: yaml.Event | None = None
    name: yaml.ScalarEvent | None = None
    value: yaml.ScalarEvent | None = None


def _named(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the keys of a YAML text that are named after a secret and have a plain value.

    It is read event by event: a tree of a text that is nested very deep ends the process.
    """
    above = [_Open(is_mapping=False, over=None)]
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            for key, place in _read(event, above):
                if mark := place.start_mark:
                    yield key, mark.line + 1, mark.column + 1
            if len(above) > _DEPTH_MAX:
                return
    except (yaml.YAMLError, ValueError):
        # What is no YAML has no keys; Pulumi and the spec's reader refuse such a file.
        return


def _read(event: yaml.Event, above: list[_Open]) -> Iterator[tuple[str, yaml.Event]]:
    """Yield the key of what an event tells, and what stands at its place."""
    if isinstance(event, yaml.CollectionStartEvent):
        above.append(_Open(isinstance(event, yaml.MappingStartEvent), above[-1].key))
        return
    if isinstance(event, yaml.CollectionEndEvent):
        yield from _paired(above.pop())
    elif not isinstance(event, yaml.NodeEvent):
        return
    within = above[-1]
    key = within.key if within.is_mapping else within.over
    within.key = event if within.is_mapping and within.key is None else None
    if isinstance(key, yaml.ScalarEvent) and isinstance(event, yaml.ScalarEvent):
        yield from _valued(within, key, event)


def _valued(
    within: _Open, key: yaml.ScalarEvent, value: yaml.ScalarEvent
) -> Iterator[tuple[str, yaml.Event]]:
    if within.is_mapping and key.value == "name":
        within.name = value
    if within.is_mapping and key.value == "value":
        within.value = value
        key = within.over if isinstance(within.over, yaml.ScalarEvent) else key
    if is_secret(key.value, value.value):
        yield key.value, key


def _paired(ended: _Open) -> Iterator[tuple[str, yaml.Event]]:
    """Yield the name of a variable, as of a container, with the place of its value."""
    name, value = ended.name, ended.value
    if name and value and is_secret(name.value, value.value):
        yield name.value, value
