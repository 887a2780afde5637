"""The document `Review`, for programs.

`refused`, `told` and `waived` count the findings; `fails` says whether Pulumi's preview failed, or
`pulumi up` would at what is protected. Of a finding `status` is `refused`, `told` or
`waived`; `object` is what it is about and `path` the key that it comes from, both null where
there is none; `file`, `line` and `column` say where that stands. `pack` is what Pulumi's policy
pack found beside these. In `plan`, `source` is `pulumi` or `objects` (what follows from the spec
alone), `errors` are Pulumi's, and each of `changes` has its `deed`: `refused`, `replaced`,
`deleted`, `changed`, `created`, `kept`, and of what is changed the `fields` that Pulumi says differ,
with texts `before` and `after` (shortened, null where there is none, never a secret). `versions` are the pins that differ. `jobs.notAsked` is null or says why no cluster was asked.
Its `items` are those of a `JobList`, each with its `losses` in words. `waitsFor` are the
queues that go away while work holds their quota, with those `jobs`: `pulumi up` waits for them, and
fails after a time. `diff` is the document `SpecDiff` of both sides.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from typing import Any

from tallyard.cli import session
from tallyard.cli.documents import job_list
from tallyard.cli.output import document
from tallyard.cli.review_losses import AffectedJob
from tallyard.cli.review_queues import GoingQueue
from tallyard.cli.review_verdict import PackFinding, Review, ToldFinding
from tallyard.cli.review_versions import PinText, VersionChange
from tallyard.cli.views.jobs import JobRow
from tallyard.spec.waiver import Waiver


def review_document(
    review: Review,
    diff: Mapping[str, Any],
    busy: tuple[tuple[GoingQueue, tuple[JobRow, ...]], ...],
) -> Mapping[str, Any]:
    """Return the document.

    Args:
        review: What was found.
        diff: What differs in the spec.
        busy: The queues that go while work holds their quota, with that work.
    """
    return document(
        "Review",
        {
            "refused": review.refused,
            "told": review.told,
            "waived": len(review.waived),
            "fails": review.fails,
            "findings": [_finding(each) for each in review.findings],
            "pack": [_pack(each) for each in review.pack],
            "plan": {
                "source": review.plan.source.value,
                "errors": list(review.plan.errors),
                "warnings": list(review.plan.warnings),
                "changes": [
                    {
                        "deed": each.deed.value,
                        "kind": each.kind,
                        "namespace": each.namespace,
                        "name": each.name,
                        "fields": [
                            {"field": f.field, "before": f.before, "after": f.after}
                            for f in each.fields
                        ],
                    }
                    for each in review.plan.changes
                ],
            },
            "versions": [_version(each) for each in review.versions],
            "jobs": {
                "notAsked": review.jobs.not_asked or None,
                "items": _jobs(review.jobs.items),
            },
            "waitsFor": [
                {"queue": queue.name, "jobs": list(job_list(rows)["items"])} for queue, rows in busy
            ],
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
        "object": subject,
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


def _version(change: VersionChange) -> dict[str, Any]:
    return {"pin": change.pin, "before": _pin(change.before), "after": _pin(change.after)}


def _pin(pin: PinText | None) -> dict[str, Any] | None:
    if pin is None:
        return None
    return {
        "version": pin.version,
        "source": pin.source or None,
        "digest": pin.digest or None,
    }


def _jobs(items: tuple[AffectedJob, ...]) -> list[dict[str, Any]]:
    """Return the work as `tally jobs` has it, with what is taken from each."""
    rows = job_list(tuple(each.row for each in items))["items"]
    return [{**row, "losses": list(each.losses)} for row, each in zip(rows, items, strict=True)]
