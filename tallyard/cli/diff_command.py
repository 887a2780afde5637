"""`tally spec diff`: what a change of the spec means to each project, and to everybody."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from tallyard.cli import problems, session
from tallyard.cli.errors import Complaint
from tallyard.cli.exit_codes import ExitCode
from tallyard.cli.output import Format, emit, print_line
from tallyard.cli.problems import ErrorForm
from tallyard.cli.stack import STACKS, SpecRefused, Stack, overlay
from tallyard.cluster.faults import Parts
from tallyard.failures import one_line

if TYPE_CHECKING:
    from tallyard.cli.problems import ErrorFormat
    from tallyard.cli.revision import Repository, Side
    from tallyard.spec.changes.whole import Changes
    from tallyard.spec.model import Platform
    from tallyard.spec.problem import Problem

_COMMIT_SHOWN = 10


class DiffFormat(StrEnum):
    """How a diff is printed."""

    TABLE = "table"
    MARKDOWN = "markdown"
    JSON = "json"
    YAML = "yaml"


Before = Annotated[
    str, Parameter(help="The revision before, as git names it: a branch, a tag, HEAD~1.")
]
After = Annotated[
    str | None, Parameter(help="The revision after; without it the files as they are now.")
]


def diff(
    rev1: Before = "HEAD",
    rev2: After = None,
    /,
    *,
    stack: Stack | None = None,
    output: Annotated[
        DiffFormat,
        Parameter(
            name=["--output", "-o"],
            help="How to print: table, markdown (for a pull request), json or yaml.",
        ),
    ] = DiffFormat.TABLE,
    exit_code: Annotated[
        bool, Parameter(negative=(), help="End with 7 when something differs.")
    ] = False,
    error_format: ErrorForm = None,
) -> int:
    """Show what each project gains or loses between two revisions of the spec.

    What `pulumi up` would refuse and what has to be done by hand stand first. After the projects
    come what changes for everybody, the hosts, what is not granted of cards and core-hours, the
    objects that cannot be changed or go away, and new warnings. Both sides are read at the same
    moment, so an override that ends meanwhile is no difference. Nothing is checked out or
    written.
    """
    from tallyard.cli.diff_document import is_changed, spec_diff  # noqa: PLC0415
    from tallyard.cli.revision import repository  # noqa: PLC0415
    from tallyard.cli.views.spec_diff import sections  # noqa: PLC0415
    from tallyard.cli.views.spec_diff_markdown import markdown  # noqa: PLC0415
    from tallyard.cli.views.spec_diff_objects import objects  # noqa: PLC0415
    from tallyard.cli.views.spec_diff_table import show  # noqa: PLC0415
    from tallyard.spec.changes.warnings import new_warnings  # noqa: PLC0415
    from tallyard.spec.changes.whole import changes  # noqa: PLC0415

    path, now = stack_file(stack), datetime.now(UTC)
    repo = repository(path)
    sides = both_sides(repo, path, (rev1, rev2), now, error_format)
    before, after = (platform_of(side) for side in sides)
    found = changes(before, after, now)
    changed = objects(before, after)
    warnings = new_warnings(*map(problems_of, sides))
    differs = is_changed(found, changed)
    code = ExitCode.CHANGES if exit_code and differs else ExitCode.OK
    session.expect(code)
    title, about = title_of(path, sides), about_of(found, sides, differs=differs)
    if output is DiffFormat.MARKDOWN:
        sys.stdout.write(markdown(title, about, sections(found, changed, warnings)))
    elif output is DiffFormat.TABLE:
        print_line("\n".join(filter(None, (title, about))))
        show(sections(found, changed, warnings))
    else:
        content = spec_diff(str(path), sides, now, found, objects=changed, warnings=warnings)
        emit(Format(output.value), content, lambda: None)
    return code


def stack_file(stack: Stack | None) -> Path:
    """Return the environment's file; in a folder of a repository that of its `stacks`."""
    if not STACKS.is_dir():
        for folder in _parents():
            if (folder / STACKS).is_dir():
                return overlay(None, stack, folder)
            if (folder / ".git").exists():
                break
    return overlay(None, stack)


def _parents() -> Sequence[Path]:
    """Return the folders above the working one; none where it has been deleted."""
    try:
        return Path.cwd().parents
    except OSError:
        return ()


