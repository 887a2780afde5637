"""What holds for one run of the command: the language and whether to use colour."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TextIO

from tallyard.languages import Language, language_of

if TYPE_CHECKING:
    from rich.console import Console


class Lang(StrEnum):
    """The languages that we speak."""

    EN = "en"
    ZH = "zh"


@dataclass(frozen=True)
class Session:
    """The choices of one run. `color` False forbids it; True leaves it to the terminal."""

    lang: Lang = Lang.EN
    color: bool = True


_USUAL = Session()
_SESSION: ContextVar[Session] = ContextVar("session")
_EXPECTED: ContextVar[int] = ContextVar("expected")


def begin(lang: Lang | None, *, no_color: bool) -> Session:
    """Settle the choices of this run from the options and the environment."""
    color = not (no_color or os.environ.get("NO_COLOR"))
    session = Session(lang or default_lang(os.environ), color)
    _SESSION.set(session)
    return session


def expect(code: int) -> None:
    """Say what the command ends with, before its last results are written.

    Whoever reads them may have seen enough by then (`head`); how it ends is not theirs to say.
    """
    _EXPECTED.set(code)


def expected() -> int:
    """Return what the command ends with when nobody reads its results."""
    return _EXPECTED.get(0)


def lang() -> Language:
    """Return the language of this run, `en` or `zh`."""
    return "zh" if _SESSION.get(_USUAL).lang is Lang.ZH else "en"


def default_lang(environment: Mapping[str, str]) -> Lang:
    """Return the language of the locale."""
    return Lang(language_of(environment))


def out() -> Console:
    """Return the console for results (stdout)."""
    return _console(sys.stdout)


def err() -> Console:
    """Return the console for everything else (stderr)."""
    return _console(sys.stderr)


def close_with(text: str) -> None:
    """Say one thing on stderr after all results.

    Those are written in blocks where no terminal reads them, and stderr is not: in a file that
    both go to it would stand in the middle of them.
    """
    sys.stdout.flush()
    err().print(text)


# What is piped is for programs or for `less -S`: a line of a table is never broken there.
_UNBROKEN_WIDTH = 10_000


def _console(stream: TextIO) -> Console:
    from rich.console import Console  # noqa: PLC0415

    return Console(
        file=stream,
        no_color=not _SESSION.get(_USUAL).color,
        highlight=False,
        markup=False,
        emoji=False,
        width=None if stream.isatty() else _UNBROKEN_WIDTH,
    )
