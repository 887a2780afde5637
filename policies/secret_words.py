"""By what a secret is known: how it is built, or how the key is called under which it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from policies.planned import HIDDEN

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
# `dbPassword`, `DB_PASSWORD` and `db.password` are the same words; `APIKey` is two.
_PIECES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_WORDS = frozenset(
    {
        *("password", "passwd", "passphrase", "secret", "token", "credential", "credentials"),
        *("apikey", "accesskey", "privatekey"),
    }
)
_PAIRS = frozenset({("api", "key"), ("access", "key"), ("private", "key"), ("db", "pwd")})
# What is called so, and is the name of a Secret, or a piece of text that a model reads.
_OTHERS = frozenset(
    {
        *((word, "secret") for word in ("existing", "pull", "tls", "cert", "certificate")),
        *((word, "token") for word in ("bos", "eos", "pad", "unk", "sep", "cls", "mask")),
        *((word, "token") for word in ("max", "min", "per", "stop", "special")),
    }
)
_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie"})
_PLAIN = frozenset({"", "null", "none", "~", "true", "false", HIDDEN})
# What is filled in later: by the kubelet, a shell or a template.
_FILLED_IN = re.compile(r"\$\([\w.-]+\)|\$\{[\w.-]+\}|\{\{.*\}\}")
# What a program is told: `--token=…`, `PASSWORD=…`, `--password …`.
_ASSIGNED = re.compile(r"(?<![\w.-])(?P<key>[\w.-]+)=(?P<value>[\"']?[^\s\"'$`]\S*)")
_OPTION = re.compile(r"--?(?P<key>[\w.-]+)")
_FOLLOWED = re.compile(r"(?:^|\s)--?(?P<key>[\w.-]+)\s+(?P<value>[\"']?[^\s\"'$`-]\S*)")
# A line of a file of variables; with blanks around it is also how programs are written, and
# those have dots and brackets.
_LINE = re.compile(
    r"\s*(?:export\s+)?(?P<key>[\w.:-]+)"
    r"(?:=(?P<value>[\"']?[^\s\"'$`<(\[{](?:(?!\w[(\[]).)*)"
    r"|\s+=\s+(?P<spaced>\"[^\"$]+\"|'[^'$]+'|[^\s.\"'()\[\]{}$]+))\s*"
)


def is_named(key: object) -> bool:
    """Return whether a key says that what stands under it is secret."""
    words = tuple(piece.lower() for piece in _PIECES.findall(str(key)))
    if words[-2:] in _OTHERS:
        return False
    return words[-2:] in _PAIRS or (bool(words) and words[-1] in _WORDS)


def is_header(name: object) -> bool:
    """Return whether an HTTP header of that name says who asks."""
    return str(name).lower() in _HEADERS


def is_plain(value: Any) -> bool:
    """Return whether a value is one that anybody can read, and not none or a reference."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    text = str(value).strip()
    return text.lower() not in _PLAIN and not _FILLED_IN.fullmatch(text)


def is_secret(key: object, value: Any) -> bool:
    """Return whether a value is secret, by its key or by how it is built."""
    return is_plain(value) and (is_named(key) or shape(str(value)) is not None)


def shape(text: str) -> int | None:
    """Return where in a text something begins that is built like a secret; None for nowhere."""
    found = _SHAPES.search(text)
    return found.start() if found else None


def assigned(line: str) -> tuple[str, int] | None:
    """Return the key and its place of a line `DB_PASSWORD=…`; None where it is no such line."""
    found = _LINE.fullmatch(line)
    if found is None or not is_named(found["key"]):
        return None
    value = (found["value"] or found["spaced"]).strip("\"'")
    return (found["key"], found.start("key")) if is_plain(value) else None


def is_told(words: Sequence[str]) -> bool:
    """Return whether the words of a command tell a secret."""
    return any(map(_is_told_in, words)) or any(
        is_named(option["key"]) and not value.startswith(("-", "$")) and is_plain(value)
        for word, value in pairwise(words)
        if (option := _OPTION.fullmatch(word))
    )


def _is_told_in(word: str) -> bool:
    return shape(word) is not None or any(
        is_named(key) and is_plain(value.strip("\"'")) for key, value in _settings(word)
    )


def _settings(word: str) -> Iterator[tuple[str, str]]:
    for pattern in (_ASSIGNED, _FOLLOWED):
        for found in pattern.finditer(word):
            yield found["key"], found["value"]
