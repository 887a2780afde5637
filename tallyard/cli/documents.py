"""The documents that programs read: field by field from the rows. Pure.

A field here is a promise (`tests/cli/data/` holds one of each): add, but do not rename or
remove. Amounts are integers, times are seconds or RFC 3339, states are English words.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from tallyard.cli.output import document
from tallyard.cli.views.asks import Ask
from tallyard.cli.views.jobs import JobRow
from tallyard.cli.views.others import OtherModel
from tallyard.cli.views.queue import QueueRow, QueueView, WaitingRow
from tallyard.cli.views.quotas import Quota
from tallyard.cluster.conditions import Object, last_seen
from tallyard.cluster.timeline import Step

if TYPE_CHECKING:
    # With the rules of hosts come the templates, for which `tally queue` has no time.
    from tallyard.cli.views.ledger import TailRow
    from tallyard.cli.views.nodes import HostRow
    from tallyard.ledger.store.backup import Head
    from tallyard.ledger.store.verifying import Verdict


def queue_list(view: QueueView) -> Mapping[str, Any]:
    """Return the document of `tally queue`."""
    return document(
        "QueueList",
        {
            "items": [_queue(row) for row in view.queues],
            "waiting": [_waiting(row) for row in view.waiting],
        },
    )


def job_list(rows: Iterable[JobRow]) -> Mapping[str, Any]:
    """Return the document of `tally jobs`."""
    return document("JobList", {"items": [_job(row) for row in rows]})


def host_list(rows: Iterable[HostRow]) -> Mapping[str, Any]:
    """Return the document of `tally node check`."""
    items = [
        {
            "name": row.name,
            "pool": row.pool or None,
            "model": row.model or None,
            "state": row.state.value,
            "open": row.is_open,
            "reason": row.reason,
        }
        for row in rows
    ]
    return document("HostList", {"items": items})


def ledger_verdict(verdict: Verdict) -> Mapping[str, Any]:
    """Return the document of `tally ledger verify`."""
    return document(
        "LedgerVerdict",
        {
            "transactions": verdict.transactions,
            "entries": verdict.entries,
            "lots": verdict.lots,
            "freezes": verdict.freezes,
            "digest": verdict.digest,
            "faults": list(verdict.faults),
        },
    )


def ledger_tail(rows: Iterable[TailRow]) -> Mapping[str, Any]:
    """Return the document of `tally ledger tail`; amounts are thousandths of a core-second."""
    return document("LedgerTail", {"items": [ledger_transaction(row) for row in rows]})


def ledger_since(head: Head, rows: Collection[TailRow]) -> Mapping[str, Any]:
    """Return the document of `tally ledger since`: the backup's end, and what came after it."""
    return document(
        "LedgerSince",
        {
            "backupSeq": head.seq,
            "backupDigest": head.digest,
            "count": len(rows),
            "items": [ledger_transaction(row) for row in rows],
        },
    )


def job(
    row: JobRow,
    timelines: Mapping[str, tuple[Step, ...]],
    waited_for: Mapping[str, str],
    events: Iterable[Object],
) -> Mapping[str, Any]:
    """Return the document of `tally jobs NAME`.

    Args:
        row: The job.
        timelines: By the workload's name.
        waited_for: Why a workload had to wait, by its name; none that did not.
        events: Of the job, its workloads and pods.
    """
    return document(
        "Job",
        {
            **_job(row),
            "timelines": [
                {
                    "workload": name,
                    "waitedFor": waited_for.get(name),
                    "steps": [_step(step) for step in steps],
                }
                for name, steps in timelines.items()
            ],
            "events": [_event(event) for event in sorted(events, key=last_seen)],
        },
    )


def ledger_transaction(row: TailRow) -> Mapping[str, Any]:
    """Return one transaction; its amount is in thousandths of a core-second."""
    return {
        "seq": row.seq,
        "at": row.at,
        "command": row.command,
        "account": row.account,
        "subject": row.subject,
        "amount": row.amount,
        "unit": "core-second/1000",
        "key": row.key,
        "by": row.by or None,
        "reason": row.reason or None,
    }


def _queue(row: QueueRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "project": row.project,
        "projectKey": row.project_key,
        "clusterQueue": row.cluster_queue,
        "active": row.active,
        "pending": row.pending,
        "admitted": row.admitted,
        "quotas": [_quota(quota) for quota in row.quotas],
    }


def _quota(quota: Quota) -> dict[str, Any]:
    return {
        "model": quota.model,
        "flavor": quota.flavor,
        "resource": quota.resource,
        "unit": "milliCPU" if quota.is_cpu else "card",
        "nominal": quota.nominal,
        "used": quota.used,
        "borrowed": quota.borrowed,
        "borrowMax": quota.borrow_max,
        "free": quota.free,
    }


def _waiting(row: WaitingRow) -> dict[str, Any]:
    return {
        "place": row.place,
        "name": row.name,
        "project": row.project,
        "projectKey": row.project_key,
        "user": row.user,
        "queue": row.queue,
        "asks": _ask(row.ask),
        "waitedSeconds": int(row.waited.total_seconds()),
        "reason": row.reason,
        "otherModels": [_other_model(other) for other in row.others],
    }


def _ask(ask: Ask) -> dict[str, Any]:
    return {
        "cards": ask.cards,
        "model": ask.model,
        "resource": ask.resource,
        "milliCPU": ask.cpu_millis,
    }


def _other_model(other: OtherModel) -> dict[str, Any]:
    return {
        "model": other.model,
        "free": other.free,
        "rateMilliCoreHours": other.rate_milli,
        "askedRateMilliCoreHours": other.asked_rate_milli,
    }


def _job(row: JobRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "type": row.kind,
        "project": row.project,
        "projectKey": row.project_key,
        "user": row.user,
        "queue": row.queue,
        "asks": [_ask(ask) for ask in row.asks],
        "state": row.state.value,
        "nodes": list(row.nodes),
        "seconds": None if row.time is None else int(row.time.total_seconds()),
        "reason": row.reason,
        "otherModels": [_other_model(other) for other in row.others],
    }


def _step(step: Step) -> dict[str, Any]:
    since = step.since_previous
    return {
        "name": step.name,
        "at": _time(step.at),
        "secondsSincePrevious": None if since is None else int(since.total_seconds()),
        "note": step.note,
    }


def _event(event: Object) -> dict[str, Any]:
    about = event["involvedObject"]
    return {
        "at": _time(last_seen(event)),
        "object": f"{about.get('kind')}/{about.get('name')}",
        "type": event.get("type", ""),
        "reason": event.get("reason", ""),
        "message": event.get("message", ""),
        "count": int(event.get("count") or (event.get("series") or {}).get("count") or 1),
    }


def _time(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
