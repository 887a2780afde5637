"""What is looked up: a registry, a repository in it, and a tag. Parsing only, no I/O.

Nothing is guessed: a source without a registry's host is refused, because the guess (one
company's registry) would decide what runs on a cluster.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

CHART_SCHEME = "oci://"

# The grammar of the OCI distribution specification 1.1, "Pulling manifests"; a host must
# show that it is one by a dot, a port or being localhost, as container tools tell them apart.
_HOST = re.compile(
    r"(?:localhost|\[[0-9A-Fa-f:]+\]|[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+|[A-Za-z0-9-]+(?=:))"
    r"(?::[0-9]{1,5})?"
)
_WORD = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_NAME = re.compile(rf"{_WORD}(?:/{_WORD})*")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")


class SourceError(ValueError):
    """A pin's source or version cannot be looked up; the text says why and what to do."""


@dataclass(frozen=True)
class Reference:
    """One tag of one repository, e.g. `registry.example.com` `kueue/kueue` `v0.17.0`."""

    host: str
    name: str
    tag: str

    def __str__(self) -> str:
        """Return it as container tools write it."""
        return f"{self.host}/{self.name}:{self.tag}"

    @property
    def is_local(self) -> bool:
        """Return whether the registry runs on this machine."""
        return is_loopback(urlsplit(f"//{self.host}").hostname or "")

    @property
    def manifest_url(self) -> str:
        """Return where the manifest is; plain http only for a registry on this machine."""
        scheme = "http" if self.is_local else "https"
        return f"{scheme}://{self.host}/v2/{self.name}/manifests/{self.tag}"


def image(source: str, version: str) -> Reference:
    """Return the reference of an image.

    Args:
        source: Host and repository, e.g. `registry.example.com/kueue/kueue`.
        version: The tag.

    Raises:
        SourceError: When the two do not name one tag of one repository.
    """
    if "://" in source:
        raise SourceError(f'"{source}" has a scheme: an image is written host/repository')
    return _reference(source, version)


def chart(source: str, version: str) -> Reference:
    """Return the reference of a Helm chart.

    Args:
        source: `oci://`, then host and repository.
        version: The chart's version. A tag cannot hold the `+` of build metadata, so Helm
            stores it as `_`; so do we.

    Raises:
        SourceError: When the two do not name one tag of one repository.
    """
    if not source.startswith(CHART_SCHEME):
        raise SourceError(f'"{source}" is not in an OCI registry: write {CHART_SCHEME}host/path')
    return _reference(source.removeprefix(CHART_SCHEME), version.replace("+", "_"))


def is_loopback(host: str) -> bool:
    """Return whether a host (no port, no brackets) is this very machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _reference(source: str, tag: str) -> Reference:
    host, _, name = source.partition("/")
    if not _HOST.fullmatch(host) or not name:
        raise SourceError(
            f'"{source}" does not begin with a registry: write its host in full, '
            "e.g. registry.example.com/team/app"
        )
    try:
        urlsplit(f"//{host}").port  # noqa: B018  it is read for its check of the range
    except ValueError as error:
        raise SourceError(f'"{host}" names no port: {error}') from error
    if ":" in name or "@" in name:
        raise SourceError(f'"{source}" ends in a tag or a digest: these belong into their own keys')
    if not _NAME.fullmatch(name):
        raise SourceError(
            f'"{name}" is no repository: only a-z, 0-9 and single . _ - or / between them'
        )
    if not _TAG.fullmatch(tag):
        raise SourceError(
            f'"{tag}" is no version: up to 128 of A-Z, a-z, 0-9, . _ -, the first no . or -'
        )
    return Reference(host, name, tag)
