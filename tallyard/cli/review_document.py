"""The document `Review`, for programs.

`refused`, `told` and `waived` count the findings. Of a finding `status` is `refused`, `told` or
`waived`; `object` is what it is about and `path` the key that it comes from, both null where
there is none; `file`, `line` and `column` say where that stands. `pack` is what Pulumi's policy
pack found beside these. In `plan`, `source` is `pulumi` or `objects` (what follows from the spec
alone), `errors` are Pulumi's, and each of `changes` has its `deed`: `refused`, `replaced`,
`deleted`, `changed`, `created`, `kept`. `jobs.notAsked` is null or says why no cluster was asked.
Its `items` are those of a `JobList`, each with its `losses` in words. `diff` is the document `SpecDiff` of both sides.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from typing import Any

from tallyard.cli import session
from tallyard.cli.documents import job_list
from tallyard.cli.output import document
from tallyard.cli.review_losses import AffectedJob
from tallyard.cli.review_verdict import PackFinding, Review, ToldFinding
from tallyard.spec.waiver import Waiver


def review_document(review: Review, diff: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the document."""
    return document(
        "Review",
        {
            "refused": review.refused,
            "told": review.told,
            "waived": len(review.waived),
            "findings": [_finding(each) for each in review.findings],
            "pack": [_pack(each) for each in review.pack],
            "plan": {
                "source": review.plan.source.value,
                "errors": list(review.plan.errors),
                "changes": [
                    {
                        "deed": each.deed.value,
                        "kind": each.kind,
                        "namespace": each.namespace,
                        "name": each.name,
                    }
                    for each in review.plan.changes
                ],
            },
            "jobs": {
                "notAsked": review.jobs.not_asked or None,
                "items": _jobs(review.jobs.items),
            },
            "diff": diff,
        },
    )


def _finding(told: ToldFinding) -> dict[str, Any]:
    finding, at = told.finding, told.location
    status = "waived" if told.waiver else "refused" if told.is_refused else "told"
    subject = {
        "kind": finding.kind,
        "namespace": finding.namespace,
        "name": finding.object_name,
    }
    return {
        "rule": finding.name,
        "status": status,
        "object": subject if finding.kind else None,
        "path": finding.path or None,
        "file": at.file.as_posix() if at else None,
        "line": at.line if at else None,
        "column": at.column if at else None,
        "message": finding.sentence(session.lang()),
        "because": finding.rule.because[session.lang() == "zh"],
        "incident": finding.rule.incident or None,
        "waiver": _waiver(told.waiver) if told.waiver else None,
    }


def _waiver(waiver: Waiver) -> dict[str, Any]:
    until = waiver.until.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"reason": waiver.reason, "until": until}


def _pack(found: PackFinding) -> dict[str, Any]:
    return {
        "rule": found.rule,
        "status": "refused" if found.is_mandatory else "told",
        "urn": found.urn or None,
        "message": found.message,
    }


def _jobs(items: tuple[AffectedJob, ...]) -> list[dict[str, Any]]:
    """Return the work as `tally jobs` has it, with what is taken from each."""
    rows = job_list(tuple(each.row for each in items))["items"]
    return [{**row, "losses": list(each.losses)} for row, each in zip(rows, items, strict=True)]
