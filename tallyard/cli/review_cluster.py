"""What a cluster knows that a review wants: its work, and the spec that was deployed last."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from tallyard import labels
from tallyard.cli import session
from tallyard.cli.review_losses import Loss, affected
from tallyard.cli.review_verdict import Jobs
from tallyard.cli.revision import Revision, Side
from tallyard.cli.target import Target
from tallyard.cli.views.jobs import job_rows
from tallyard.cluster.client import Connection, connect
from tallyard.cluster.conditions import is_true
from tallyard.cluster.faults import ClusterError, Fault
from tallyard.cluster.jobs import Work, read_jobs
from tallyard.cluster.kinds import ConfigMap
from tallyard.cluster.scope import namespaces
from tallyard.controllers.spec_source import read_spec

DEPLOYED = "deployed"


@dataclass(frozen=True)
class Deployed:
    """The spec that the last `up` wrote into a cluster; `overlay` is its environment's file."""

    overlay: str
    side: Side


def affected_jobs(
    target: Target, losses: tuple[Loss, ...], overlay: str | None, now: datetime
) -> Jobs:
    """Ask a cluster which of its work something is taken from; say so where it cannot be asked.

    Args:
        target: Which cluster.
        losses: What is taken.
        overlay: The environment's file that the cluster must be of; None where it is known to
            be the right one.
        now: The present moment.
    """
    try:
        with connect(target.context, target.kubeconfig) as connection:
            other = _other_environment(connection, overlay) if overlay else ""
            if other:
                return not_asked(other)
            submitted = read_jobs(connection, namespaces(connection, None, everything=True))
            context = connection.context
    except ClusterError as error:
        parts = error.parts(session.lang(), ())
        return not_asked(f"{parts.what}: {parts.why}" if parts.why else parts.what)
    rows = job_rows(submitted, now, session.lang())
    # Not the server's address: a comment may be read by everybody.
    zh = session.lang() == "zh"
    where = (
        f"已查询 context {context} 的集群。"
        if zh
        else f"Asked of the cluster of context {context}."
    )
    holding = tuple(row for row, work in zip(rows, submitted.work, strict=True) if _holds(work))
    return Jobs(where, items=affected(losses, rows), holding=holding)


def _holds(work: Work) -> bool:
    """Return whether Kueue keeps quota for it: a queue cannot be deleted until it does not."""
    return any(
        is_true(each, "QuotaReserved") and not is_true(each, "Finished") for each in work.workloads
    )


def not_asked(why: str) -> Jobs:
    """Return the sentence that no cluster was asked."""
    if session.lang() == "zh":
        return Jobs(not_asked=f"未查询集群：{why}。")
    return Jobs(not_asked=f"No cluster was asked: {why.rstrip('.')}.")


def deployed(connection: Connection, now: datetime) -> Deployed | None:
    """Return the spec that the last `up` deployed; None where the cluster does not tell.

    Raises:
        ClusterError: The cluster cannot be asked.
    """
    try:
        config = connection.get(ConfigMap, labels.SPEC_CONFIG, labels.SYSTEM_NAMESPACE)
    except ClusterError as error:
        if error.fault in {Fault.NOT_FOUND, Fault.FORBIDDEN}:
            return None
        raise
    loaded = read_spec(config, now).loaded
    if loaded is None or loaded.platform is None:
        return None
    names = {file: Path(f"{DEPLOYED}:{file}") for file in loaded.files}
    return Deployed(_overlay_of(config), Side(Revision(DEPLOYED, DEPLOYED), loaded.renamed(names)))


def _other_environment(connection: Connection, overlay: str) -> str:
    """Return why this cluster is not the one that is reviewed; an empty text where it is.

    Who may not read the spec in it is believed.
    """
    try:
        found = _overlay_of(connection.get(ConfigMap, labels.SPEC_CONFIG, labels.SYSTEM_NAMESPACE))
    except ClusterError as error:
        if error.fault is Fault.FORBIDDEN:
            return ""
        if error.fault is not Fault.NOT_FOUND:
            raise
        zh = session.lang() == "zh"
        return (
            f"context {connection.context} 的集群中没有平台"
            if zh
            else f"the cluster of context {connection.context} has no platform"
        )
    if found in {overlay, ""}:
        return ""
    if session.lang() == "zh":
        return f"context {connection.context} 的集群属于 {found}，而不是 {overlay}"
    return f"the cluster of context {connection.context} is of {found} and not of {overlay}"


def _overlay_of(config: Mapping[str, Any]) -> str:
    return str((config["metadata"].get("annotations") or {}).get(labels.OVERLAY) or "")
