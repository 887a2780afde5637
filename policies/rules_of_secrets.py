"""That nothing secret stands where anybody can read it."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from policies.finding import Finding, Text, about
from policies.planned import HIDDEN, Planned, at, mapping
from policies.secret_words import (
    assigned,
    is_header,
    is_plain,
    is_secret,
    is_told,
    shape,
)
from tallyard.render.manifest import Manifest
from tallyard.spec.problem import Location

# What these hold is looked at by itself. The schema of a kind has fields of all names.
_HOLDERS: Mapping[str, tuple[str, ...]] = {
    "Secret": ("data", "stringData"),
    "ConfigMap": ("data", "binaryData"),
}
_WITHOUT = "CustomResourceDefinition"
_LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
_ADVICE = Text(
    "write it by `pulumi config set --secret`, or name a Secret that is made beside it, and give "
    "out another one",
    "请用 `pulumi config set --secret` 写入，或引用另行创建的 Secret，并更换该密钥",
)
_UNNAMED = Text("what looks like a key or a token", "疑似密钥或令牌的内容")


def secrets_hidden(planned: Planned) -> Iterator[Finding]:
    """Nothing secret stands in a plain value: not in an object, not in a file of the stack.

    It is known by how it is built, or by the name that it stands under.

    Seen: tokens in a ConfigMap, and with it in the state and in the preview of every pull
    request.
    """
    for file, text in planned.texts.items():
        for (line, column), (english, chinese) in sorted(_in_text(text).items()):
            told = Text(
                f"{english} stands in plain text: {_ADVICE.english}",
                f"{chinese} 是明文：{_ADVICE.chinese}",
            )
            yield Finding(
                "secrets-hidden",
                told,
                kind="Setting",
                object_name=Path(file).name if english == _UNNAMED.english else english,
                location=Location(Path(file), line, column),
            )
    for each in planned.after:
        for place in _places(each):
            told = Text(
                f"{place} of {each.kind} {each.name} stands in plain text: {_ADVICE.english}",
                f"{each.kind} {each.name} 的 {place} 是明文：{_ADVICE.chinese}",
            )
            yield about("secrets-hidden", told, each)


def _in_text(text: str) -> dict[tuple[int, int], Text]:
    """Return what a text tells, by line and column from 1. No value of it is repeated."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        if (column := shape(line)) is not None:
            found[number, column + 1] = _UNNAMED
        elif setting := assigned(line):
            key, column = setting
            found[number, column + 1] = Text(key, key)
    told = {number for number, _ in found}
    for key, number, column in _named(text):
        if number not in told:
            found[number, column] = Text(key, key)
    return found


def _named(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the keys of a YAML text that are named after a secret and have a plain value.

    It is read event by event: a tree of a text that is nested very deep ends the process.
    """
    # Of each open collection: whether it is a mapping, the key whose value comes next, and the
    # key under which it stands itself.
    above: list[tuple[bool, Any, Any]] = [(False, None, None)]
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            if isinstance(event, yaml.CollectionStartEvent):
                is_mapping = isinstance(event, yaml.MappingStartEvent)
                above.append((is_mapping, None, above[-1][1]))
                continue
            if isinstance(event, yaml.CollectionEndEvent):
                above.pop()
            elif not isinstance(event, yaml.NodeEvent):
                continue
            is_mapping, key, over = above.pop()
            above.append((is_mapping, event if is_mapping and key is None else None, over))
            if not isinstance(key, yaml.ScalarEvent) or not isinstance(event, yaml.ScalarEvent):
                continue
            named = over if key.value == "value" and isinstance(over, yaml.ScalarEvent) else key
            mark = named.start_mark
            if mark and is_secret(named.value, event.value):
                yield named.value, mark.line + 1, mark.column + 1
    except (yaml.YAMLError, ValueError):
        # What is no YAML has no keys; Pulumi and the spec's reader refuse such a file.
        return


def _places(each: Manifest) -> Iterator[str]:
    """Yield the fields of an object that tell a secret."""
    if each.kind == _WITHOUT:
        return
    held = _HOLDERS.get(each.kind, ())
    for part in held:
        for key, value in mapping(each.object, part).items():
            if _is_told_by(each.kind, part, key, value):
                yield _step(part, key)
    yield from _walked({part: each.object[part] for part in each.object if part not in held})


def _walked(content: Mapping[str, Any]) -> Iterator[str]:
    # What is left to look at, where it stands, and the key under which it does.
    left: list[tuple[Any, str, str]] = [(content, "", "")]
    while left:
        value, place, key = left.pop()
        if isinstance(value, Mapping):
            if _is_pair_told(value, key):
                yield place
            else:
                left += reversed(list(_fields(value, place, key)))
        elif isinstance(value, list | tuple):
            if is_told([word for word in value if isinstance(word, str)]):
                yield place
            left += reversed([(m, _member(place, n, m), key) for n, m in _members(value)])
        elif is_secret(key.rpartition("/")[2], value) or _is_file_told(value):
            yield place


def _fields(content: Mapping[str, Any], place: str, above: str) -> Iterator[tuple[Any, str, str]]:
    """Yield the fields of a mapping; `password: {value: …}` is known by the name above."""
    for name, value in content.items():
        yield value, _step(place, name), above if name == "value" else str(name)


def _members(value: Any) -> Iterator[tuple[int, Any]]:
    return ((n, each) for n, each in enumerate(value) if isinstance(each, Mapping | list | tuple))


def _member(place: str, number: int, member: Any) -> str:
    name = at(member, "name")
    return f"{place}[{name if isinstance(name, str) else number}]"


def _step(place: str, key: object) -> str:
    if not place:
        return str(key)
    return f"{place}[{key}]" if "/" in str(key) else f"{place}.{key}"


def _is_pair_told(pair: Mapping[str, Any], above: str) -> bool:
    """Return whether a mapping is a name and a value, as of a variable, of a secret."""
    name, value = pair.get("name"), pair.get("value")
    if above == "httpHeaders" and is_header(name):
        return is_plain(value)
    return isinstance(name, str) and is_secret(name, value)


def _is_file_told(value: Any) -> bool:
    return isinstance(value, str) and "\n" in value and bool(_in_text(value))


def _is_told_by(kind: str, part: str, key: object, value: Any) -> bool:
    if kind == "Secret":
        return value not in (None, "", HIDDEN)
    if is_secret(key, value):
        return True
    return bool(_in_text(_decoded(value) if part == "binaryData" else str(value)))


def _decoded(value: Any) -> str:
    try:
        return base64.b64decode(str(value)).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""
