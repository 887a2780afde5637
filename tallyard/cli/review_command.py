"""`tally review`: whether a change of the spec may pass, and what it does to whom."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from tallyard.cli import session
from tallyard.cli.diff_command import After, Before, stack_file
from tallyard.cli.errors import Complaint
from tallyard.cli.exit_codes import ExitCode
from tallyard.cli.problems import ErrorForm
from tallyard.cli.stack import Stack
from tallyard.cli.target import Context, Kubeconfig
from tallyard.cluster.faults import Parts

if TYPE_CHECKING:
    from tallyard.cli.problems import ErrorFormat
    from tallyard.cli.review_plan import Plan
    from tallyard.cli.review_verdict import PackFinding


class ReviewFormat(StrEnum):
    """How a review is printed."""

    TABLE = "table"
    MARKDOWN = "markdown"
    SARIF = "sarif"
    JSON = "json"


ReviewOutput = Annotated[
    ReviewFormat,
    Parameter(
        name=["--output", "-o"],
        help="How to print: table, markdown (for a pull request), sarif (for code scanning) or "
        "json. What each rule means: docs/review/rules.md.",
    ),
]


@Parameter(name="*")
@dataclass(frozen=True)
class Asked:
    """Which cluster is asked for its work.

    Attributes:
        cluster: whether one is asked at all.
        context: The kubeconfig's context; without it, its current one.
        kubeconfig: The kubeconfig; without it, KUBECONFIG or ~/.kube/config.
    """

    cluster: Annotated[
        bool,
        Parameter(
            name="--cluster", negative="--no-cluster", help="Ask the cluster whom it affects now."
        ),
    ] = True
    context: Context = None
    kubeconfig: Kubeconfig = None


def review(
    rev1: Before = "HEAD",
    rev2: After = None,
    /,
    *,
    stack: Stack | None = None,
    output: ReviewOutput = ReviewFormat.TABLE,
    plan: Annotated[
        str | None,
        Parameter(
            allow_leading_hyphen=True,
            help="A file with the output of `pulumi preview --json`, - for standard input.",
        ),
    ] = None,
    events: Annotated[
        Path | None,
        Parameter(
            help="The file of `pulumi preview --event-log`: what the policy pack says is only there.",
        ),
    ] = None,
    asked: Asked | None = None,
    error_format: ErrorForm = None,
) -> int:
    """Show whether a change of the spec may pass, what it does, and whom it concerns now.

    The rules of the policy pack are asked without Pulumi. After what they refuse or tell come
    what `pulumi up` would do, the queued and running jobs that the change takes something from,
    and what each project gains or loses. The exit code is 5 where a rule refuses that no waiver
    in the spec covers, else 1 where Pulumi's preview failed or `pulumi up` would refuse an object
    that is protected. Nothing is checked out or written.
    """
    from tallyard.cli.review_refused import show_complaint  # noqa: PLC0415

    path = stack_file(stack)
    try:
        return _review(
            path, (rev1, rev2), (plan, events), asked or Asked(), output, form=error_format
        )
    except Complaint as complaint:
        show_complaint(complaint, path, output)
        raise


def _review(
    path: Path,
    names: tuple[str, str | None],
    files: tuple[str | None, Path | None],
    asked: Asked,
    output: ReviewFormat,
    *,
    form: ErrorFormat | None,
) -> int:
    from tallyard.cli.review_cluster import affected_jobs, not_asked  # noqa: PLC0415
    from tallyard.cli.review_refused import readable_sides  # noqa: PLC0415
    from tallyard.cli.review_steps import begin, finish  # noqa: PLC0415
    from tallyard.cli.revision import repository  # noqa: PLC0415
    from tallyard.cli.target import Target  # noqa: PLC0415

    repo, now = repository(path), datetime.now(UTC)
    # Before Pulumi's words: of a spec that is wrong it has no plan, and that says why.
    sides = readable_sides(repo, path, names, now, form=form, output=output)
    given, pack = _of_pulumi(*files, path)
    begun = begin(repo, path, sides, now)
    if asked.cluster:
        target = Target(context=asked.context, kubeconfig=asked.kubeconfig)
        jobs = affected_jobs(target, begun.losses, path.name, now)
    else:
        jobs = not_asked("--no-cluster" if session.lang() == "zh" else "--no-cluster says so")
    return finish(begun, given, jobs, output, pack=pack)


def _of_pulumi(
    plan: str | None, events: Path | None, path: Path
) -> tuple[Plan | None, tuple[PackFinding, ...]]:
    """Return what Pulumi said, as far as it was asked."""
    from tallyard.cli.review_plan import without_last_words  # noqa: PLC0415

    given = read_plan(plan, path) if plan is not None else None
    broke_off = given is not None and bool(given.errors)
    pack = read_events(events, may_be_empty=broke_off) if events is not None else ()
    if given is not None and any(each.is_mandatory for each in pack):
        given = without_last_words(given)
    return given, pack


def read_plan(name: str, overlay: Path) -> Plan:
    """Read what `pulumi preview --json` has written.

    Args:
        name: A file, or `-` for standard input.
        overlay: The environment's file, which the plan must be of.

    Raises:
        Complaint: It cannot be read, is something else, or is of another environment.
    """
    from tallyard.cli.review_plan import PlanError, plan_of_preview  # noqa: PLC0415

    try:
        text = sys.stdin.read() if name == "-" else Path(name).read_text("utf-8")
    except OSError as error:
        raise _no_plan(name, "unreadable", detail=error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise _no_plan(name, "other") from error
    try:
        found = plan_of_preview(json.loads(text))
    except (PlanError, ValueError) as error:
        raise _no_plan(name, "other") from error
    # A lab is told its environment otherwise than by the stack's file.
    if found.overlay not in {"", overlay.name} and not found.is_lab:
        raise _no_plan(name, "elsewhere", detail=found.overlay, wanted=overlay.name)
    return found


def read_events(file: Path, *, may_be_empty: bool = False) -> tuple[PackFinding, ...]:
    """Read what the policy pack found out of Pulumi's log of events.

    Args:
        file: The log.
        may_be_empty: Whether Pulumi may have failed before the first event.

    Raises:
        Complaint: It cannot be read, or no line of it is an event: then nobody knows what the
            pack found.
    """
    from tallyard.cli.review_pack import is_event, pack_finding  # noqa: PLC0415

    found = []
    try:
        with file.open("rb") as log:
            is_log = may_be_empty and file.stat().st_size == 0
            for line in log:
                is_log = is_log or is_event(line)
                if each := pack_finding(line):
                    found.append(each)
    except OSError as error:
        raise _no_plan(str(file), "no-events", detail=error.strerror or str(error)) from error
    if not is_log:
        raise _no_plan(str(file), "other-events")
    return tuple(dict.fromkeys(found))


def _no_plan(name: str, case: str, **values: str) -> Complaint:
    what, why, todo = (text.format(**values) for text in _TEXTS[session.lang()][case])
    where = "stdin" if name == "-" else name
    return Complaint(ExitCode.USAGE, Parts(where, what, why, todo))


_TEXTS = {
    "en": {
        "unreadable": (
            "the plan cannot be read",
            "{detail}",
            "write it by `pulumi preview --json > FILE`",
        ),
        "no-events": (
            "Pulumi's log of events cannot be read",
            "{detail}",
            "write it by `PULUMI_DEBUG_COMMANDS=true pulumi preview --event-log FILE`",
        ),
        "other-events": (
            "this is no log of Pulumi's events",
            "no line of it is an event, so what the policy pack found is not known",
            "write it by `PULUMI_DEBUG_COMMANDS=true pulumi preview --event-log FILE`",
        ),
        "other": (
            "this is no plan of Pulumi",
            "it is not what `pulumi preview --json` prints",
            "write it by `pulumi preview --json > FILE`, without what it prints to stderr",
        ),
        "elsewhere": (
            "the plan is of another environment",
            "its stack has tallyard:overlay {detail}, and {wanted} is reviewed",
            "preview the stack of {wanted}, or name the other environment with -s",
        ),
    },
    "zh": {
        "unreadable": ("无法读取计划", "{detail}", "用 `pulumi preview --json > FILE` 生成"),
        "no-events": (
            "无法读取 Pulumi 的事件日志",
            "{detail}",
            "用 `PULUMI_DEBUG_COMMANDS=true pulumi preview --event-log FILE` 生成",
        ),
        "other-events": (
            "这不是 Pulumi 的事件日志",
            "其中没有一行是事件，因此无从得知策略包发现了什么",
            "用 `PULUMI_DEBUG_COMMANDS=true pulumi preview --event-log FILE` 生成",
        ),
        "other": (
            "这不是 Pulumi 的计划",
            "内容不是 `pulumi preview --json` 的输出",
            "用 `pulumi preview --json > FILE` 生成，不要混入 stderr 的内容",
        ),
        "elsewhere": (
            "计划属于另一个环境",
            "其 stack 的 tallyard:overlay 为 {detail}，而审查的是 {wanted}",
            "请预览 {wanted} 的 stack，或用 -s 指定另一个环境",
        ),
    },
}
