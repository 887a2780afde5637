"""From what a registry (or the way to it) did to the fault that a person reads. Pure."""

from __future__ import annotations

import json
import ssl
from collections.abc import Mapping

import httpx2

from tallyard import failures
from tallyard.registry.faults import Fault

# What an error of the registry's may take of our line.
_REASON_LENGTH_MAX = 200


def of_status(status: int) -> Fault:
    """Return the case of an HTTP status that is neither a success nor followed."""
    if status in (httpx2.codes.UNAUTHORIZED, httpx2.codes.FORBIDDEN):
        return Fault.DENIED
    if status == httpx2.codes.NOT_FOUND:
        return Fault.NOT_FOUND
    if status == httpx2.codes.TOO_MANY_REQUESTS:
        return Fault.BUSY
    return Fault.SERVER if httpx2.codes.is_server_error(status) else Fault.REFUSED


def of_connection(error: httpx2.HTTPError) -> tuple[Fault, str]:
    """Return the case of a request without a full answer (no timeout), and what was seen."""
    for cause in failures.causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return Fault.TLS, cause.verify_message
        if isinstance(cause, ssl.SSLError):
            return Fault.TLS, cause.reason or one_line(cause)
    why = one_line(error) or type(error).__name__
    if isinstance(error, httpx2.ConnectError | httpx2.ProxyError):
        return Fault.UNREACHABLE, why
    return Fault.BROKEN, why


def wait_seconds(headers: Mapping[str, str]) -> float | None:
    """Return how long a Retry-After header asks us to wait; None for its form as a date."""
    wait = headers.get("retry-after", "")
    return float(wait) if wait.isascii() and wait.isdigit() else None


def reason(body: bytes) -> str:
    """Return the first error of the specification's list of errors, as `, CODE: message`."""
    try:
        first = json.loads(body)["errors"][0]
        said = ": ".join(str(first[k]) for k in ("code", "message") if first.get(k))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return ""
    return f", {one_line(said)}" if said else ""


def one_line(text: object) -> str:
    """Return text from outside as one short line that cannot steer a terminal."""
    return failures.one_line(text, _REASON_LENGTH_MAX)
