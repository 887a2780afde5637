"""Which environment a command is about, and its spec as a platform or as one complaint."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from tallyard.cli import session
from tallyard.cli.errors import Complaint
from tallyard.cli.exit_codes import ExitCode
from tallyard.cluster.faults import Parts

if TYPE_CHECKING:
    from tallyard.cli.problems import ErrorFormat
    from tallyard.spec.load import Loaded
    from tallyard.spec.model import Platform

STACKS = Path("stacks")
_CHECKOUT = Path(__file__).resolve().parents[2]
DEFAULT = "local"


@Parameter(name="*")
@dataclass(frozen=True)
class Stack:
    """The environment, by name.

    Attributes:
        stack: The environment's name: `stacks/<name>.yaml`, in the working folder or, where it
            has no `stacks`, in the checkout that tally is installed from.
    """

    stack: Annotated[
        str,
        Parameter(
            name=["--stack", "-s"],
            help="The environment: NAME.yaml in the working folder's stacks, else in the checkout's.",
        ),
    ] = DEFAULT


def overlay(file: Path | None, stack: Stack | None, root: Path | None = None) -> Path:
    """Return the environment's file: the one given, else that of the stack's name.

    Args:
        file: A file that was named.
        stack: The environment.
        root: The folder that has `stacks`; without it the working folder or the checkout.

    Raises:
        Complaint: Both a file and an environment are named.
    """
    if file is not None and stack is not None:
        raise _named_twice(file, stack)
    if file is not None:
        return file
    stacks = root / STACKS if root is not None else stacks_folder()
    return stacks / f"{(stack or Stack()).stack}.yaml"


def stacks_folder() -> Path:
    """Return `stacks` of the working folder, else of the checkout that tally is installed from."""
    elsewhere = _CHECKOUT / STACKS
    return elsewhere if elsewhere.is_dir() and not STACKS.is_dir() else STACKS


def _named_twice(file: Path, stack: Stack) -> Complaint:
    zh = session.lang() == "zh"
    what = "同时指定了文件和环境" if zh else "both a file and an environment are named"
    todo = (
        f"写 {file} 或 -s {stack.stack}，不要都写"
        if zh
        else f"write {file} or -s {stack.stack}, not both"
    )
    return Complaint(ExitCode.USAGE, Parts("", what, "", todo))


class SpecRefused(Exception):  # noqa: N818 - an outcome, told by the spec's own messages
    """The spec has errors; they have been printed."""

    code = ExitCode.USAGE


def load_or_refuse(
    path: Path, form: ErrorFormat | None = None, *, is_stdout_free: bool = True
) -> tuple[Platform, Loaded]:
    """Return the platform; tell every problem, the mere warnings too.

    Args:
        path: The environment's file.
        form: How the problems are told; see `problems.tell`.
        is_stdout_free: Whether the command writes nothing of its own to stdout when all is well.

    Raises:
        SpecRefused: When one of them is an error.
    """
    from tallyard.cli import problems  # noqa: PLC0415
    from tallyard.spec.load import load  # noqa: PLC0415

    loaded = load(path)
    refused = loaded.platform is None
    if refused:
        session.expect(SpecRefused.code)
    problems.tell(loaded.problems, loaded.texts, form, is_stdout_free=is_stdout_free or refused)
    if loaded.platform is None:
        raise SpecRefused
    return loaded.platform, loaded
