"""What the end of a log says about why its program ended."""

from __future__ import annotations

import json
import re
from pathlib import Path

# A Go program that dies prints every thread's stack, tens of KiB, after the line that tells why.
_TAIL_BYTES = 64 * 1024
_LINES_SHOWN = 4
_TELLING = re.compile(
    r"no space left|disk quota exceeded|in use|\b(panic|fatal|err|error)\b|^[EF]\d{4} ",
    re.IGNORECASE,
)
# What goes well may speak of errors, too: a flag's name, a counter that is zero.
_INFORMATION = re.compile(r'^I\d{4} |"level":"info"')
_STACK = re.compile(r"^(goroutine \d+ |\S+\(.*\)$|\s+\S+\.go:\d+|created by |r\d+ +0x)")
# What zap and klog put before a message: time, thread, file.
_KLOG = re.compile(r"^[IWEF]\d{4} \S+ +\d+ [\w./-]+:\d+\] ")


def last_words(log: Path) -> str:
    """Return in one line why the program of a log ended, as far as the log tells.

    That is the last line that speaks of the disk, of a port, a panic or an error; without one
    the last lines.
    """
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _TAIL_BYTES))
            text = file.read().decode(errors="replace")
    except OSError:
        return "it left no log"
    lines = [line.rstrip() for line in text.split("\n") if line.strip()]
    if not lines:
        return "its log is empty"
    plain = [line for line in lines if not _STACK.match(line)] or lines
    telling = [at for at in plain if _TELLING.search(at) and not _INFORMATION.search(at)]
    if telling:
        return _message(telling[-1])
    return " ".join(_message(line) for line in plain[-_LINES_SHOWN:])


def _message(line: str) -> str:
    """Return what a line says without the fields that its logger adds."""
    try:
        fields = json.loads(line)
    except ValueError:
        return _KLOG.sub("", line.strip())
    if not isinstance(fields, dict):
        return line.strip()
    told = [str(fields[key]) for key in ("msg", "error", "err") if fields.get(key)]
    return ": ".join(told) or line.strip()
