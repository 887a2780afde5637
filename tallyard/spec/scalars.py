"""What a plain scalar means, and which ones are refused because readers disagree.

YAML 1.1 and 1.2 read `NO`, `010` or `1e3` differently. Guessing would give one person a
country and the other a boolean, so each such text is a located problem.
"""

from __future__ import annotations

import re

# Longer ones are no figure of this spec, and reading a very long one takes long.
DIGITS_MAX = 18

_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)", re.ASCII)
_FRACTION = re.compile(r"[-+]?(0|[1-9][0-9]*)\.[0-9]+", re.ASCII)
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+|0o[0-7]+", re.ASCII)
_ODD_NUMBER = re.compile(
    r"[-+]?(0x[0-9a-fA-F_]+|0b[01_]+"
    r"|[0-9][0-9_]*(\.[0-9_]*)?[eE][-+]?[0-9]+|[0-9]+(_[0-9]*)+(\.[0-9_]*)?"
    r"|[0-9]+(:[0-5]?[0-9])+(\.[0-9]*)?|[0-9]+\.|\.[0-9]+"
    r"|\.(inf|Inf|INF))|\.(nan|NaN|NAN)",
    re.ASCII,
)
# Most texts are names, which need not be tried as each kind of number.
_NUMBER_STARTS = frozenset("+-.0123456789")
_WORDS = frozenset({"yes", "no", "on", "off", "y", "n"})
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {"true": True, "false": False}

type Value = str | int | float | bool | None


def read(text: str) -> tuple[Value, str | None]:
    """Return what a plain scalar means and the code of a problem, if it has one."""
    if text in _NULLS:
        return None, None
    if text in _BOOLEANS:
        return _BOOLEANS[text], None
    if text.lower() in _BOOLEANS or text.lower() in _WORDS:
        return text, "SPEC030"
    return _number(text)


def _number(text: str) -> tuple[Value, str | None]:
    if text[0] not in _NUMBER_STARTS:
        return text, None
    if _LEADING_ZERO.fullmatch(text):
        return text, "SPEC031"
    if _ODD_NUMBER.fullmatch(text):
        return text, "SPEC032"
    if _INTEGER.fullmatch(text):
        return (int(text), None) if len(text) <= DIGITS_MAX else (text, "SPEC034")
    if _FRACTION.fullmatch(text):
        return (float(text), None) if len(text) <= DIGITS_MAX else (text, "SPEC034")
    return text, None
