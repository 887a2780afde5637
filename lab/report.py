"""How the lab tells what it does; printing is the business of whoever called it."""

from __future__ import annotations

from typing import Protocol


class Report(Protocol):
    """What a caller gives to hear of progress; both may be called from several threads."""

    def step(self, text: str) -> None:
        """Something begins, e.g. `control plane`."""

    def done(self, text: str) -> None:
        """Something ended well, e.g. `control plane ready in 3.1 s`."""


class Silence:
    """A report that nobody reads."""

    def step(self, text: str) -> None:
        """Drop the text."""

    def done(self, text: str) -> None:
        """Drop the text."""
