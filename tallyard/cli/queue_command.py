"""`tally queue`: the queues with their quotas, and who waits for what."""

from __future__ import annotations

from datetime import UTC, datetime

from tallyard.cli import documents, session
from tallyard.cli.output import Format, Output, emit, print_by_project, print_line
from tallyard.cli.target import Target
from tallyard.cli.views.durations import short
from tallyard.cli.views.queue import QueueRow, QueueView, queue_view
from tallyard.cli.views.quotas import Quota
from tallyard.cli.words import word, words


def queue(*, target: Target | None = None, output: Output = Format.TABLE) -> None:
    """Show the queues with their quotas, and the waiting jobs with the reason.

    Cards count as used from the reservation on. BORROWED is how many of them belong to
    others, of how many the queue may borrow of that model beyond its quota. FREE is what the
    queue could be given now: what is left of its own quota, and what the others of its cohort
    do not use, up to that limit. Cards that could be taken back from others are not in it, nor
    does it say that one host has so many. It is "?" where you may not read the cohorts.
    """
    from tallyard.cluster.client import connect  # noqa: PLC0415
    from tallyard.cluster.kueue import read_queues  # noqa: PLC0415
    from tallyard.cluster.scope import namespaces, of_platform  # noqa: PLC0415

    chosen = target or Target()
    with connect(chosen.context, chosen.kubeconfig) as connection, of_platform(connection):
        scope = namespaces(connection, chosen.project, everything=chosen.all_projects)
        queues = read_queues(connection, scope)
    view = queue_view(queues, datetime.now(UTC), session.lang())
    emit(output, documents.queue_list(view), lambda: _print(view))


def print_queues(view: QueueView) -> None:
    """Print the queues with their quotas."""
    if not view.queues:
        print_line(word("No queues here."))
        return
    print_by_project(
        words("PROJECT", "QUEUE", "MODEL", "USED/QUOTA", "BORROWED", "FREE", "PENDING", "ADMITTED"),
        [line for row in view.queues for line in _queue_lines(row)],
        right=(3, 5, 6, 7),
        project=0,
    )


def _print(view: QueueView) -> None:
    print_queues(view)
    print_line()
    if not view.waiting:
        print_line(word("Nobody waits."))
        return
    print_line(word("Waiting:"))
    print_by_project(
        words("PLACE", "PROJECT", "QUEUE", "JOB", "USER", "ASKS", "WAITED", "REASON"),
        [
            (
                "-" if row.place is None else str(row.place),
                row.project_key,
                row.queue,
                row.name,
                row.user,
                row.ask.text(session.lang()),
                short(row.waited),
                row.reason,
            )
            for row in view.waiting
        ],
        right=(0, 6),
        project=1,
    )


def _queue_lines(row: QueueRow) -> list[tuple[str, ...]]:
    state = "on hold" if row.held else "" if row.active else "inactive"
    name = f"{row.name} ({word(state)})" if state else row.name
    counts = (str(row.pending), str(row.admitted))
    if not row.quotas:
        return [(row.project_key, name, "?", "?", "", "?", *counts)]
    first, *others = row.quotas
    return [
        (row.project_key, name, *_figures(first), *counts),
        *(("", "", *_figures(quota), "", "") for quota in others),
    ]


def _figures(quota: Quota) -> tuple[str, ...]:
    free = "?" if quota.free is None else quota.amount(quota.free)
    return quota.thing(session.lang()), _used(quota), _borrowed(quota), free


def _used(quota: Quota) -> str:
    unit = " vCPU" if quota.is_cpu else ""
    # A queue that only borrows has no quota of its own, which is not a quota of nothing.
    borrows_only = not quota.nominal and quota.borrow_max != 0
    of = "-" if borrows_only else quota.amount(quota.nominal)
    return f"{quota.amount(quota.used)}/{of}{unit}"


def _borrowed(quota: Quota) -> str:
    if quota.borrow_max is None:
        return f"{quota.amount(quota.borrowed)} ({word('no limit')})"
    return f"{quota.amount(quota.borrowed)}/{quota.amount(quota.borrow_max)}"
