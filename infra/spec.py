"""The spec of this stack, or all that is wrong with it."""

from __future__ import annotations

from pathlib import Path

from tallyard.spec.load import load
from tallyard.spec.messages import closing, report
from tallyard.spec.model import Platform


class SpecError(Exception):
    """The spec has errors; the text is the whole report, in plain lines."""


def platform_of(overlay: Path) -> Platform:
    """Load the spec.

    Raises:
        SpecError: with every problem of all its files.
    """
    loaded = load(overlay)
    if loaded.platform is None:
        raise SpecError(f"{report(loaded.problems)}\n{closing(loaded.problems)}")
    return loaded.platform
