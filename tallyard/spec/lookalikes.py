# ruff: noqa: RUF001, RUF002 - the characters are what this is about
"""Characters that look like YAML's own and are not: `：` for `:`, `“` for a quote, wide blanks.

Chinese input methods and chat programs put them there. In a text they are right, so they
are looked for only where something is wrong already.
"""

from __future__ import annotations

from dataclasses import dataclass

_FULL_WIDTH = {chr(code + 0xFEE0): chr(code) for code in range(0x21, 0x7F)}
_QUOTES = {**dict.fromkeys("“”„‟«»", '"'), **dict.fromkeys("‘’‚‛", "'")}
_BRACKETS = {"【": "[", "】": "]", "〔": "[", "〕": "]", "「": '"', "」": '"'}
_STOPS = {"、": ",", "。": "."}
_DASHES = dict.fromkeys("‐‑‒–—―−﹣", "-")
_BLANKS = dict.fromkeys((chr(0xA0), chr(0x202F), *map(chr, range(0x2002, 0x200B))), " ")
# As wide as two blanks, and it stands where two were meant.
_WIDE_BLANK = {chr(0x3000): "  "}
_UNSEEN = dict.fromkeys(map(chr, (0xAD, 0x200B, 0x200C, 0x200D, 0x2060)), "")
_PLAIN = _FULL_WIDTH | _QUOTES | _BRACKETS | _STOPS | _DASHES | _BLANKS | _WIDE_BLANK | _UNSEEN
_TABLE = str.maketrans(_PLAIN)
# YAML wants a blank behind these, and whoever types the wide ones leaves it out.
_TABLE_OF_YAML = _TABLE | str.maketrans({"：": ": ", "，": ", ", "、": ", "})


@dataclass(frozen=True)
class Lookalike:
    """A character that is taken for another: where it stands, how it is shown, which is meant."""

    offset: int
    code: str
    values: dict[str, object]


def first(text: str) -> Lookalike | None:
    """Return the first lookalike in a text."""
    for offset, character in enumerate(text):
        if character in _PLAIN:
            return _lookalike(offset, character)
    return None


def cause(text: str) -> Lookalike | None:
    """Return the first lookalike if nothing but lookalikes is foreign in the text.

    `语言：组` would be wrong with the right colon as well.
    """
    return first(text) if not text.isascii() and plain(text).isascii() else None


def plain(text: str) -> str:
    """Return the text with the characters that were meant."""
    return text.translate(_TABLE)


def plain_yaml(text: str) -> str:
    """Return the text as YAML would need it, with a blank behind each colon and comma."""
    return text.translate(_TABLE_OF_YAML)


def _lookalike(offset: int, character: str) -> Lookalike:
    name, meant = f"U+{ord(character):04X}", _PLAIN[character]
    if not meant:
        return Lookalike(offset, "SPEC008", {"character": name})
    if meant.isspace():
        return Lookalike(offset, "SPEC026", {"character": name})
    return Lookalike(offset, "SPEC019", {"character": f"{character} ({name})", "usual": meant})
