"""The rows of `tally queue`: the queues with their quotas, and who waits for what. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from tallyard import labels
from tallyard.cli.views.asks import Ask
from tallyard.cli.views.explainer import Explainer, cluster_queue_of
from tallyard.cli.views.free import Tree
from tallyard.cli.views.others import OtherModel
from tallyard.cli.views.quotas import Quota, models_of, quotas_of
from tallyard.cli.views.standing import turn_of, waits
from tallyard.cluster.conditions import Object, condition, created, is_true, owner
from tallyard.cluster.kueue import Queues


@dataclass(frozen=True)
class QueueRow:
    """One queue. `quotas` is empty where the caller may not read the quotas.

    `name` is what people write in their jobs, `cluster_queue` is Kueue's name for it;
    `project` is the project's id and `project_key` what people call it. One that is `held` by an
    administrator is not active either.
    """

    name: str
    project: str
    project_key: str
    cluster_queue: str
    active: bool
    held: bool
    quotas: tuple[Quota, ...]
    pending: int
    admitted: int


@dataclass(frozen=True)
class WaitingRow:
    """One workload that waits. `place` counts from 1 in its queue; None where it names none.

    `others` are the other models of its queue that it could have now.
    """

    place: int | None
    name: str
    project: str
    project_key: str
    user: str
    queue: str
    ask: Ask
    waited: timedelta
    reason: str
    others: tuple[OtherModel, ...] = ()


@dataclass(frozen=True)
class QueueView:
    """All of `tally queue`."""

    queues: tuple[QueueRow, ...]
    waiting: tuple[WaitingRow, ...]


def queue_view(queues: Queues, now: datetime, lang: str = "en") -> QueueView:
    """Return the rows.

    Args:
        queues: What was read.
        now: To say how long something has waited.
        lang: The language of the reasons.
    """
    models = models_of(queues.flavors)
    tree = Tree(queues.cluster_queues, queues.cohorts)
    rows = tuple(_row(queue, queues, models, tree) for queue in queues.local_queues)
    ordered = tuple(sorted(rows, key=lambda row: (row.project_key, row.name)))
    return QueueView(ordered, tuple(_waiting(queues, Explainer(queues, tree), now, lang)))


def _row(queue: Object, queues: Queues, models: Mapping[str, str], tree: Tree) -> QueueRow:
    project = project_of(queue)
    name = str(queue["spec"]["clusterQueue"])
    behind = queues.cluster_queues.get(name)
    status = queue.get("status") or {}
    return QueueRow(
        name=queue["metadata"]["name"],
        project=project,
        project_key=queues.project_key(project),
        cluster_queue=name,
        active=condition(queue, "Active") is None or is_true(queue, "Active"),
        held=bool(queues.stop_policy(name)),
        quotas=quotas_of(behind, models, tree) if behind is not None else (),
        pending=int(status.get("pendingWorkloads") or 0),
        admitted=int(status.get("admittedWorkloads") or 0),
    )


def _waiting(
    queues: Queues, explainer: Explainer, now: datetime, lang: str
) -> Iterator[WaitingRow]:
    lines: dict[tuple[str, str], list[Object]] = defaultdict(list)
    for workload in queues.workloads:
        if waits(workload):
            lines[project_of(workload), str(workload["spec"].get("queueName") or "")].append(
                workload
            )
    by_key = sorted(lines.items(), key=lambda line: (queues.project_key(line[0][0]), line[0]))
    for (project, queue), line in by_key:
        for place, workload in enumerate(sorted(line, key=turn_of), start=1):
            stands = cluster_queue_of(workload, queues.local_queues)
            yield WaitingRow(
                place=place if stands else None,
                name=job_name(workload),
                project=project,
                project_key=queues.project_key(project),
                user=user_of(workload),
                queue=queue,
                ask=explainer.ask(workload),
                waited=now - (created(workload) or now),
                reason=explainer.reason(workload, lang),
                others=explainer.others(workload),
            )


def project_of(item: Object) -> str:
    """Return the id of an object's project: its label, else its namespace, the same word."""
    own = item["metadata"].get("labels") or {}
    return str(own.get(labels.PROJECT) or item["metadata"].get("namespace") or "")


def user_of(item: Object) -> str:
    """Return the spec's name of the person who submitted an object; empty where it has none."""
    return str((item["metadata"].get("labels") or {}).get(labels.USER) or "")


def job_name(workload: Object) -> str:
    """Return the name that a person knows a workload by: that of its Job or pod."""
    owned_by = owner(workload)
    return owned_by[1] if owned_by else str(workload["metadata"]["name"])
