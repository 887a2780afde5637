"""What the exit code says. The numbers are those of the Pulumi CLI, which stands beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from tallyard.cluster.faults import Fault


class ExitCode(IntEnum):
    """How a command ended."""

    OK = 0
    FAILED = 1
    USAGE = 2
    AUTH = 3
    APPLY_FAILED = 4
    POLICY = 5
    NOT_FOUND = 6
    CHANGES = 7
    CANCELLED = 8
    TIMEOUT = 9
    BUG = 255


MEANINGS: Mapping[ExitCode, str] = {
    ExitCode.OK: "done",
    ExitCode.FAILED: "failed, for a reason that no other code names",
    ExitCode.USAGE: "the command line or the spec is wrong",
    ExitCode.AUTH: "no kubeconfig, or the cluster does not let you",
    ExitCode.APPLY_FAILED: "the cluster did not take what was applied",
    ExitCode.POLICY: "a policy refused",
    ExitCode.NOT_FOUND: "what was named is not there",
    ExitCode.CHANGES: "there are changes where none were expected",
    ExitCode.CANCELLED: "cancelled (Ctrl-C)",
    ExitCode.TIMEOUT: "no answer in time",
    ExitCode.BUG: "a fault of ours; a report was written",
}

_OF_FAULT: Mapping[Fault, ExitCode] = {
    Fault.NO_KUBECONFIG: ExitCode.AUTH,
    Fault.BAD_KUBECONFIG: ExitCode.AUTH,
    Fault.NO_CONTEXT: ExitCode.AUTH,
    Fault.UNREACHABLE: ExitCode.FAILED,
    Fault.TIMEOUT: ExitCode.TIMEOUT,
    Fault.SERVER_CERTIFICATE: ExitCode.AUTH,
    Fault.UNAUTHORIZED: ExitCode.AUTH,
    Fault.EXPIRED: ExitCode.AUTH,
    Fault.FORBIDDEN: ExitCode.AUTH,
    Fault.NOT_FOUND: ExitCode.NOT_FOUND,
    Fault.NO_SUCH_KIND: ExitCode.NOT_FOUND,
    Fault.NO_PROJECT: ExitCode.NOT_FOUND,
    Fault.BAD_PROJECT: ExitCode.USAGE,
    Fault.NOT_YOURS: ExitCode.AUTH,
    Fault.LAB_DOWN: ExitCode.AUTH,
    Fault.TOO_MANY_PROJECTS: ExitCode.FAILED,
    Fault.CONFLICT: ExitCode.FAILED,
    Fault.REFUSED: ExitCode.FAILED,
    Fault.SERVER_FAILED: ExitCode.FAILED,
}


def of_fault(fault: Fault) -> ExitCode:
    """Return the code for a failed request to a cluster."""
    return _OF_FAULT[fault]
