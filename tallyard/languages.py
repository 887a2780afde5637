"""The languages that people are spoken to in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

type Language = Literal["en", "zh"]
LANGUAGES: tuple[str, ...] = get_args(Language.__value__)


def language_of(environment: Mapping[str, str]) -> Language:
    """Return the language of the locale: the first variable that is set decides, as in POSIX."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := environment.get(name):
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"
