"""How a failure is told: on stderr, in four parts, and with an exit code. Never a traceback."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from tallyard.cli import session
from tallyard.cli.exit_codes import ExitCode
from tallyard.cluster.faults import Parts

DEBUG = "TALLYARD_DEBUG"

_LABELS: Mapping[str, tuple[str, str, str, str]] = {
    "en": ("error", "where", "why", "do"),
    "zh": ("错误", "位置", "原因", "处理"),
}


class Complaint(Exception):  # noqa: N818 - it is what a person reads, and not always an error of ours
    """A failure that a person can act on, with the exit code it ends the command with."""

    def __init__(self, code: ExitCode, parts: Parts) -> None:
        self.code = code
        self.parts = parts
        super().__init__(parts.what)


def tell(parts: Parts) -> None:
    """Print the four parts to stderr; a part that is empty is left out."""
    from rich.text import Text  # noqa: PLC0415

    error, where, why, todo = _LABELS[session.lang()]
    console = session.err()
    console.print(Text.assemble((f"{error}: ", "bold red"), parts.what), soft_wrap=True)
    for label, text in ((where, parts.where), (why, parts.why), (todo, parts.todo)):
        if text:
            console.print(Text.assemble((f"  {label}: ", "dim"), text), soft_wrap=True)


def tell_bug(error: BaseException, argv: Sequence[str]) -> ExitCode:
    """Write a report of a fault of ours, and say in one sentence where it lies."""
    if os.environ.get(DEBUG) == "1":
        traceback.print_exception(error)
        return ExitCode.BUG
    text = {
        "en": "error: this is a fault of tally ({name}); please report it with {path}",
        "zh": "错误： 这是 tally 自身的缺陷（{name}）；请附上 {path} 报告",
    }[session.lang()]
    path = _write_report(error, argv)
    sys.stderr.write(text.format(name=type(error).__name__, path=path) + "\n")
    return ExitCode.BUG


def _write_report(error: BaseException, argv: Sequence[str]) -> str:
    now = datetime.now(UTC)
    content = "\n".join(
        (
            f"time: {now.isoformat()}",
            f"command: tally {' '.join(argv)}",
            f"python: {sys.version}",
            f"system: {platform.platform()}",
            "",
            "".join(traceback.format_exception(error)),
        )
    )
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    for folder in (state / "tallyard" / "reports", Path(tempfile.gettempdir())):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # The last folder is everybody's: a name that nobody can guess, made anew and ours alone.
            handle, path = tempfile.mkstemp(".txt", f"tally-{now:%Y%m%dT%H%M%S}-", folder)
            with open(handle, "w", encoding="utf-8") as file:  # noqa: PTH123 - it is open already
                file.write(content)
        except OSError:
            continue
        return path
    return "TALLYARD_DEBUG=1"
