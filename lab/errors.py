"""What the lab raises for a person: what failed, why, where the log is, what to do.

LabError
├── StateError   lab.json cannot be read
├── BusyError    another command works on the same lab
├── PortError    a port that the lab had chosen belongs to another program now
├── HungError    a component runs and does not answer
├── EndedError   a component that ran has ended
└── ToolchainError  the programs cannot be had (lab/toolchain/failure.py)
"""

from __future__ import annotations

import errno
import os
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


class HungError(LabError):
    """What runs did not become ready in time."""


class EndedError(LabError):
    """What ran has ended while it was waited for."""


class PortError(LabError):
    """A chosen port was taken by another program before its owner could listen on it."""


_ADVICE = {
    errno.ENOSPC: "Free some space there, then run the command again",
    errno.EDQUOT: "Remove some of your files or have the quota raised, then run the command again",
    errno.EROFS: "Move the checkout, or TALLYARD_CACHE, to a disk that can be written",
    errno.EACCES: "Give the file back to this user, then run the command again",
    errno.EPERM: "Give the file back to this user, then run the command again",
    errno.EMFILE: "Raise the limit of open files (`ulimit -n`), then run the command again",
}
_CAUSES = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "your quota of the disk is used up",
    errno.EROFS: "the disk is read-only",
    errno.EACCES: "this user may not do that",
    errno.EPERM: "this user may not do that",
    errno.EMFILE: "this process has too many files open",
}


def of_system(error: OSError) -> LabError:
    """Return what the operating system refused as an error of the lab, with the file's name."""
    number = error.errno or 0
    # With two names the second is what was to be made.
    name = error.filename2 or error.filename
    file = Path(os.fsdecode(name)) if isinstance(name, str | bytes | os.PathLike) else None
    return LabError(
        f"{file} cannot be used" if file else "a file of the lab cannot be used",
        why=_CAUSES.get(number) or error.strerror or str(error) or type(error).__name__,
        advice=_ADVICE.get(
            number, "Mend that; if it stays so, run `tally lab down`, then `tally lab up`"
        ),
        log=file,
    )
