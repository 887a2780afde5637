"""What the lab raises for a person: what failed, why, where the log is, what to do.

LabError
├── StateError   lab.json cannot be read
├── BusyError    another command works on the same lab
├── PortError    a port that the lab had chosen belongs to another program now
└── ToolchainError  the programs cannot be had (lab/toolchain/failure.py)
"""

from __future__ import annotations

from pathlib import Path


class LabError(Exception):
    """Something of the lab failed in a way that a person can act on.

    Args:
        what: what failed, in one clause.
        why: what was seen.
        advice: what to do about it.
        log: the file with the details, if there is one.
    """

    def __init__(self, what: str, *, why: str, advice: str, log: Path | None = None) -> None:
        self.what = what
        self.why = why
        self.advice = advice
        self.log = log
        super().__init__(what)

    def __str__(self) -> str:
        """Return all parts as one paragraph."""
        log = f" Log: {self.log}." if self.log else ""
        return f"{self.what}: {self.why}.{log} {self.advice}"


class StateError(LabError):
    """The lab's record cannot be read."""


class BusyError(LabError):
    """Another command is working on the lab."""


class PortError(LabError):
    """A chosen port was taken by another program before its owner could listen on it."""
