"""That nothing secret stands where anybody can read it."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from policies.finding import Finding, Text, about
from policies.planned import HIDDEN, Planned, items, mapping, mappings
from policies.rules_of_supply import containers
from tallyard.render.manifest import Manifest
from tallyard.spec.problem import Location

# What services give out, by how it begins or is built.
_SHAPES = re.compile(
    r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"
    r"|\b(?:ghp|gho|ghs|ghu)_[A-Za-z0-9]{36}\b|\bgithub_pat_\w{40,}"
    r"|\bglpat-[\w-]{20,}"
    r"|\bxox[abpr]-[\w-]{10,}"
    r"|\bhf_[A-Za-z0-9]{30,}"
    r"|\bsk-[\w-]{20,}"
    r"|\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}"
    r"|://[^/\s:@]{1,100}:[^/\s:@]{1,200}@"
)
_WORDS = (
    r"(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key"
    r"|private[_-]?key|credentials?)"
)
# A key that is named so holds one, whatever it looks like.
_NAMES = re.compile(rf"(?:^|[:_.-]){_WORDS}$", re.IGNORECASE)
# The same as a program is told: `--token=…`, `PASSWORD=…`.
_ARGUMENT = re.compile(rf"(?:^|[\s_.-]){_WORDS}=(?P<value>[^\s$]\S*)", re.IGNORECASE)
_PLAIN = frozenset({"", "null", "~", "true", "false", HIDDEN})
_LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
_ADVICE = Text(
    "write it by `pulumi config set --secret`, or name a Secret that is made beside it, and give "
    "out another one",
    "请用 `pulumi config set --secret` 写入，或引用另行创建的 Secret，并更换该密钥",
)
_UNNAMED = Text("what looks like a key or a token", "疑似密钥或令牌的内容")


def secrets_hidden(planned: Planned) -> Iterator[Finding]:
    """Nothing secret stands in a plain value: not in an object, not in a file of the stack.

    Seen: tokens in a ConfigMap, and with it in the state and in the preview of every pull
    request.
    """
    for file, text in planned.texts.items():
        for (line, column), (english, chinese) in sorted(_in_text(text).items()):
            told = Text(
                f"{english} stands in plain text: {_ADVICE.english}",
                f"{chinese} 是明文：{_ADVICE.chinese}",
            )
            yield Finding("secrets-hidden", told, location=Location(Path(file), line, column))
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
        if shape := _SHAPES.search(line):
            found[number, shape.start() + 1] = _UNNAMED
    told = {number for number, _ in found}
    for key, number, column in _named(text):
        if number not in told:
            found[number, column] = Text(key, key)
    return found


def _named(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the keys of a YAML text that are named after a secret and have a plain value.

    It is read event by event: a tree of a text that is nested very deep ends the process.
    """
    # Of each open collection: whether it is a mapping, and the key whose value comes next.
    above: list[tuple[bool, Any]] = [(False, None)]
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            if isinstance(event, yaml.CollectionStartEvent):
                above.append((isinstance(event, yaml.MappingStartEvent), None))
                continue
            if isinstance(event, yaml.CollectionEndEvent):
                above.pop()
            elif not isinstance(event, yaml.NodeEvent):
                continue
            is_mapping, key = above.pop()
            above.append((is_mapping, event if is_mapping and key is None else None))
            if not isinstance(key, yaml.ScalarEvent) or not isinstance(event, yaml.ScalarEvent):
                continue
            mark = key.start_mark
            if mark and _is_secret(key.value, event.value):
                yield key.value, mark.line + 1, mark.column + 1
    except (yaml.YAMLError, ValueError):
        # What is no YAML has no keys; Pulumi and the spec's reader refuse such a file.
        return


def _places(each: Manifest) -> Iterator[str]:
    """Yield the fields of an object that tell a secret."""
    content = each.object
    for part in ("data", "stringData"):
        for key, value in mapping(content, part).items():
            if _is_told_by(each.kind, key, value):
                yield f"{part}.{key}"
    for key, value in mapping(content, "metadata", "annotations").items():
        if _is_secret(str(key).rpartition("/")[2], value):
            yield f"annotation {key}"
    for container in containers(content):
        yield from (f"{place} of container {container.get('name')}" for place in _told(container))


def _is_told_by(kind: str, key: str, value: Any) -> bool:
    if kind == "Secret":
        return value not in (None, "", HIDDEN)
    return kind == "ConfigMap" and (_is_secret(key, value) or bool(_in_text(str(value))))


def _told(container: Any) -> Iterator[str]:
    for variable in mappings(container, "env"):
        if _is_secret(str(variable.get("name")), variable.get("value")):
            yield f"variable {variable.get('name')}"
    for part in ("command", "args"):
        if _is_told(map(str, items(container, part))):
            yield part


def _is_told(words: Iterable[str]) -> bool:
    return any(_SHAPES.search(word) or _ARGUMENT.search(word) for word in words)


def _is_secret(key: Any, value: Any) -> bool:
    text = "" if value is None else str(value)
    if text in _PLAIN:
        return False
    return bool(_NAMES.search(str(key)) or _SHAPES.search(text))
