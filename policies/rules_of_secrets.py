"""That nothing secret stands where anybody can read it."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from policies.finding import Finding, Text, about
from policies.planned import HIDDEN, Planned, at, mapping
from policies.secret_lines import is_told
from policies.secret_texts import in_text, is_text_told
from policies.secret_values import is_plain
from policies.secret_words import is_header, is_header_told, is_secret, is_told_under
from tallyard.render.manifest import Manifest
from tallyard.spec.problem import Location

# What these hold is looked at by itself. The schema of a kind has fields of all names.
_HOLDERS: Mapping[str, tuple[str, ...]] = {
    "Secret": ("data", "stringData"),
    "ConfigMap": ("data", "binaryData"),
}
_WITHOUT = "CustomResourceDefinition"
# What a SealedSecret has: only its controller can read it.
_ENCRYPTED = "encryptedData"
# Beside these `secretKey` says which of a Secret's keys is meant.
_OF_KEY = frozenset({"remoteRef", "secretName", "secretRef", "existingSecret"})
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
        for (line, column), key in sorted(in_text(text).items()):
            english, chinese = Text(key, key) if key else _UNNAMED
            told = Text(
                f"{english} stands in plain text: {_ADVICE.english}",
                f"{chinese} 是明文：{_ADVICE.chinese}",
            )
            yield Finding(
                "secrets-hidden",
                told,
                kind="Setting",
                object_name=key or Path(file).name,
                location=Location(Path(file), line, column),
            )
    for each in planned.after:
        for place in _places(each):
            told = Text(
                f"{place} of {each.kind} {each.name} stands in plain text: {_ADVICE.english}",
                f"{each.kind} {each.name} 的 {place} 是明文：{_ADVICE.chinese}",
            )
            yield about("secrets-hidden", told, each)


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
            words = [word for word in value if isinstance(word, str)]
            if is_told(words) or any(is_secret(key, word) for word in words):
                yield place
            left += reversed([(m, _member(place, n, m), key) for n, m in _members(value)])
        elif isinstance(value, str):
            # By its form, too: a text is read only once for that.
            if is_text_told(value) or is_told_under(key, value.strip()):
                yield place
        elif is_secret(key, value):
            yield place


def _fields(content: Mapping[str, Any], place: str, above: str) -> Iterator[tuple[Any, str, str]]:
    """Yield the fields of a mapping; `password: {value: …}` is known by the name above."""
    is_key = not _OF_KEY.isdisjoint(content)
    for name, value in content.items():
        if name != _ENCRYPTED and not (is_key and name == "secretKey"):
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
        return is_plain(value) and is_header_told(value)
    return isinstance(name, str) and (is_secret(name, value) or is_text_told(value))


def _is_told_by(kind: str, part: str, key: object, value: Any) -> bool:
    if kind == "Secret":
        return value not in (None, "", HIDDEN)
    if is_secret(key, value):
        return True
    return bool(in_text(_decoded(value) if part == "binaryData" else str(value)))


def _decoded(value: Any) -> str:
    try:
        return base64.b64decode(str(value)).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""
