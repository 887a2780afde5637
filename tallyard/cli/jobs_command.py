"""`tally jobs`: what runs and waits; with a name, the life of one job."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

from cyclopts import Parameter

from tallyard.cli import documents, session
from tallyard.cli.errors import Complaint
from tallyard.cli.exit_codes import ExitCode
from tallyard.cli.output import Format, Output, emit, print_by_project, print_line, print_table
from tallyard.cli.target import Target
from tallyard.cli.views.durations import short
from tallyard.cli.views.explainer import Explainer
from tallyard.cli.views.jobs import JobRow, job_rows, one, pods_of
from tallyard.cli.words import word, words
from tallyard.cluster.faults import Parts
from tallyard.cluster.timeline import Step, timeline

# More nodes than these are counted, not named: the column stays readable.
_NODES_NAMED = 2


def jobs(
    name: Annotated[str | None, Parameter(help="Show this job's timeline and events.")] = None,
    /,
    *,
    target: Target | None = None,
    output: Output = Format.TABLE,
) -> None:
    """Show the jobs and services with their state, nodes and reason.

    TIME runs from the start of the first pod until the end of the job, or until now. While no
    pod has started it is how long the job has waited since it was submitted. It is empty once
    the pods are gone, which alone know when they ran. With a name, `waited` says why the job
    had to wait, for as long as the cluster keeps the event of it (an hour).
    """
    from tallyard.cluster.client import connect  # noqa: PLC0415
    from tallyard.cluster.jobs import read_events, read_jobs  # noqa: PLC0415
    from tallyard.cluster.scope import namespaces, of_platform  # noqa: PLC0415

    chosen, lang = target or Target(), session.lang()
    now = datetime.now(UTC)
    with connect(chosen.context, chosen.kubeconfig) as connection, of_platform(connection):
        scope = namespaces(connection, chosen.project, everything=chosen.all_projects)
        submitted = read_jobs(connection, scope)
        rows = job_rows(submitted, now, lang)
        if name is None:
            emit(output, documents.job_list(rows), lambda: _print_all(rows))
            return
        work = one(submitted, name)
        if work is None:
            raise _not_found(name, [row.name for row in rows], connection.where)
        events = read_events(connection, work)
    row = rows[submitted.work.index(work)]
    timelines = {w["metadata"]["name"]: timeline(w, pods_of(work, w)) for w in work.workloads}
    explainer = Explainer(submitted.queues)
    waited = {w["metadata"]["name"]: explainer.waited_for(w, events, lang) for w in work.workloads}
    waited_for = {name: why for name, why in waited.items() if why}
    content = documents.job(row, timelines, waited_for, events)
    emit(output, content, lambda: _print_one(row, timelines, waited_for, content["events"]))


def _print_all(rows: tuple[JobRow, ...]) -> None:
    if not rows:
        print_line(word("No jobs here."))
        return
    headings = words("JOB", "PROJECT", "USER", "QUEUE", "CARDS", "STATE", "NODE", "TIME", "REASON")
    print_by_project(
        headings,
        [
            (
                row.name,
                row.project_key,
                row.user,
                row.queue,
                row.cards(session.lang()),
                word(row.state),
                _nodes(row.nodes),
                short(row.time),
                row.reason,
            )
            for row in rows
        ],
        right=(7,),
        project=1,
    )


def _nodes(nodes: tuple[str, ...]) -> str:
    more = len(nodes) - _NODES_NAMED
    named = ", ".join(nodes[:_NODES_NAMED])
    return f"{named} +{more}" if more > 0 else named


def _print_one(
    row: JobRow,
    timelines: Mapping[str, tuple[Step, ...]],
    waited_for: Mapping[str, str],
    events: list[Mapping[str, Any]],
) -> None:
    _print_all((row,))
    for name, steps in timelines.items():
        print_line()
        if len(timelines) > 1:
            print_line(name)
        lines = [_step(step) for step in steps]
        why = waited_for.get(name, "")
        if why and why != row.reason:
            # Behind the first step: it was submitted, and then it waited.
            lines.insert(1, (word("waited"), "", "", why))
        print_table(words("STEP", "AT", "AFTER", "NOTE"), lines, right=(2,))
    if events:
        print_line()
        print_table(
            words("AT", "OBJECT", "EVENT", "MESSAGE"),
            [(_clock(e["at"]), e["object"], e["reason"], e["message"]) for e in events],
        )


def _step(step: Step) -> tuple[str, ...]:
    at, after = f"{step.at:%Y-%m-%d %H:%M:%S}", short(step.since_previous)
    return word(step.name), at, after, step.note


def _clock(text: str) -> str:
    return f"{datetime.fromisoformat(text):%Y-%m-%d %H:%M:%S}"


def _not_found(name: str, known: list[str], where: str) -> Complaint:
    from difflib import get_close_matches  # noqa: PLC0415

    near = get_close_matches(name, known, n=1)
    zh = session.lang() == "zh"
    if near:
        todo = f"您是否想说 {near[0]}?" if zh else f"did you mean {near[0]}?"
    else:
        todo = (
            "`tally jobs` 列出所有作业" if zh else "`tally jobs` lists them; -p names the project"
        )
    what = f"没有名为 {name} 的作业" if zh else f"there is no job {name}"
    why = (
        f"在可见范围内有 {len(known)} 个作业"
        if zh
        else f"{len(known)} jobs are there in this scope"
    )
    return Complaint(ExitCode.NOT_FOUND, Parts(where, what, why, todo))
