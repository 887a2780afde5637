"""What can go wrong between us and a registry, as a person reads it.

One exception, `RegistryError`; its `fault` says which case it is, its parts say where, what,
why and what to do. Nothing here does I/O.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Fault(StrEnum):
    """The cases that a person can do something different about."""

    ENVIRONMENT = "environment"
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    TLS = "tls"
    BROKEN = "broken"
    REDIRECT = "redirect"
    NOT_FOUND = "not-found"
    DENIED = "denied"
    BUSY = "busy"
    SERVER = "server"
    REFUSED = "refused"
    TOO_LARGE = "too-large"
    NOT_A_MANIFEST = "not-a-manifest"
    NOT_A_CHART = "not-a-chart"
    WRONG_DIGEST = "wrong-digest"


# What a second request can mend. A timeout is not among them: the person has waited already.
TRANSIENT = frozenset({Fault.UNREACHABLE, Fault.BROKEN, Fault.BUSY, Fault.SERVER})


class RegistryError(Exception):
    """A registry could not be asked, or did not give what was asked.

    Args:
        fault: The case.
        where: What was looked up, as a person writes it.
        detail: What was seen, in one clause.
        wait_seconds: How long the registry asks us to wait before the next request.
    """

    def __init__(
        self, fault: Fault, where: str, detail: str, *, wait_seconds: float | None = None
    ) -> None:
        self.fault = fault
        self.where = where
        self.detail = detail
        self.wait_seconds = wait_seconds
        super().__init__(fault, where, detail)

    @property
    def what(self) -> str:
        """Return what happened, in one clause."""
        return _TEXTS[self.fault][0]

    @property
    def todo(self) -> str:
        """Return what to do about it, as one sentence."""
        return _TEXTS[self.fault][1]

    def __str__(self) -> str:
        """Return all four parts as one line."""
        return f"{self.where}: {self.what} ({self.detail}). {self.todo}"


_TEXTS: Mapping[Fault, tuple[str, str]] = {
    Fault.ENVIRONMENT: (
        "no connection can be made with these settings",
        "Correct SSL_CERT_FILE, SSL_CERT_DIR or the proxy variables (HTTPS_PROXY, ALL_PROXY).",
    ),
    Fault.UNREACHABLE: (
        "the registry cannot be reached",
        "Check the network, and HTTPS_PROXY if there is a proxy, then run it again.",
    ),
    Fault.TIMEOUT: (
        "the registry did not answer in time",
        "Run it again; when it stays so, the way to the registry is slow or blocked.",
    ),
    Fault.TLS: (
        "no trusted connection to the registry",
        "If a proxy of yours signs certificates, name its authority in SSL_CERT_FILE; otherwise do not trust this network.",
    ),
    Fault.BROKEN: (
        "the registry broke off its answer",
        "Run it again; when it stays so, something between you and the registry is at fault.",
    ),
    Fault.REDIRECT: (
        "the registry sends us where we do not go",
        "Check `source`; only https is followed (plain http on this machine alone).",
    ),
    Fault.NOT_FOUND: (
        "there is no such version in the registry",
        "Check `source` and `version`: an image's version is its tag, often with a leading v.",
    ),
    Fault.DENIED: (
        "the registry does not show it to everybody",
        "Check `source`: many registries answer so for a name that does not exist. Pins are looked up without a login, so a private source needs a public mirror.",
    ),
    Fault.BUSY: (
        "the registry takes no more requests for now",
        "Wait as long as it asks, then run it again.",
    ),
    Fault.SERVER: (
        "the registry has a fault of its own",
        "Run it again later; its status page may say more.",
    ),
    Fault.REFUSED: (
        "the registry refused the request",
        "Check that `source` is an OCI registry and names the repository in full.",
    ),
    Fault.TOO_LARGE: (
        "the answer is larger than a manifest may be",
        "Check `source`: what answers there is not an OCI registry.",
    ),
    Fault.NOT_A_MANIFEST: (
        "what came back is not a manifest",
        "Check `source`; on a network with a login page, log in first.",
    ),
    Fault.NOT_A_CHART: (
        "what is there is not a Helm chart",
        "Check `source`: charts and images of one product often have names alike.",
    ),
    Fault.WRONG_DIGEST: (
        "the registry's digest is not that of the content it sent",
        "Do not pin it: something changed the content on its way. Try another network, and tell the registry's owner when it stays so.",
    ),
}
