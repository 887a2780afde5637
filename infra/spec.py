"""The spec of this stack, or all that is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pulumi

from tallyard.spec.load import load
from tallyard.spec.messages import closing, report
from tallyard.spec.model import Platform


class SpecError(Exception):
    """The spec has errors; the text is the whole report, in plain lines."""


def platform_of(overlay: Path) -> Platform:
    """Load the spec, and show what it is warned of.

    Raises:
        SpecError: with every problem of all its files.
    """
    loaded = load(overlay)
    if loaded.platform is None:
        told = report(loaded.problems, sources=loaded.texts)
        raise SpecError(f"{told}\n{closing(loaded.problems)}")
    if loaded.problems:
        pulumi.log.warn(report(loaded.problems, sources=loaded.texts))
    return loaded.platform
