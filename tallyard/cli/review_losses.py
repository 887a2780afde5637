"""Whom a change takes something from, and which work in a cluster that concerns. Pure."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tallyard.cli import session
from tallyard.cli.views.jobs import JobRow
from tallyard.cli.views.spec_diff_facts import label, texts_of
from tallyard.cli.views.spec_diff_objects import Objects
from tallyard.cli.views.spec_diff_parts import ARROW, place
from tallyard.cli.views.standing import State
from tallyard.spec.changes.change import Change, Presence
from tallyard.spec.changes.facts import Fact
from tallyard.spec.changes.projects import ProjectChange
from tallyard.spec.changes.whole import Changes

_ALIVE = frozenset({State.WAITING, State.ADMITTED, State.RUNNING})


@dataclass(frozen=True)
class Loss:
    """What goes, in words, and of whom: None stands for all.

    Attributes:
        text: what goes, in the language of the run.
        project: the project's id.
        pool: the pool, which the queue is called by.
        model: the cards.
        user: the person.
        hosts: hosts that go; only what runs on them is concerned.
        is_of_waiting: only what waits is concerned, what runs goes on as it is.
    """

    text: str
    project: str | None = None
    pool: str | None = None
    model: str | None = None
    user: str | None = None
    hosts: frozenset[str] = field(default=frozenset())
    is_of_waiting: bool = False

    def concerns(self, row: JobRow) -> bool:
        """Return whether a piece of work that has not ended has to do with it."""
        if self.hosts and not self.hosts & set(row.nodes):
            return False
        if self.is_of_waiting and row.state is not State.WAITING:
            return False
        models = {ask.model for ask in row.asks}
        return (
            row.state in _ALIVE
            and self.project in {None, row.project}
            and self.pool in {None, row.queue}
            and self.user in {None, row.user}
            # Who has not said which cards may be given any.
            and (self.model is None or self.model in models or None in models)
        )


@dataclass(frozen=True)
class AffectedJob:
    """A piece of work with all that is taken from it."""

    row: JobRow
    losses: tuple[str, ...]


def affected(losses: Iterable[Loss], rows: Iterable[JobRow]) -> tuple[AffectedJob, ...]:
    """Return the work that something is taken from, in the order in which it was submitted."""
    known = tuple(losses)
    found = (
        (row, tuple(dict.fromkeys(loss.text for loss in known if loss.concerns(row))))
        for row in rows
    )
    return tuple(AffectedJob(row, texts) for row, texts in found if texts)


def losses(found: Changes, objects: Objects) -> tuple[Loss, ...]:
    """Return what a change takes away.

    Args:
        found: What differs in the spec.
        objects: What happens to objects that cannot simply be changed.
    """
    gone = {each.id for each in found.projects if each.presence is Presence.REMOVED}
    gone |= {each.id_before for each in found.projects if each.id_before}
    return (
        *_of_queues(objects, gone),
        *(loss for each in found.projects for loss in _of_project(each)),
        *_of_pools(found),
        *_of_hosts(found),
        *_of_flavors(objects),
    )


def _of_queues(objects: Objects, gone: set[str]) -> Iterator[Loss]:
    zh = session.lang() == "zh"
    for project in sorted(gone):
        yield Loss(
            "项目被删除：运行中的作业继续到结束，等待中的不会再被准入"
            if zh
            else "its project goes: what runs goes on to its end, what waits is never admitted",
            project,
        )
    for each in objects.removed:
        if each.kind == "LocalQueue" and each.namespace not in gone:
            yield Loss(
                f"队列 {each.name} 被删除：运行中的作业继续到结束，等待中的不会再被准入"
                if zh
                else f"queue {each.name} goes: what runs goes on to its end, what waits is never "
                "admitted",
                each.namespace,
                each.name,
            )
    for queue in objects.replaced:
        if queue.kind == "LocalQueue":
            yield Loss(
                f"队列 {queue.name} 被删除重建：在此期间它没有队列"
                if zh
                else f"queue {queue.name} is deleted and made again: in between it has none",
                queue.namespace,
                queue.name,
            )


def _of_project(project: ProjectChange) -> Iterator[Loss]:
    if project.presence is Presence.REMOVED:
        return
    for change in project.changes:
        of = dict(change.about)
        if change.fact is Fact.USER and change.after is None and not _moves(change):
            zh = session.lang() == "zh"
            text = f"用户 {of['user']} 被移除" if zh else f"user {of['user']} is taken out"
            yield Loss(text, project.id, user=of["user"])
        elif change.effect < 0 and change.fact is not Fact.USER:
            yield Loss(_said(change), project.id, of.get("pool"), of.get("model"), of.get("user"))


def _moves(change: Change) -> bool:
    return change.cause is not None


def _of_pools(found: Changes) -> Iterator[Loss]:
    for subject in found.everybody:
        for change in subject.changes:
            if subject.kind == "pool" and change.effect < 0:
                yield Loss(f"{subject.name}: {_said(change)}", pool=subject.name)


def _of_hosts(found: Changes) -> Iterator[Loss]:
    zh = session.lang() == "zh"
    for each in found.hosts:
        if each.left:
            where = place(each.pool, each.model)
            yield Loss(
                f"其主机离开 {where}：请先排空" if zh else f"its host leaves {where}: drain first",
                hosts=frozenset(each.left),
            )
        if each.hosts_after < each.hosts_before:
            number = f"{each.hosts_before} {ARROW} {each.hosts_after}"
            yield Loss(
                f"{place(each.pool, each.model)} 的主机 {number}"
                if zh
                else f"{place(each.pool, each.model)} has fewer hosts: {number}",
                pool=each.pool,
                model=each.model,
                is_of_waiting=True,
            )


def _of_flavors(objects: Objects) -> Iterator[Loss]:
    zh = session.lang() == "zh"
    for each in objects.flavors:
        where = place(each.pool, each.model)
        yield Loss(
            f"{where} 有了新 flavor：运行中的作业留在旧的上，新准入的用新的"
            if zh
            else f"{where} has a new flavor: what runs stays on the old, what is admitted gets "
            "the new",
            pool=each.pool,
            model=each.model,
        )


def _said(change: Change) -> str:
    before, after = texts_of(change)
    what = " ".join((label(change.fact), *(name for _, name in change.about)))
    return f"{what} {before} {ARROW} {after}"
