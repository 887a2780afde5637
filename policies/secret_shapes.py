"""What is secret by how it is built, whatever the key is called under which it stands."""

from __future__ import annotations

import base64
import binascii
import re

from policies.secret_values import is_filled_in

_PRIVATE = r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
# What services give out, by how it begins. A run of characters is begun at its start only, so
# that a long one is not read again from each of its places.
_GIVEN_OUT = (
    r"(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    r"LTAI[A-Za-z0-9]{16,24}\b",
    r"AKID[A-Za-z0-9]{32}\b",
    r"AIza[\w-]{35}(?![\w-])",
    r"gh[oprsu]_[A-Za-z0-9]{36}\b",
    r"github_pat_\w{40,}",
    r"glpat-[\w-]{20,}",
    r"npm_[A-Za-z0-9]{36}\b",
    r"dckr_pat_[\w-]{20,}",
    r"nvapi-[\w-]{40,}",
    r"pul-[0-9a-f]{40}\b",
    r"xox[abpr]-[\w-]{10,}",
    r"hf_[A-Za-z0-9]{30,}",
    r"sk-[\w-]{20,}",
)
_SHAPES = re.compile(
    _PRIVATE
    # The same in base64, as a Secret or a kubeconfig has it; certificates begin so too.
    + r"|LS0tLS1CRUdJTi(?P<encoded>[A-Za-z0-9+/]*={0,2})"
    + rf"|\b(?:{'|'.join(_GIVEN_OUT)})"
    + r"|(?<![\w-])eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}"
    # The password of an address, and of a MySQL program's.
    + r"|://[^/\s:@]{0,100}:(?P<password>[^/\s@]{1,200})@"
    + r"|:(?P<other>[^/\s@:]{1,200})@(?:tcp|unix)\("
)
_KEY = re.compile(_PRIVATE.encode())


def shape(text: str) -> int | None:
    """Return where in a text something begins that is built like a secret; None for nowhere."""
    return next((f.start() for f in _SHAPES.finditer(text) if _is_told(f)), None)


def basic(text: str) -> bool:
    """Return whether a text is a name and a password as registries want them, in base64."""
    decoded = _decoded(text)
    name, colon, password = decoded.partition(b":")
    return bool(name and colon and password) and decoded.isascii()


def _is_told(found: re.Match[str]) -> bool:
    if found["encoded"] is not None:
        return _KEY.search(_decoded(found[0])) is not None
    password = found["password"] or found["other"]
    return password is None or not is_filled_in(password)


def _decoded(text: str) -> bytes:
    # What is cut off is decoded as far as it goes.
    whole = text.rstrip("=")
    whole = whole[: len(whole) - (len(whole) % 4 == 1)]
    try:
        return base64.b64decode(whole + "=" * (-len(whole) % 4), validate=True)
    except (binascii.Error, ValueError):
        return b""
