"""By what a secret is known: how the key is called under which it stands.

The last words of a key count: a `tokenPath` or a `secretName` is no secret.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from policies.secret_shapes import basic, shape
from policies.secret_values import is_name, is_plain

# A plan has the same few keys in thousands of objects.
_KEYS_MAX = 4096
# `dbPassword`, `DB_PASSWORD` and `db.password` are the same words; `APIKey` is two.
_PIECES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_WORDS = frozenset(
    {
        *("passwords", "passphrases", "pwd", "secret", "token", "credential", "credentials"),
        *("apikey", "apikeys", "accesskey", "privatekey", "secretkey", "secretaccesskey"),
        *("accesstoken", "apitoken", "authtoken", "clientsecret", "appsecret"),
    }
)
# Of these any word may be the end: `PGPASSWORD`.
_ENDS = ("password", "passwd", "passphrase")
_OF_KEYS = (
    *("access", "account", "aes", "api", "auth", "deploy", "encryption", "hmac", "jwt", "master"),
    *("preshared", "private", "secret", "shared", "signing", "ssh"),
)
_PAIRS = frozenset(
    {
        *((word, "key") for word in _OF_KEYS),
        *((word, "keys") for word in ("api", "access", "private")),
        *((word, "tokens") for word in ("access", "api", "auth", "bearer")),
        *((word, "pat") for word in ("ado", "azure", "devops", "gh", "ghcr", "git", "github")),
        ("gitlab", "pat"),
    }
)
# Who goes through what: `proxy_pass` is a server's address, `first_pass` a number.
_OF_PASSES = frozenset(
    {
        *("backward", "fastcgi", "first", "forward", "grpc", "last", "multi", "num", "one"),
        *("proxy", "scgi", "second", "single", "third", "two", "uwsgi"),
    }
)
# What comes behind the word and changes nothing: `SECRET_KEY_BASE`, `PASSWORD_BASE64`.
_BEHIND = frozenset({"base", "value", "plain", "plaintext"})
# What a model reads: `BEGIN_OF_TEXT_TOKEN`, `image_token`.
_OF_TEXTS = (
    *("bos", "eos", "pad", "unk", "sep", "cls", "mask", "bot", "eot", "eod", "start", "end"),
    *("begin", "text", "sequence", "sentence", "image", "video", "audio", "vision", "speech"),
    *("padding", "max", "min", "per", "stop", "special"),
)
# What is called so and is another thing: the name of a Secret, a piece of text, a place in a list.
_OTHERS = frozenset(
    {
        *((word, "secret") for word in ("existing", "pull", "tls", "cert", "certificate")),
        *((word, "token") for word in _OF_TEXTS),
        *((word, "token") for word in ("page", "continue", "continuation")),
    }
)
# Of which nobody makes a Secret's name an option.
_OF_SECRETS = frozenset(
    {
        *("api", "app", "client", "consumer", "cookie", "hmac", "jwt", "oauth", "session"),
        *("shared", "signing"),
    }
)
_AUTHS = frozenset({("registry", "auth"), ("docker", "auth")})
_USERS = frozenset({("basic", "auth"), ("http", "auth"), ("proxy", "auth"), *_AUTHS})
# By which a registry asks who comes.
_WAYS = frozenset({"htpasswd", "token", "silly", "basic", "anonymous"})
_USER = re.compile(r"[\w.@-]{1,100}:(?!\d{1,5}\Z)\S{1,200}")
_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie"})
_SCHEME = re.compile(
    r"(?:bearer|basic|token|digest|apikey)\s+(?P<value>.*)", re.IGNORECASE | re.DOTALL
)


@lru_cache(maxsize=_KEYS_MAX)
def is_named(key: str) -> bool:
    """Return whether a key says that what stands under it is secret."""
    words = _words(key)
    if len(words) > 1 and words[-1] in _BEHIND:
        words = words[:-1]
    if not words or words[-2:] in _OTHERS:
        return False
    if words[-1] == "pass":
        return _OF_PASSES.isdisjoint(words[-2:-1])
    return words[-2:] in _PAIRS or words[-1] in _WORDS or words[-1].endswith(_ENDS)


def may_name(key: str) -> bool:
    """Return whether the name of a Secret may stand under a key, too.

    So it is of options (`--webhook-secret=cert`) and of annotations (`example.com/auth-secret`).
    """
    words = _words(key)
    return words[-1:] == ("secret",) and not _OF_SECRETS.intersection(words[-2:-1])


def is_header(name: object) -> bool:
    """Return whether an HTTP header of that name says who asks."""
    return str(name).lower() in _HEADERS


def is_header_told(text: object) -> bool:
    """Return whether the value of such a header says it to anybody who reads it."""
    found = _SCHEME.fullmatch(str(text).strip())
    return is_plain(found["value"] if found else text)


def is_secret(key: object, value: Any) -> bool:
    """Return whether a value is secret, by its key or by how it is built."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    text = str(value).strip()
    return shape(text) is not None or is_told_under(str(key), text)


def is_told_under(key: str, text: str) -> bool:
    """Return whether a text is a secret by the key that it stands under."""
    domain, _, name = key.rpartition("/")
    if is_named(name):
        return is_plain(text) and not (domain and may_name(name) and is_name(text))
    if is_header(name):
        return _SCHEME.fullmatch(text) is not None and is_header_told(text)
    return _words(name)[-1:] == ("auth",) and _is_user_told(_words(name)[-2:], text)


def _is_user_told(words: tuple[str, ...], text: str) -> bool:
    """Return whether a name and a password are told; `auth: basic` and `auth: true` do not."""
    if basic(text) or (words in _USERS and _USER.fullmatch(text)):
        return is_plain(text)
    return words in _AUTHS and is_plain(text) and text.lower() not in _WAYS


@lru_cache(maxsize=_KEYS_MAX)
def _words(key: str) -> tuple[str, ...]:
    return tuple(piece.lower() for piece in _PIECES.findall(key))
