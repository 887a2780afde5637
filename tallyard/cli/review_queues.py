"""Queues that go away while work holds their quota: `pulumi up` waits for them, and fails. Pure."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tallyard.cli import session
from tallyard.cli.review_verdict import Jobs
from tallyard.cli.views.jobs import JobRow
from tallyard.cli.views.spec_diff_objects import Objects
from tallyard.cli.views.spec_diff_parts import joined
from tallyard.render.fates import Fate
from tallyard.render.manifest import Manifest

# Pulumi's Kubernetes provider waits so long for a deletion where a program says nothing else,
# and ours does not. Kueue keeps a ClusterQueue until nothing holds its quota.
DELETION_MINUTES_MAX = 10
JOBS_NAMED_MAX = 5


@dataclass(frozen=True)
class GoingQueue:
    """A ClusterQueue that is deleted, and the queues of namespaces that lead to it.

    Attributes:
        name: its name.
        places: the namespace and the name of each LocalQueue.
    """

    name: str
    places: frozenset[tuple[str, str]]

    def holds(self, row: JobRow) -> bool:
        """Return whether work stands in it."""
        return (row.project, row.queue) in self.places


def going_queues(objects: Objects, before: Iterable[Manifest]) -> tuple[GoingQueue, ...]:
    """Return the ClusterQueues that are deleted, also those that are made again.

    Args:
        objects: What happens to objects that cannot simply be changed.
        before: The objects before.
    """
    places: dict[str, set[tuple[str, str]]] = {}
    for each in before:
        if each.kind == "LocalQueue":
            leads_to = str(each.object["spec"]["clusterQueue"])
            places.setdefault(leads_to, set()).add((each.namespace or "", each.name))
    names = [
        *(e.name for e in objects.removed if e.kind == _KIND and e.fate is Fate.DELETED),
        *(e.name for e in objects.replaced if e.kind == _KIND),
    ]
    return tuple(GoingQueue(name, frozenset(places.get(name, ()))) for name in names)


def notices(queues: Iterable[GoingQueue], jobs: Jobs) -> tuple[str, ...]:
    """Return what has to be done before `pulumi up`; nothing where the queues are empty."""
    going = tuple(queues)
    if jobs.not_asked:
        return (_not_asked(going),) if going else ()
    return tuple(_busy(queue, rows) for queue, rows in holders(going, jobs))


def holders(
    queues: Iterable[GoingQueue], jobs: Jobs
) -> Iterator[tuple[GoingQueue, tuple[JobRow, ...]]]:
    """Yield each queue in which work holds quota, with that work."""
    for queue in queues:
        rows = tuple(filter(queue.holds, jobs.holding))
        if rows:
            yield queue, rows


def _busy(queue: GoingQueue, rows: tuple[JobRow, ...]) -> str:
    named = [_ended(each) for each in rows[:JOBS_NAMED_MAX]]
    rest = len(rows) - len(named)
    listed = f"`tally jobs -p {rows[0].project}`"
    if session.lang() == "zh":
        more = f"等另外 {rest} 个（{listed}）" if rest else ""
        return (
            f"`pulumi up` 最多等待 {DELETION_MINUTES_MAX} 分钟，直到队列 {queue.name} 清空，"
            f"之后失败：请先结束 {joined(named)}{more}，或等待其结束"
        )
    more = f" and {rest} more ({listed})" if rest else ""
    it = "it" if len(rows) == 1 else "them"
    return (
        f"`pulumi up` waits at most {DELETION_MINUTES_MAX} minutes for queue {queue.name} to be "
        f"empty and then fails: end {joined(named)}{more} first, or wait for {it}"
    )


def _ended(row: JobRow) -> str:
    """Return a job with the command that ends it."""
    command = f"`kubectl delete {row.kind.lower()} -n {row.project} {row.name}`"
    return f"{row.name}（{command}）" if session.lang() == "zh" else f"{row.name} ({command})"


def _not_asked(queues: tuple[GoingQueue, ...]) -> str:
    names = joined(each.name for each in queues)
    if session.lang() == "zh":
        return (
            f"如果队列 {names} 中仍有作业在运行，`pulumi up` 最多等待 {DELETION_MINUTES_MAX} 分钟，"
            "之后失败：请先结束它们，或等待其结束（`tally jobs` 可列出）"
        )
    noun, it = ("queue", "it") if len(queues) == 1 else ("queues", "one of them")
    return (
        f"if anything runs in {noun} {names}, `pulumi up` waits at most {DELETION_MINUTES_MAX} "
        f"minutes for {it} to be empty and then fails: end it first, or wait for it "
        "(`tally jobs` shows it)"
    )


_KIND = "ClusterQueue"
