"""The one exception that leaves the toolchain, and how a failed build is told to a person."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.errors import LabError


class ToolchainError(LabError):
    """The toolchain cannot be had."""

    def __str__(self) -> str:
        """Return all parts, a line each: why may itself have several."""
        log = f"\n  log: {self.log}" if self.log else ""
        return f"{self.what}: {self.why}{log}\n  {self.advice}."


@dataclass(frozen=True)
class Cause:
    """What a log shows, why the build failed then, and what to do about it."""

    pattern: str
    why: str
    advice: str


_MEMORY = Cause(
    r"signal: killed|cannot allocate memory|out of memory",
    "the machine ran out of memory",
    "Close other programs and run the command again; what was compiled is kept",
)
# Searched in this order over the last lines of a log, so that a cause stands before its
# consequences.
_CAUSES = (
    Cause(
        r"checksum mismatch|SECURITY ERROR",
        "a downloaded module is not the one whose checksum stands in go.sum",
        advice="Do not go on with this module before you know who changed it. If only a download "
        "was damaged, `go clean -modcache` removes it and the next run fetches it again",
    ),
    Cause(
        r"missing go\.sum entry|updates to go\.mod needed|malformed go\.sum",
        "go.mod and go.sum do not agree, and a build never changes them",
        "Restore both files from version control",
    ),
    Cause(
        r"no space left on device|disk quota exceeded",
        "the disk is full",
        advice="Free some space, or put TALLYARD_CACHE, GOCACHE and GOMODCACHE on a larger disk, "
        "and run the command again; what was compiled is kept",
    ),
    _MEMORY,
    Cause(
        r"dial tcp|no such host|connection refused|i/o timeout|TLS handshake|"
        r"Temporary failure in name resolution|network is unreachable|unexpected EOF",
        "a module could not be downloaded",
        advice="Check the network (GOPROXY and HTTPS_PROXY are honoured) and run the command "
        "again; what was downloaded is kept",
    ),
    Cause(
        r"permission denied",
        "a file or folder may not be written by this user",
        advice="The log names it; give it back to this user, or choose other folders with "
        "TALLYARD_CACHE, GOCACHE and GOMODCACHE",
    ),
)
_UNKNOWN = Cause(
    "",
    "the compiler gave up",
    advice="Read the log; if it names the disk, the memory or the network, mend that and run "
    "the command again",
)


def diagnose(lines: Sequence[str], returncode: int) -> Cause:
    """Return why a build failed and what to do, from the end of its log and its exit code."""
    if returncode == -signal.SIGKILL:
        return _MEMORY
    text = "\n".join(lines)
    matches = (c for c in _CAUSES if re.search(c.pattern, text, re.IGNORECASE))
    return next(matches, _UNKNOWN)


def build_failure(what: str, lines: Sequence[str], returncode: int, log: Path) -> ToolchainError:
    """Return the error of a failed step: what, why, its last lines, the log, what to do."""
    cause = diagnose(lines, returncode)
    shown = "\n".join(f"    {line}" for line in lines[-8:])
    return ToolchainError(
        f"{what} failed", why=f"{cause.why}.\n{shown}", advice=cause.advice, log=log
    )
