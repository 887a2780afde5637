"""What `tally lab up` prints at its end: the hosts, the queues, the examples' lives, what next."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rich.cells import set_cell_size

from tallyard.cli import session
from tallyard.cli.output import print_line, print_table
from tallyard.cli.queue_command import print_queues
from tallyard.cli.views.durations import short
from tallyard.cli.views.explainer import Explainer
from tallyard.cli.views.jobs import pods_of
from tallyard.cli.views.queue import job_name, queue_view
from tallyard.cli.words import word, words
from tallyard.cluster.client import ALL_NAMESPACES, connect
from tallyard.cluster.conditions import Object, moment
from tallyard.cluster.jobs import submitted_at
from tallyard.cluster.kueue import read_queues
from tallyard.cluster.timeline import Step, timeline

if TYPE_CHECKING:
    from lab.folder import LabFolder
    from lab.status import LabStatus
    from lab.walkthrough import Story
    from tallyard.cluster.kueue import Queues
    from tallyard.spec.model import Platform

_MIB = 2**20
# The example that finds its queue full, see `lab/jobs/`.
_WAITS = "train-waits"
# The longest name of a step, in cells: Chinese letters take two.
_NAME_WIDTH = 9


def show(
    platform: Platform,
    folder: LabFolder,
    status: LabStatus,
    stories: tuple[Story, ...],
    begun: datetime,
) -> None:
    """Print the summary of a lab that is up.

    Args:
        platform: What it was made from.
        folder: The lab's.
        status: How it does.
        stories: Those of the examples; only the ones submitted since `begun` are told at length.
        begun: When this `up` began.
    """
    _hosts(platform)
    with connect(path=str(folder.operator)) as connection:
        queues = read_queues(connection, (ALL_NAMESPACES,))
    view = queue_view(queues, datetime.now(UTC), session.lang())
    print_line()
    print_queues(view)
    # The API's times have whole seconds.
    new = [s for s in stories if (_submitted(s) or begun) >= begun.replace(microsecond=0)]
    for story in new:
        _story(story)
    if earlier := [at for s in stories if s not in new and (at := _submitted(s))]:
        _earlier(max(earlier), is_all=not new)
    print_line()
    _next(folder, status, has_waited=any(story.work.name == _WAITS for story in stories))


def why_it_waits(message: str, workload: Object, queues: Queues) -> str:
    """Return in a person's words why an example waits, from what Kueue says of it."""
    return Explainer(queues).explain(message, workload, session.lang())


def _hosts(platform: Platform) -> None:
    hosts: Counter[tuple[str, str]] = Counter()
    cards: Counter[tuple[str, str]] = Counter()
    for node in platform.nodes:
        key = (node.pool, node.model or "cpu")
        hosts[key] += 1
        cards[key] += node.cards
    print_table(
        words("POOL", "MODEL", "HOSTS", "CARDS"),
        [(pool, model, str(n), str(cards[pool, model])) for (pool, model), n in hosts.items()],
        right=(2, 3),
    )


def _submitted(story: Story) -> datetime | None:
    return moment(submitted_at(story.work))


def _earlier(at: datetime, *, is_all: bool) -> None:
    """Say that examples were there already, the last of them since `at`."""
    when = f"{at:%Y-%m-%d %H:%M:%S} UTC"
    print_line()
    if session.lang() == "zh":
        which = "示例作业" if is_all else "其余示例作业"
        print_line(f"{which}此前已于 {when} 提交，未再提交；`tally jobs` 可查看。")
    else:
        which = "The examples were" if is_all else "The other examples were"
        print_line(f"{which} submitted before, at {when}, and not again; `tally jobs` shows them.")


def _story(story: Story) -> None:
    work = story.work
    print_line()
    print_line(f"{story.example} ({work.kind} {work.name})")
    for workload in work.workloads:
        if len(work.workloads) > 1:
            print_line(f"  {job_name(workload)}")
        steps = timeline(workload, pods_of(work, workload))
        for step in steps:
            _step(step)
            if step is steps[0] and story.waited_for:
                print_line(f"  {word('waited')}: {story.waited_for}")


def _step(step: Step) -> None:
    after = f"+{short(step.since_previous)}" if step.since_previous is not None else ""
    name = set_cell_size(word(step.name), _NAME_WIDTH)
    print_line(f"  {step.at:%H:%M:%S} {after:>6}  {name}  {step.note}".rstrip())


def _next(folder: LabFolder, status: LabStatus, *, has_waited: bool) -> None:
    zh = session.lang() == "zh"
    print_line(
        f"实验环境 {status.name}：{status.server}，{status.memory_bytes // _MIB} MiB。接下来："
        if zh
        else f"The lab {status.name} is up at {status.server}, {status.memory_bytes // _MIB} MiB. Next:"
    )
    commands = (
        (
            f". {_short(folder.environment)}",
            "use the lab in this shell, as its operator",
            "在本终端中以运维者身份使用",
        ),
        *(
            [
                (
                    f"tally jobs {_WAITS}",
                    "the life of the job that had to wait",
                    "查看排队作业的全过程",
                )
            ]
            if has_waited
            else []
        ),
        ("tally lab preview", "what a change of the spec would do", "查看改动规格会带来什么"),
    )
    for command, en, text in commands:
        print_line(f"  {command:<24}  # {text if zh else en}")


def _short(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
