"""A review that cannot be made, since the spec is wrong: told in the form that was asked for.

Or a comment would keep saying what was true of an earlier commit.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from tallyard.cli import problems, session
from tallyard.cli.diff_command import checked, read_sides, title_of
from tallyard.cli.errors import Complaint
from tallyard.cli.problems import ErrorFormat
from tallyard.cli.review_sources import from_root
from tallyard.cli.revision import Repository, Side
from tallyard.cli.stack import SpecRefused
from tallyard.cli.views.review_markdown import markdown_of_complaint, markdown_of_problems
from tallyard.cli.views.review_sarif import sarif_of_complaint, sarif_of_problems
from tallyard.spec.problem import Problem

# The forms that somebody else shows; a table and JSON have their errors on stderr.
MARKDOWN, SARIF = "markdown", "sarif"


def readable_sides(
    repo: Repository,
    path: Path,
    names: tuple[str, str | None],
    now: datetime,
    *,
    form: ErrorFormat | None,
    output: str,
) -> tuple[Side, Side]:
    """Return both sides, none with an error.

    Args:
        repo: The repository.
        path: The environment's file.
        names: The revisions before and after; None is the working tree.
        now: The moment at which both are read.
        form: How errors are told on stderr.
        output: How a review is printed; for others to show it, errors are too.

    Raises:
        Complaint: A revision is not there, or the environment in neither.
        SpecRefused: One of them has errors, which have been told.
    """
    sides = read_sides(repo, path, names, now)
    refused = [
        (side, side.loaded) for side in sides if side.loaded and side.loaded.platform is None
    ]
    if output in (MARKDOWN, SARIF) and refused:
        found = [(side, each) for side, loaded in refused for each in loaded.problems]
        texts = {file: text for _, loaded in refused for file, text in loaded.texts.items()}
        session.expect(SpecRefused.code)
        problems.tell([each for _, each in found], texts, form, is_stdout_free=False)
        _show_problems(repo, path, sides, found, output)
        raise SpecRefused
    return checked(sides, path, form)


def _show_problems(
    repo: Repository,
    path: Path,
    sides: tuple[Side, Side],
    found: Iterable[tuple[Side, Problem]],
    output: str,
) -> None:
    every = tuple(found)
    if output == MARKDOWN:
        told = tuple(each for _, each in every)
        sys.stdout.write(markdown_of_problems(title_of(path, sides), told))
        return
    placed = tuple((each, from_root(repo, side, each.location)) for side, each in every)
    _write(sarif_of_problems(placed, version("tallyard"), path.stem))


def show_complaint(complaint: Complaint, path: Path, output: str) -> None:
    """Print what keeps a review from being made, where others are to show it.

    Args:
        complaint: What is said on stderr.
        path: The environment's file.
        output: How a review is printed.
    """
    if output == MARKDOWN:
        sys.stdout.write(markdown_of_complaint(str(path), complaint.parts))
    elif output == SARIF:
        _write(sarif_of_complaint(complaint.parts, version("tallyard"), path.stem))


def _write(content: object) -> None:
    sys.stdout.write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