def both_sides(
    repo: Repository,
    path: Path,
    names: tuple[str, str | None],
    now: datetime,
    form: ErrorFormat | None,
) -> tuple[Side, Side]:
    """Return both sides, none with an error.

    Raises:
        Complaint: A revision is not there, or the environment in neither.
        SpecRefused: One of them has errors, which have been told.
    """
    return checked(read_sides(repo, path, names, now), path, form)


def read_sides(
    repo: Repository, path: Path, names: tuple[str, str | None], now: datetime
) -> tuple[Side, Side]:
    """Return both sides as they are, whatever is wrong with them.

    Raises:
        Complaint: A revision is not there.
    """
    from tallyard.cli.revision import at_revision, in_working_tree, revision  # noqa: PLC0415

    before, after = (
        in_working_tree(path, now)
        if name is None
        else at_revision(repo, revision(repo, name), path, now)
        for name in names
    )
    return before, after


def checked(sides: tuple[Side, Side], path: Path, form: ErrorFormat | None) -> tuple[Side, Side]:
    """Return both sides, none with an error.

    Raises:
        Complaint: The environment is in neither.
        SpecRefused: One of them has errors, which have been told.
    """
    before, after = sides
    loaded = [side.loaded for side in (before, after) if side.loaded is not None]
    if not loaded:
        raise _no_environment(path, (before, after))
    refused = [each for each in loaded if each.platform is None]
    if refused:
        told = tuple(problem for each in refused for problem in each.problems)
        texts = {file: text for each in refused for file, text in each.texts.items()}
        session.expect(SpecRefused.code)
        problems.tell(told, texts, form)
        raise SpecRefused
    return before, after


def platform_of(side: Side) -> Platform | None:
    """Return what a side means; None where there is no such environment."""
    return side.loaded.platform if side.loaded is not None else None


def problems_of(side: Side) -> tuple[Problem, ...]:
    """Return what a side is warned of."""
    return side.loaded.problems if side.loaded is not None else ()


def _no_environment(path: Path, sides: tuple[Side, Side]) -> Complaint:
    from tallyard.spec.suggest import nearest  # noqa: PLC0415

    zh = session.lang() == "zh"
    names = sorted(file.stem for file in path.parent.glob("*.yaml"))
    likely = nearest(path.stem, (name for name in names if name != path.stem))
    places = [_side_name(side) for side in sides]
    why = (
        f"{places[0]} 和 {places[1]} 中都没有"
        if zh
        else f"neither {places[0]} nor {places[1]} has it"
    )
    if likely:
        todo = f"是否指 -s {likely}？" if zh else f"do you mean -s {likely}?"
    else:
        todo = "用 -s 指定 stacks 中的一个环境" if zh else "name an environment of stacks with -s"
    what = f"没有环境 {path.stem}" if zh else f"there is no environment {path.stem}"
    return Complaint(ExitCode.NOT_FOUND, Parts(str(path), what, why, todo))


def title_of(path: Path, sides: tuple[Side, Side]) -> str:
    """Return which file is compared, between what."""
    return f"{path}: {_side_name(sides[0])} → {_side_name(sides[1])}"


def _side_name(side: Side) -> str:
    at = side.revision
    if at is None:
        return "工作区" if session.lang() == "zh" else "working tree"
    commit = at.commit[:_COMMIT_SHOWN]
    return at.name if at.commit.startswith(at.name) else f"{one_line(at.name)} ({commit})"


def about_of(found: Changes, sides: tuple[Side, Side], *, differs: bool) -> str:
    """Return what is to be said of the whole; an empty text where the sections say it all."""
    from tallyard.spec.changes.change import Presence  # noqa: PLC0415

    zh = session.lang() == "zh"
    before, after = map(_side_name, sides)
    if found.environment is Presence.ADDED:
        return f"新环境：{before} 中没有" if zh else f"The environment is new: {before} has none."
    if found.environment is Presence.REMOVED:
        return (
            f"环境已删除：{after} 中没有"
            if zh
            else f"The environment is removed: {after} has none."
        )
    if differs:
        return ""
    if _texts(sides[0]) == _texts(sides[1]):
        return "没有差异：文件相同。" if zh else "No difference: the files are the same."
    return (
        "含义没有任何变化：只有注释、顺序或格式不同。"
        if zh
        else "Nothing changes in meaning: only comments, order or formatting differ."
    )


def _texts(side: Side) -> list[str | None]:
    return [side.loaded.texts.get(file) for file in side.loaded.files] if side.loaded else []
