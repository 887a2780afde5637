"""`tally lab preview`: the review of a lab, with Pulumi's own plan and the lab's work."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from lab.folder import CHECKOUT, LabFolder
from lab.stack import STACK
from tallyard.cli.diff_command import checked
from tallyard.cli.errors import Complaint
from tallyard.cli.progress import progress
from tallyard.cli.review_cluster import affected_jobs, deployed
from tallyard.cli.review_command import ReviewFormat
from tallyard.cli.review_preview import preview
from tallyard.cli.review_sources import Beside
from tallyard.cli.review_steps import begin, finish
from tallyard.cli.revision import (
    Repository,
    Side,
    at_revision,
    in_working_tree,
    repository,
    revision,
)
from tallyard.cli.target import Target
from tallyard.cluster.client import connect

_STACKS = CHECKOUT / "stacks"
# What the Pulumi program reads, wherever the environment's file lies.
_BESIDE = Beside(_STACKS / "versions.yaml", _STACKS / f"Pulumi.{STACK}.yaml")


def review_lab(folder: LabFolder, overlay: Path, output: ReviewFormat) -> int:
    """Print the review of a lab and return the exit code.

    Args:
        folder: The lab's.
        overlay: The environment's file that it was made from.
        output: How to print.

    Raises:
        LabError: Pulumi did not say what it would do.
        ClusterError: The lab's API server does not answer.
        Complaint: The pins cannot be used, or no spec before is known.
        SpecRefused: The spec has errors, which have been told.
    """
    now, path = datetime.now(UTC), _below(overlay)
    target = Target(kubeconfig=str(folder.operator))
    before = _deployed(target, now) or _committed(path, now)
    sides = checked((before, in_working_tree(path, now)), path, None)
    begun = begin(_repository(path), path, sides, now, _BESIDE)
    with progress() as report:
        previewed = preview(folder, path, report)
    jobs = affected_jobs(target, begun.losses, None, now)
    return finish(begun, previewed.plan, jobs, output, pack=previewed.pack, failed=previewed.code)


def _deployed(target: Target, now: datetime) -> Side | None:
    """Return the spec of the last `up`; None where the lab does not know of any."""
    with connect(path=target.kubeconfig) as connection:
        found = deployed(connection, now)
    return found.side if found else None


def _committed(path: Path, now: datetime) -> Side:
    repo = repository(path)
    return at_revision(repo, revision(repo, "HEAD"), path, now)


def _repository(path: Path) -> Repository:
    """Return the repository of a spec; its own folder where it lies in none."""
    try:
        return repository(path)
    except Complaint:
        return Repository(path.absolute().parent.resolve())


def _below(path: Path) -> Path:
    """Return a path from the working folder where it lies below that."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
