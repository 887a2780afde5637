"""A review as it is printed: what the rules say, what would be done, and to whom. Data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from policies.finding import Finding
from policies.messages import WAIVED
from policies.places import FindingPlaces
from policies.rules import Verdict
from tallyard.catalog.rules import Severity
from tallyard.cli.review_losses import AffectedJob
from tallyard.cli.review_plan import Deed, Plan, PlannedChange
from tallyard.cli.review_versions import VersionChange
from tallyard.cli.views.jobs import JobRow
from tallyard.spec.problem import Location
from tallyard.spec.waiver import Waiver


@dataclass(frozen=True)
class ToldFinding:
    """A finding, where it comes from as far as that can be told, and what waives it."""

    finding: Finding
    location: Location | None
    waiver: Waiver | None = None
    waiver_location: Location | None = None

    @property
    def is_refused(self) -> bool:
        """Return whether it stops the change."""
        return self.waiver is None and self.finding.rule.severity is Severity.MANDATORY


@dataclass(frozen=True)
class PackFinding:
    """What Pulumi's policy pack said: its rule, its own words, the object's URN or an empty text."""

    rule: str
    message: str
    urn: str
    is_mandatory: bool


@dataclass(frozen=True)
class Jobs:
    """What a cluster says of its work.

    Attributes:
        where: which cluster was asked.
        not_asked: why none was asked, else it is empty.
        items: the work that is affected now.
        holding: all work that holds quota, affected or not.
    """

    where: str = ""
    not_asked: str = ""
    items: tuple[AffectedJob, ...] = ()
    holding: tuple[JobRow, ...] = ()


@dataclass(frozen=True)
class Review:
    """All of a review but what differs in the spec.

    Attributes:
        findings: what the rules say, refusals first, waived ones last.
        pack: what the policy pack found beside them.
        plan: what would be done.
        jobs: the work that is affected now.
        zone: the time zone in which waivers end.
        versions: the pins that differ.
    """

    findings: tuple[ToldFinding, ...]
    pack: tuple[PackFinding, ...] = field(default=(), kw_only=True)
    plan: Plan
    jobs: Jobs
    zone: str
    versions: tuple[VersionChange, ...] = ()

    @property
    def refused(self) -> int:
        """Return how many findings stop the change."""
        return sum(each.is_refused for each in self.findings) + sum(
            each.is_mandatory for each in self.pack
        )

    @property
    def told(self) -> int:
        """Return how many findings are only told."""
        open_ones = [each for each in self.findings if each.waiver is None]
        return len(open_ones) + len(self.pack) - self.refused

    @property
    def protected(self) -> tuple[PlannedChange, ...]:
        """Return what `pulumi up` would stop at, whatever the rules say."""
        return tuple(each for each in self.plan.changes if each.deed is Deed.REFUSED)

    @property
    def fails(self) -> bool:
        """Return whether `pulumi up` would not come to its end, or its preview did not."""
        return bool(self.plan.errors or self.protected)

    @property
    def waived(self) -> tuple[ToldFinding, ...]:
        """Return the findings that an entry of the spec covers."""
        return tuple(each for each in self.findings if each.waiver is not None)


def told(verdict: Verdict, places: FindingPlaces) -> tuple[ToldFinding, ...]:
    """Return findings with their places: refusals first, waived ones last."""
    found = [
        *(ToldFinding(each, places.of(each)) for each in verdict.open),
        *(
            ToldFinding(each, places.of(each), waiver, places.spec.of_waiver(waiver))
            for each, waiver in verdict.waived
        ),
    ]
    return tuple(sorted(found, key=lambda each: (each.waiver is not None, not each.is_refused)))


def beside(pack: Iterable[PackFinding], findings: Iterable[ToldFinding]) -> tuple[PackFinding, ...]:
    """Return what the pack found and the rules have not, asked without Pulumi."""
    # The pack tells what is waived by a policy of its own.
    known = [(WAIVED if each.waiver else each.finding.name, each.finding.text) for each in findings]
    return tuple(
        each
        for each in pack
        if not any(
            name == each.rule and any(text in each.message for text in texts)
            for name, texts in known
        )
    )
