"""`tally drain`: no queue takes work any more, and what runs is taken back, before the end."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from tallyard import labels, units
from tallyard.cli import session
from tallyard.cli.asking import ask
from tallyard.cli.errors import Complaint
from tallyard.cli.exit_codes import ExitCode
from tallyard.cli.output import Format, Output, document, emit, print_line
from tallyard.cli.progress import progress
from tallyard.cli.stack import Stack, load_or_refuse, overlay
from tallyard.cli.target import Context, Kubeconfig
from tallyard.cluster.faults import ClusterError, Fault, Parts

if TYPE_CHECKING:
    from tallyard.cluster.client import Connection
    from tallyard.cluster.drain import Standing
    from tallyard.spec.model import Platform

_POLL_SECONDS = 1.0


def drain(
    *,
    stack: Annotated[
        str,
        Parameter(name=["--stack", "-s"], help="The environment that is meant, by its name."),
    ],
    yes: Annotated[bool, Parameter(name=["--yes", "-y"], negative=(), help="Do not ask.")] = False,
    timeout: Annotated[str, Parameter(help="How long to wait until nothing runs: 90s, 5m.")] = "5m",
    context: Context = None,
    kubeconfig: Kubeconfig = None,
    output: Output = Format.TABLE,
) -> None:
    """Let no queue take work any more, and take back what runs.

    Every queue of the platform is held and drained: jobs that run are stopped and wait as if
    newly submitted, what waits goes on waiting, nothing is deleted. It can be broken off and
    repeated. `pulumi up --refresh --run-program` opens the queues again; after it nothing is lost
    but the time of the jobs that were stopped. It is the first step of removing a platform
    (docs/operations.md), and refuses a cluster whose platform is another one than -s names.
    """
    from tallyard.cluster import drain as cluster  # noqa: PLC0415
    from tallyard.cluster.client import connect  # noqa: PLC0415
    from tallyard.render.kept import kept_objects  # noqa: PLC0415

    seconds_max = _seconds(timeout)
    platform, _ = load_or_refuse(overlay(None, Stack(stack)), is_stdout_free=False)
    with connect(context, kubeconfig) as connection:
        _require_platform(connection, stack, platform)
        wanted = kept_objects(platform)
        before = cluster.look(connection, wanted)
        if not before.is_drained:
            _require_right(connection, before)
            _tell(connection, stack, before)
            if not yes:
                ask(stack)
            for queue in before.open:
                cluster.hold(connection, queue)
        after = _wait(connection, wanted, seconds_max)
    emit(output, _document(after), lambda: _print(stack, after))


def _wait(
    connection: Connection, wanted: Collection[tuple[str, str]], seconds_max: int
) -> Standing:
    """Wait until nothing holds quota.

    Raises:
        Complaint: Something still does at the end of the time.
    """
    from tallyard.cluster.drain import look  # noqa: PLC0415

    deadline = time.monotonic() + seconds_max
    with progress() as report:
        while True:
            standing = look(connection, wanted)
            if standing.is_drained:
                return standing
            left = sum(standing.holding.values())
            zh = session.lang() == "zh"
            report.step(f"还有 {left} 项作业未停" if zh else f"{left} still to stop")
            if time.monotonic() > deadline:
                raise _not_drained(connection, standing, seconds_max)
            time.sleep(_POLL_SECONDS)


def _require_platform(connection: Connection, stack: str, platform: Platform) -> None:
    """Refuse a cluster that holds another platform, or none.

    Raises:
        Complaint: With what the cluster holds.
    """
    from tallyard.cluster.kinds import ConfigMap  # noqa: PLC0415
    from tallyard.controllers.spec_source import read_spec  # noqa: PLC0415

    place = f"{labels.SYSTEM_NAMESPACE}/{labels.SPEC_CONFIG}"
    try:
        config = connection.get(ConfigMap, labels.SPEC_CONFIG, labels.SYSTEM_NAMESPACE)
    except ClusterError as error:
        if error.fault is not Fault.NOT_FOUND:
            raise
        raise _another(connection, stack, "", f"{place}: -") from error
    file = str((config["metadata"].get("annotations") or {}).get(labels.OVERLAY))
    read = read_spec(config, datetime.now(UTC), session.lang())
    there = read.platform.name if read.platform else "?"
    if (file, there) != (f"{stack}.yaml", platform.name):
        raise _another(connection, stack, platform.name, f"{place}: {file}, {there}")


def _require_right(connection: Connection, standing: Standing) -> None:
    """Let the server say whether the caller may do it, before a plan is told and asked about.

    Raises:
        Complaint: The caller may not.
        ClusterError: The server refuses for another reason, or cannot be asked.
    """
    from tallyard.cluster.drain import hold  # noqa: PLC0415

    for queue in standing.open[:1]:
        try:
            hold(connection, queue, is_dry=True)
        except ClusterError as error:
            if error.fault is not Fault.FORBIDDEN:
                raise
            raise _not_allowed(connection, error.values["detail"]) from error


def _not_allowed(connection: Connection, detail: str) -> Complaint:
    if session.lang() == "zh":
        what, why = "您无权停用此平台的队列", f"{detail}；未做任何更改"
        todo = (
            "用 --context 选择管理员的上下文（`kubectl config get-contexts` 列出；"
            "实验环境为 tallyard-<名称>），或请管理员执行"
        )
    else:
        what, why = "you may not drain this platform", f"{detail}; nothing was changed"
        todo = (
            "choose the administrator's context with --context (`kubectl config get-contexts` lists "
            "yours; in the lab it is tallyard-NAME), or ask your administrator to do it"
        )
    return Complaint(ExitCode.AUTH, Parts(connection.where, what, why, todo))


def _another(connection: Connection, stack: str, name: str, found: str) -> Complaint:
    if session.lang() == "zh":
        what = "该集群上的平台不是要停的那一个"
        why = f"要停的是 {stack}.yaml（{name or '?'}），集群中是 {found}；未做任何更改"
        todo = "用 --context 选择正确的集群，或用 -s 指定该集群的环境"
    else:
        what = "this cluster does not hold the platform that is to be drained"
        why = f"-s names {stack}.yaml ({name or '?'}), the cluster has {found}; nothing was changed"
        todo = "choose the right cluster with --context, or name its environment with -s"
    return Complaint(ExitCode.USAGE, Parts(connection.where, what, why, todo))


def _not_drained(connection: Connection, standing: Standing, seconds: int) -> Complaint:
    left = _by_project(standing.holding)
    if session.lang() == "zh":
        what, why = "作业未在时限内停下", f"已过 {units.duration(seconds)}，仍占用配额：{left}"
        todo = (
            "队列已停止接收，可重新运行同一命令继续等待；"
            "`tally jobs -A` 显示是哪些。若一直不变，则 Kueue 的控制器没有工作：先使其恢复"
        )
    else:
        what = "not everything has stopped in time"
        why = f"{units.duration(seconds)} have passed, and these still hold quota: {left}"
        todo = (
            "the queues take nothing more, and the same command goes on waiting; `tally jobs -A` "
            "shows which they are. When nothing moves, Kueue's controller does not work: mend it first"
        )
    return Complaint(ExitCode.TIMEOUT, Parts(connection.where, what, why, todo))


def _tell(connection: Connection, stack: str, standing: Standing) -> None:
    running, waiting = _by_project(standing.holding), _by_project(standing.waiting)
    count = len(standing.queues)
    if session.lang() == "zh":
        lines = (
            f"{connection.where}：平台 {stack}",
            f"{count} 个队列将不再接收作业，正在运行的将被停止并重新等待：{running}",
            f"等待中的继续等待：{waiting}。不删除任何东西；`pulumi up --refresh --run-program` 可撤销。",
        )
    else:
        lines = (
            f"{connection.where}: the platform {stack}",
            f"{count} queues will take nothing more. Stopped, to wait again: {running}",
            f"Goes on waiting: {waiting}. Nothing is deleted; `pulumi up --refresh --run-program` undoes it.",
        )
    for line in lines:
        session.err().print(line, soft_wrap=True)


def _seconds(text: str) -> int:
    try:
        return units.parse_duration(text)
    except units.QuantityError as error:
        zh = session.lang() == "zh"
        what = f"“{text}”不是时长" if zh else f'"{text}" is no time'
        todo = "写成 90s、5m 或 1h" if zh else "write it as 90s, 5m or 1h"
        raise Complaint(ExitCode.USAGE, Parts("--timeout", what, "", todo)) from error


def _document(standing: Standing) -> Mapping[str, object]:
    return document(
        "Drain",
        {
            "queues": list(standing.queues),
            "drained": standing.is_drained,
            "waiting": dict(standing.waiting),
            "leftovers": [{"kind": kind, "name": name} for kind, name in standing.leftovers],
            "foreign": list(standing.foreign),
        },
    )


def _print(stack: str, standing: Standing) -> None:
    count, waiting = len(standing.queues), _by_project(standing.waiting)
    destroy = f"TALLYARD_DESTROY={stack} pulumi destroy -s {stack} --run-program"
    if session.lang() == "zh":
        print_line(f"{count} 个队列均已停空；等待中：{waiting}。")
        print_line(f"重新开放：pulumi up -s {stack} --refresh --run-program")
        print_line(f"删除平台及各项目命名空间中的一切：{destroy}")
        left = "先删除旧规格留下的对象（命名空间中的内容属于用户）："
        foreign = "Kueue 还服务于他人的队列，它们不受此命令影响；只要它们还在，平台就不能删除："
    else:
        print_line(f"All {count} queues are held and empty; waiting: {waiting}.")
        print_line(f"To open them again: pulumi up -s {stack} --refresh --run-program")
        print_line(
            f"To remove the platform, and all that is in the projects' namespaces: {destroy}"
        )
        left = "Before that, what earlier specs have left (what is in a namespace is the users'):"
        foreign = "Left alone, and in the way of a removal, are queues of somebody else's: "
    if standing.foreign:
        print_line(f"{foreign}{', '.join(standing.foreign)}")
    if standing.removal:
        print_line(left)
        for command in standing.removal:
            print_line(f"  {command}")


def _by_project(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "-"
