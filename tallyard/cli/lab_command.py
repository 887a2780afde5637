"""`tally lab …`: the lab's verbs, with progress on stderr and results on stdout."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from lab.folder import DEFAULT_NAME
from tallyard.cli import session
from tallyard.cli.errors import Complaint
from tallyard.cli.exit_codes import ExitCode
from tallyard.cli.output import Format, Output, document, emit, print_line, print_table
from tallyard.cli.progress import progress
from tallyard.cli.review_command import ReviewFormat, ReviewOutput
from tallyard.cli.stack import Stack, load_or_refuse, overlay
from tallyard.cli.words import word, words
from tallyard.cluster.faults import Parts

if TYPE_CHECKING:
    from lab.status import LabStatus

type Name = Annotated[
    str,
    Parameter(
        name="--name",
        # Set in the shell of a lab, whose commands are then about that one.
        env_var="TALLYARD_LAB",
        help="The lab's name; several can run. In a lab's shell it is that lab.",
    ),
]
# Those of `tally lab status`, and the two that only have a log.
type Component = Literal[
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kwok",
    "kueue",
    "jobset",
    "controllers",
    "kwokctl",
    "pulumi",
]
_MIB = 2**20


def up(
    file: Annotated[Path | None, Parameter(help="The environment's file, instead of -s.")] = None,
    /,
    *,
    stack: Stack | None = None,
    name: Name = DEFAULT_NAME,
    examples: Annotated[
        bool,
        Parameter(
            help="Run the example jobs at the end, where the spec has their project and user."
        ),
    ] = True,
) -> None:
    """Start the lab, or repair it, and run the example jobs.

    What is there already is only looked at: doing it again is quick and changes nothing.
    """
    from lab import session as lab  # noqa: PLC0415
    from lab.folder import CHECKOUT, lab_folder, require_plain_path  # noqa: PLC0415
    from lab.interrupts import heard_at_terminal  # noqa: PLC0415
    from lab.toolchain.ensure import ensure  # noqa: PLC0415
    from lab.toolchain.progress import report_to  # noqa: PLC0415
    from lab.walkthrough import fits, walk_through  # noqa: PLC0415
    from tallyard.cli import lab_summary  # noqa: PLC0415

    path = overlay(file, stack, CHECKOUT)
    platform, _ = load_or_refuse(path)
    began, begun = time.monotonic(), datetime.now(UTC)
    with _told(), heard_at_terminal():
        # Said now, and not after half an hour of building.
        require_plain_path(lab_folder(name))
        toolchain = ensure(report_to(sys.stderr))
        with progress() as report:
            status = lab.up(name, path, platform, toolchain, report)
            folder = lab_folder(name)
            stories = (
                walk_through(
                    folder, toolchain.programs["kubectl"], report, lab_summary.why_it_waits
                )
                if examples and fits(platform)
                else ()
            )
    lab_summary.show(platform, folder, status, stories, begun)
    session.close_with(f"up in {time.monotonic() - began:.1f} s")


def down(*, name: Name = DEFAULT_NAME) -> None:
    """End the lab and remove what it made: processes, ports, files."""
    from lab import session as lab  # noqa: PLC0415

    with _told(), progress() as report:
        existed = lab.down(name, report)
    if not existed:
        zh = session.lang() == "zh"
        print_line(f"没有实验环境 {name}" if zh else f"there is no lab {name}; nothing to do")


def status(*, name: Name = DEFAULT_NAME, output: Output = Format.TABLE) -> int:
    """Show which parts of the lab run. Exit code 1 when one does not, 6 when there is no lab."""
    from lab import session as lab  # noqa: PLC0415

    with _told():
        found = lab.look(name)
    emit(output, document("LabStatus", _status_body(found)), lambda: _print_status(found))
    if not found.exists:
        return ExitCode.NOT_FOUND
    return ExitCode.OK if found.is_ready else ExitCode.FAILED


def logs(component: Component, /, *, name: Name = DEFAULT_NAME) -> None:
    """Print the log of one part of the lab.

    Args:
        component: As `tally lab status` names it, or kwokctl or pulumi.
        name: The lab's name.
    """
    from lab import session as lab  # noqa: PLC0415

    with _told(ExitCode.NOT_FOUND):
        path = lab.logs(name, component)
    with path.open(encoding="utf-8", errors="replace") as log:
        for line in log:
            sys.stdout.write(line)


def toolchain(*, output: Output = Format.TABLE) -> None:
    """Show the programs that the lab uses, and build those that are missing."""
    from lab.toolchain import pins  # noqa: PLC0415
    from lab.toolchain.ensure import ensure  # noqa: PLC0415
    from lab.toolchain.progress import report_to  # noqa: PLC0415

    with _told():
        found = ensure(report_to(sys.stderr))
    versions = {p.name: pins.version(each) for each in pins.SETS for p in each.programs}
    programs = [
        (name, versions.get(name, ""), str(path)) for name, path in sorted(found.programs.items())
    ]
    items = [{"name": n, "version": v, "path": p} for n, v, p in programs]
    content = document("ToolchainList", {"items": items})
    emit(output, content, lambda: print_table(words("PROGRAM", "VERSION", "PATH"), programs))


def preview(*, name: Name = DEFAULT_NAME, output: ReviewOutput = ReviewFormat.TABLE) -> int:
    """Review what `pulumi up` would change in the lab, as `tally review` does, by a real preview.

    The spec before is the one that the last `up` deployed. The exit code is 5 where a rule or the
    policy pack refuses, else Pulumi's own.
    """
    from lab import session as lab  # noqa: PLC0415
    from lab.folder import lab_folder  # noqa: PLC0415
    from tallyard.cli.review_lab import review_lab  # noqa: PLC0415

    with _told():
        found = lab.look(name)
        folder = lab_folder(name)
    if not found.exists:
        _print_status(found)
        return ExitCode.NOT_FOUND
    with _told():
        return review_lab(folder, Path(found.overlay), output)


@contextmanager
def _told(code: ExitCode = ExitCode.FAILED) -> Iterator[None]:
    """Turn what the lab raises, and what the system refuses to it, into a complaint."""
    from lab.errors import LabError, of_system  # noqa: PLC0415

    def complaint(code: ExitCode, error: LabError) -> Complaint:
        where = str(error.log) if error.log else ""
        return Complaint(code, Parts(where, error.what, error.why, error.advice))

    try:
        yield
    except LabError as error:
        raise complaint(code, error) from error
    except BrokenPipeError:
        # Whoever read our output has seen enough; that is no failure of the lab.
        raise
    except OSError as error:
        raise complaint(ExitCode.FAILED, of_system(error)) from error


def _status_body(found: LabStatus) -> dict[str, object]:
    return {
        "name": found.name,
        "exists": found.exists,
        "ready": found.is_ready,
        "overlay": found.overlay,
        "server": found.server,
        "environment": str(found.environment),
        "memoryBytes": found.memory_bytes,
        "components": [
            {
                "name": each.name,
                "pid": each.pid,
                "port": each.port,
                "running": each.is_running,
                "ready": each.is_ready,
                "memoryBytes": each.memory_bytes,
                "log": None if each.log is None else str(each.log),
            }
            for each in found.components
        ],
    }


def _absent(name: str, *, zh: bool) -> str:
    """Return the sentence about a lab that is not there, with those that are."""
    from lab.folder import names  # noqa: PLC0415

    start = "tally lab up" if name == DEFAULT_NAME else f"tally lab up --name {name}"
    if not (others := names()):
        how = f"；用 `{start}` 启动" if zh else f"; `{start}` starts it"
    elif zh:
        how = (
            f"，现有：{'、'.join(others)}；用 `--name {others[0]}` 选择"
            f'（make 用 `ARGS="--name {others[0]}"`），或用 `{start}` 启动'
        )
    else:
        how = (
            f", but there is: {', '.join(others)}. Choose with `--name {others[0]}` "
            f'(by make `ARGS="--name {others[0]}"`), or start it by `{start}`'
        )
    return f"没有实验环境 {name}{how}" if zh else f"there is no lab {name}{how}"


def _print_status(found: LabStatus) -> None:
    zh = session.lang() == "zh"
    if not found.exists:
        print_line(_absent(found.name, zh=zh))
        return
    print_line(f"{found.name}  {found.server or ''}  {found.overlay}")
    print_table(
        words("PART", "STATE", "PID", "PORT", "MIB"),
        [
            (
                each.name,
                word("ready" if each.is_ready else "running" if each.is_running else "down"),
                str(each.pid or ""),
                str(each.port or ""),
                str((each.memory_bytes or 0) // _MIB or ""),
            )
            for each in found.components
        ],
        right=(2, 3, 4),
    )
