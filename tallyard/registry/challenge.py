"""A registry's answer "show a token": where to get one. Parsing only, no I/O."""

from __future__ import annotations

import re
from dataclasses import dataclass

# RFC 9110, 11.2: a parameter's value is a token or a quoted string.
_PARAMETER = re.compile(r'([A-Za-z0-9_-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))')
_ESCAPE = re.compile(r"\\(.)")
_BEARER = re.compile(r"(?:^|,\s*)bearer\s+", re.IGNORECASE)


@dataclass(frozen=True)
class Challenge:
    """Where a token is had, for which service and what for; empty where nothing was said."""

    realm: str
    service: str
    scope: str


def parse(header: str) -> Challenge | None:
    """Return the Bearer challenge of a WWW-Authenticate header, None where there is none."""
    start = _BEARER.search(header)
    if start is None:
        return None
    found: dict[str, str] = {}
    for name, quoted, plain in _PARAMETER.findall(header[start.end() :]):
        # Another challenge may follow in the same header; the first word counts.
        found.setdefault(name.lower(), _ESCAPE.sub(r"\1", quoted) or plain)
    if not found.get("realm"):
        return None
    return Challenge(found["realm"], found.get("service", ""), found.get("scope", ""))
