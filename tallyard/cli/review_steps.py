"""The steps of a review: from two sides to what is printed, with or without Pulumi's own plan."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from policies.planned import Planned
from policies.rules import review as asked_rules
from tallyard.cli import session
from tallyard.cli.diff_command import about_of, platform_of, problems_of, title_of
from tallyard.cli.diff_document import is_changed, spec_diff
from tallyard.cli.exit_codes import ExitCode
from tallyard.cli.output import print_line
from tallyard.cli.review_command import ReviewFormat
from tallyard.cli.review_document import review_document
from tallyard.cli.review_losses import Loss, losses
from tallyard.cli.review_plan import Plan, completed, plan_of_objects
from tallyard.cli.review_queues import GoingQueue, going_queues, holders, notices
from tallyard.cli.review_sources import Beside, from_root, sources_of, versions_of, was_no_lab
from tallyard.cli.review_verdict import Jobs, PackFinding, Review, ToldFinding, beside, told
from tallyard.cli.review_versions import VersionChange, version_changes
from tallyard.cli.revision import Repository, Side
from tallyard.cli.views.review import (
    findings_sections,
    jobs_section,
    pack_section,
    plan_section,
    verdict_line,
    with_notices,
)
from tallyard.cli.views.review_fields import (
    about_drift,
    about_versions,
    fields_section,
    versions_section,
)
from tallyard.cli.views.review_markdown import markdown
from tallyard.cli.views.review_sarif import sarif
from tallyard.cli.views.spec_diff import sections
from tallyard.cli.views.spec_diff_objects import Objects, objects
from tallyard.cli.views.spec_diff_table import show
from tallyard.cli.words import word
from tallyard.render.manifest import Manifest
from tallyard.render.platform import render
from tallyard.spec.changes.change import Presence
from tallyard.spec.changes.warnings import new_warnings
from tallyard.spec.changes.whole import Changes, changes
from tallyard.spec.problem import Location, Problem


@dataclass(frozen=True)
class Begun:
    """What is known of a change before a cluster is asked.

    Attributes:
        repo: the repository.
        path: the environment's file.
        sides: before and after.
        now: the moment at which both were read.
        found: what differs in the spec.
        changed: what happens to objects that cannot simply be changed.
        manifests: the objects before and after.
        findings: what the rules say.
        losses: what is taken from whom.
        versions: the pins that differ.
    """

    repo: Repository
    path: Path
    sides: tuple[Side, Side]
    now: datetime
    found: Changes
    changed: Objects
    manifests: tuple[tuple[Manifest, ...], tuple[Manifest, ...]]
    findings: tuple[ToldFinding, ...]
    losses: tuple[Loss, ...]
    versions: tuple[VersionChange, ...]

    @property
    def going(self) -> tuple[GoingQueue, ...]:
        """Return the queues that are deleted; of an environment that goes nothing is applied."""
        if self.found.environment is Presence.REMOVED:
            return ()
        return going_queues(self.changed, self.manifests[0])

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """Return what the spec was not warned of before."""
        return new_warnings(*map(problems_of, self.sides))


def begin(
    repo: Repository,
    path: Path,
    sides: tuple[Side, Side],
    now: datetime,
    beside: Beside | None = None,
) -> Begun:
    """Compare two sides and ask the rules.

    Args:
        repo: The repository.
        path: The environment's file.
        sides: Before and after, none with an error and one of them there.
        now: The moment at which both were read.
        beside: The files beside it; None for those in its folder.

    Raises:
        Complaint: The pins cannot be used.
    """
    before, after = map(platform_of, sides)
    found, changed = changes(before, after, now), objects(before, after)
    rendered = tuple(render(each) if each is not None else () for each in (before, after))
    manifests = (rendered[0], rendered[1])
    files = beside or Beside.of(path)
    findings = _findings(repo, sides, manifests, files)
    pins = version_changes(*(versions_of(repo, side, files) for side in sides))
    lost = losses(found, changed)
    return Begun(repo, path, sides, now, found, changed, manifests, findings, lost, pins)


def _findings(
    repo: Repository,
    sides: tuple[Side, Side],
    manifests: tuple[tuple[Manifest, ...], tuple[Manifest, ...]],
    beside: Beside,
) -> tuple[ToldFinding, ...]:
    """Ask the rules; an environment that goes as a whole breaks none."""
    before, after = sides
    if after.loaded is None or after.loaded.platform is None:
        return ()
    sources = sources_of(repo, after, after.loaded, beside)
    is_lab = sources.is_lab and not was_no_lab(repo, before, beside)
    planned = Planned(*manifests, after.loaded.platform, sources.versions, is_lab, sources.texts)
    return told(asked_rules(planned), sources.places)


def finish(
    begun: Begun,
    plan: Plan | None,
    jobs: Jobs,
    output: ReviewFormat,
    *,
    pack: Iterable[PackFinding] = (),
    failed: int = 0,
) -> int:
    """Print a review and return the exit code.

    Args:
        begun: What is known of the change.
        plan: What Pulumi says that it would do; None where it was not asked.
        jobs: The work that is affected.
        output: How to print.
        pack: What Pulumi's policy pack found.
        failed: Pulumi's own exit code, which stands where no rule refuses; 0 where it did not
            fail or is not known.
    """
    # Of an environment that goes nothing is applied; its cluster stays as it is.
    is_gone = begun.found.environment is Presence.REMOVED
    by_objects = plan_of_objects(*(((), ()) if is_gone else begun.manifests))
    made = Review(
        begun.findings,
        completed(plan, by_objects) if plan else by_objects,
        jobs,
        begun.found.zone_after,
        begun.versions,
        pack=beside(pack, begun.findings),
    )
    # What the rules refuse goes before: a preview fails of it too.
    if made.refused:
        code = int(ExitCode.POLICY)
    else:
        code = failed or int(ExitCode.FAILED if made.fails else ExitCode.OK)
    session.expect(code)
    _print(begun, made, output)
    return code


def _print(begun: Begun, made: Review, output: ReviewFormat) -> None:
    shown = with_notices(
        sections(begun.found, begun.changed, begun.warnings), notices(begun.going, made.jobs)
    )
    title = title_of(begun.path, begun.sides)
    differs = is_changed(begun.found, begun.changed)
    # Only the spec is compared; what else has changed in the repository is not known here.
    about = (
        about_of(begun.found, begun.sides, differs=True)
        if differs
        else _sentences(
            word("The spec means the same as before."), about_versions(made), about_drift(made)
        )
    )
    match output:
        case ReviewFormat.MARKDOWN:
            sys.stdout.write(markdown(title, made, about, shown))
        case ReviewFormat.TABLE:
            print_line(title)
            print_line(verdict_line(made))
            every = (
                *findings_sections(made),
                pack_section(made),
                plan_section(made),
                fields_section(made),
                versions_section(made),
                jobs_section(made),
            )
            show(tuple(each for each in every if each is not None))
            if about:
                print_line(f"\n{about}")
            show(shown)
        case ReviewFormat.SARIF:
            _write(_sarif(begun, made))
        case ReviewFormat.JSON:
            diff = spec_diff(
                str(begun.path),
                begun.sides,
                begun.now,
                begun.found,
                objects=begun.changed,
                warnings=begun.warnings,
            )
            _write(review_document(made, diff, tuple(holders(begun.going, made.jobs))))


def _sentences(*texts: str) -> str:
    return ("" if session.lang() == "zh" else " ").join(filter(None, texts))


def _sarif(begun: Begun, made: Review) -> object:
    after = begun.sides[1]
    fallback = Location(begun.path, 1, 1)
    return sarif(
        made,
        version("tallyard"),
        begun.path.stem,
        fallback,
        lambda at: from_root(begun.repo, after, at),
    )


def _write(content: object) -> None:
    sys.stdout.write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
