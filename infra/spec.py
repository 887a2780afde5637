"""The spec of this stack, or all that is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pulumi

from tallyard.render.controllers import SpecFile
from tallyard.spec.load import Loaded, load
from tallyard.spec.messages import closing, report
from tallyard.spec.model import Platform


class SpecError(Exception):
    """The spec has errors; the text is the whole report, in plain lines."""


@dataclass(frozen=True)
class SpecFiles:
    """The files of a spec as they were when it was loaded."""

    overlay: SpecFile
    base: SpecFile


def spec_of(overlay: Path) -> tuple[Platform, SpecFiles]:
    """Load the spec with its files, and show what it is warned of.

    Raises:
        SpecError: with every problem of all its files.
    """
    loaded = load(overlay)
    if loaded.platform is None:
        told = report(loaded.problems, sources=loaded.texts)
        raise SpecError(f"{told}\n{closing(loaded.problems)}")
    if loaded.problems:
        pulumi.log.warn(report(loaded.problems, sources=loaded.texts))
    return loaded.platform, _files(loaded)


def _files(loaded: Loaded) -> SpecFiles:
    # A spec without errors has two files, and the platform's comes first.
    base, overlay = (SpecFile(file.name, loaded.texts[file]) for file in loaded.files)
    return SpecFiles(overlay, base)
