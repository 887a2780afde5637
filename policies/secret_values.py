"""What stands where a secret might: whether who reads it has the secret.

How the key is called under which it stands is the business of `secret_words`.
"""

from __future__ import annotations

import re
from typing import Any

from policies.planned import HIDDEN

_NOTHING = frozenset(
    {
        *("", "null", "none", "nil", "undefined", "~", HIDDEN),
        *("true", "false", "yes", "no", "on", "off"),
    }
)
# What is filled in later: by the kubelet, a shell, a template or a program's format.
_FILLED_IN = re.compile(
    r"\$[A-Z_][A-Z0-9_]*|\$\([\w.-]+\)|\$\{[\w.-]+(?::?[-?])?\}|\$?\{\{.*\}\}|\{[A-Za-z_.]*\}|%s|%\(\w+\)s"
)
# Of what ends at the first blank only the beginning is known: `Bearer ${{ secrets.TOKEN }}`.
_FILLED_IN_BEGINS = re.compile(r"\$[({\w]|\{\{|\{[A-Za-z_.]*\}|%s|%\(|<|\*\*|\.\.\.|…")
# What a person puts instead (`<your token>`), and what a model reads (`<|endoftext|>`, `[PAD]`).
_INSTEAD = re.compile(r"<[^<>]{1,60}>|\[[A-Z_]{1,30}\]|[.*…]{2,}|…")
# What leads to a secret that is kept elsewhere, and what only its keeper can read.
_ELSEWHERE = re.compile(r"(?:arn:aws|vault:|op://|ref\+\w+://)\S+|ENC\[.*\]")
_PUBLIC = re.compile(r"(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-[\w-]+) AAAA.*", re.DOTALL)
_PATH = re.compile(
    r"@?(?:file:/{0,2})?(?:~|\.{1,2})?/(?:[\w.@:-]+/)+[\w.@:-]*"
    r"|@?(?:~|\.{1,2})?/[A-Za-z._-]+"
    r"|https?://[^\s?#]+"
)
_RANDOM_LENGTH_MIN = 20
# Sentences have them; passwords of several words, which a program picks, do not.
_OF_SENTENCES = frozenset(
    {
        *("a", "an", "and", "are", "as", "ask", "be", "by", "for", "from", "in", "is", "it", "no"),
        *("not", "of", "on", "or", "see", "set", "that", "the", "this", "to", "use", "was"),
        *("will", "with", "you", "your"),
    }
)
_SENTENCE_WORDS_MIN = 3
_CHINESE = re.compile("[一-鿿]")
_ALONE = re.compile(r"[a-z]{1,20}")
_JOINED = re.compile(r"[a-z]{1,20}\d?[a-z]{0,20}|\d{1,2}")
_NAME_LENGTH_MAX = 127


def is_plain(value: Any) -> bool:
    """Return whether a value could be a secret that anybody can read.

    It is not where it is nothing, filled in later, said instead of one, kept elsewhere or public,
    nor where it is a path or a sentence.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    text = str(value).strip()
    if text.lower() in _NOTHING or _is_path(text):
        return False
    if any(p.fullmatch(text) for p in (_FILLED_IN, _INSTEAD, _ELSEWHERE, _PUBLIC)):
        return False
    return not is_sentence(text) or any(map(str.isdigit, text))


def is_filled_in(beginning: str) -> bool:
    """Return whether a text begins with what is filled in later."""
    return _FILLED_IN_BEGINS.match(beginning) is not None


def is_sentence(text: str) -> bool:
    """Return whether a text is written for people."""
    if _CHINESE.search(text):
        return True
    words = text.lower().split()
    return len(words) >= _SENTENCE_WORDS_MIN and not _OF_SENTENCES.isdisjoint(words)


def is_name(text: str) -> bool:
    """Return whether a text is how people call a Secret: `webhook-server-cert`, `web/tls-2`.

    Lower case, words of letters; of several words each may have one digit. `hunter2` is none.
    """
    if len(text) > _NAME_LENGTH_MAX:
        return False
    words = re.split(r"[-.]", text.rpartition("/")[2])
    pattern = _ALONE if len(words) == 1 else _JOINED
    return all(map(pattern.fullmatch, words))


def _is_path(text: str) -> bool:
    # Base64 has slashes too.
    return bool(_PATH.fullmatch(text)) and not any(map(_is_random, re.split(r"[/=]", text)))


def _is_random(word: str) -> bool:
    return len(word) >= _RANDOM_LENGTH_MIN and all(
        any(map(kind, word)) for kind in (str.islower, str.isupper, str.isdigit)
    )
