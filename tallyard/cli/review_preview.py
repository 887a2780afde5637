"""A lab's stack, previewed by Pulumi with the policy pack: what it would do, and what it says.

`pulumi preview --json` leaves out what the policies say; its log of events has it.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from lab import stack as stacks
from lab.errors import LabError
from lab.folder import CHECKOUT, LabFolder
from lab.report import Report
from tallyard.cli.review_pack import pack_finding, plain_words
from tallyard.cli.review_plan import Plan, PlanError, plan_of_preview, without_last_words
from tallyard.cli.review_verdict import PackFinding

# A lab's preview takes half a minute, and several where the machine is busy.
SECONDS_MAX = 900.0
_POLL_SECONDS = 0.2
_STOP_SECONDS_MAX = 15.0
_OBJECT = b'"resourcePreEvent":{'
_WORDS_MAX = 2_000


@dataclass(frozen=True)
class Previewed:
    """What Pulumi would do, what its policy pack found, and its exit code."""

    plan: Plan
    pack: tuple[PackFinding, ...]
    code: int


def preview(folder: LabFolder, overlay: Path, report: Report) -> Previewed:
    """Preview a lab's stack with the policy pack.

    Args:
        folder: The lab's.
        overlay: The environment's file.
        report: Hears how many objects Pulumi has looked at.

    Raises:
        LabError: Pulumi did not end, or ended before it said what it would do.
    """
    with tempfile.TemporaryDirectory(prefix="tally-preview-") as made:
        events, out, err = (Path(made) / name for name in ("events", "out", "err"))
        command = (
            *(
                str(folder.tools / "pulumi"),
                "--cwd",
                str(CHECKOUT),
                "preview",
                "--refresh",
                "--run-program",
            ),
            *("--policy-pack", str(CHECKOUT / "policies"), "--json", "--event-log", str(events)),
            *("--stack", stacks.STACK, "--non-interactive"),
        )
        # Without it the command line does not know --event-log.
        told = {**os.environ, **stacks.environment(folder, folder.tools)}
        told["TALLYARD_OVERLAY"] = str(overlay.resolve())
        told["PULUMI_DEBUG_COMMANDS"] = "true"
        events.touch(mode=0o600)
        with out.open("wb") as stdout, err.open("wb") as stderr:
            process = subprocess.Popen(
                command, env=told, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr
            )
            pack = _follow(process, events, report)
        return _previewed(
            process.returncode,
            out.read_text("utf-8", "replace"),
            err.read_text("utf-8", "replace"),
            pack,
        )


def _follow(
    process: subprocess.Popen[bytes], events: Path, report: Report
) -> tuple[PackFinding, ...]:
    """Read the events until the process has ended; it ends with this command."""
    begun, seen, found = time.monotonic(), 0, []
    try:
        with events.open("rb") as log:
            is_over = False
            while not is_over:
                # Asked first: what it wrote before its end is then read to the end.
                is_over = process.poll() is not None
                for line in _whole_lines(log):
                    seen += _OBJECT in line
                    if each := pack_finding(line):
                        found.append(each)
                seconds = time.monotonic() - begun
                report.step(f"pulumi preview: {seen} steps, {seconds:.0f} s")
                if seconds > SECONDS_MAX:
                    raise LabError(
                        "`pulumi preview` does not end",
                        why=f"{SECONDS_MAX:.0f} s have passed",
                        advice="See whether the API server answers: `tally lab status`",
                    )
                if not is_over:
                    time.sleep(_POLL_SECONDS)
    finally:
        _stop(process)
    return tuple(dict.fromkeys(found))


def _whole_lines(log: BinaryIO) -> Iterator[bytes]:
    """Yield the lines that are whole by now; the beginning of one is read again later."""
    while True:
        at = log.tell()
        line = log.readline()
        if not line.endswith(b"\n"):
            log.seek(at)
            return
        yield line


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _previewed(code: int, out: str, err: str, pack: Iterable[PackFinding]) -> Previewed:
    """Put together what Pulumi said; where it failed, no word of it is lost.

    Raises:
        LabError: It ended before it said what it would do.
    """
    found = tuple(pack)
    try:
        content = json.loads(out)
        plan = plan_of_preview(content)
    except (ValueError, PlanError) as error:
        raise LabError(
            "`pulumi preview` failed",
            why=plain_words(f"{err} {out}")[-_WORDS_MAX:] or f"it ended with {code}",
            advice="Mend what it names, then run it again",
        ) from error
    if any(each.is_mandatory for each in found):
        plan = without_last_words(plan)
    elif code and not plan.errors:
        written = "".join(
            str(each.get("message") or "") for each in content.get("diagnostics") or ()
        )
        why = plain_words(f"{err} {written}")[-_WORDS_MAX:] or f"it ended with {code}"
        plan = replace(plan, errors=(why,))
    return Previewed(plan, found, code)
