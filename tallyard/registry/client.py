"""The one place that opens a connection to a registry.

It reads one manifest by its tag, as the OCI distribution specification says, without a
login: a token for everybody is fetched where the registry asks for one. Whatever fails
becomes one `RegistryError`; nothing of httpx2's is raised to a caller.
"""

from __future__ import annotations

import json
import re
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from types import TracebackType
from typing import Self

import httpx2

from tallyard.registry import challenge, manifest, refusal
from tallyard.registry.faults import TRANSIENT, Fault, RegistryError
from tallyard.registry.manifest import Artifact
from tallyard.registry.reference import Reference, is_loopback


@dataclass(frozen=True)
class Limits:
    """How long and how much. `lookup_seconds` bounds one pin with all its requests."""

    connect_seconds: float = 10.0
    read_seconds: float = 20.0
    lookup_seconds: float = 60.0
    attempts: int = 3
    pause_seconds: float = 1.0
    # Registries take manifests of up to 4 MiB (OCI distribution specification 1.1, "Pushing
    # Manifests"), so nothing that was ever pushed is larger.
    body_bytes: int = 4 * 1024 * 1024
    # Registry, mirror, storage, and a token for each of the first two; more is a circle.
    hops: int = 8


class RegistryClient:
    """Looks up digests. Use it as a context manager; it keeps connections open.

    Args:
        limits: The bounds; the defaults suit a person who waits.
        tls: Whom to trust; None trusts whom the machine (or SSL_CERT_FILE) trusts.

    Raises:
        RegistryError: When the environment's certificates or proxies cannot be used.
    """

    def __init__(self, limits: Limits | None = None, tls: ssl.SSLContext | None = None) -> None:
        self._limits = limits or Limits()
        self._http = _open(tls)

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the sockets back."""
        self._http.close()

    def digest(self, reference: Reference, artifact: Artifact) -> str:
        """Return the digest that a tag names now, as `sha256:` and 64 hexadecimal digits.

        Raises:
            RegistryError: When the registry cannot be asked, does not have it, or sends
                something that must not be pinned.
        """
        answer = _Lookup(self._http, self._limits, reference).manifest()
        return manifest.digest(
            str(reference),
            artifact,
            answer.body,
            content_type=answer.headers.get("content-type", ""),
            claimed=answer.headers.get("docker-content-digest"),
        )


def _open(tls: ssl.SSLContext | None) -> httpx2.Client:
    try:
        return httpx2.Client(
            verify=tls or True,
            headers={"User-Agent": f"tallyard/{version('tallyard')}"},
            # We follow redirects ourselves: the library would go from https to http.
            follow_redirects=False,
            # A proxy of the environment is never asked for this very machine.
            mounts={f"all://{host}": None for host in ("localhost", "127.0.0.1", "[::1]")},
        )
    # A missing file, a file without certificates, an address that is none, and a kind of
    # proxy whose library is not installed.
    except (OSError, ValueError, httpx2.InvalidURL, ImportError) as error:
        raise RegistryError(Fault.ENVIRONMENT, "environment", refusal.one_line(error)) from error


@dataclass(frozen=True)
class _Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes


class _Lookup:
    """The requests for one pin: they share a deadline and the tokens they were given."""

    def __init__(self, http: httpx2.Client, limits: Limits, reference: Reference) -> None:
        self._http = http
        self._limits = limits
        self._reference = reference
        self._where = str(reference)
        self._deadline = time.monotonic() + limits.lookup_seconds
        # A token is shown only to the host that asked for one, so that a redirect (to
        # somebody's storage) never carries it.
        self._tokens: dict[httpx2.Origin, str] = {}

    def manifest(self) -> _Answer:
        """Return the answer with the manifest, trying again where that can help."""
        pause = self._limits.pause_seconds
        for attempt in range(1, self._limits.attempts + 1):
            try:
                return self._follow(self._reference.manifest_url, manifest.ACCEPT)
            except RegistryError as error:
                wait = error.wait_seconds or pause
                last = attempt == self._limits.attempts or error.fault not in TRANSIENT
                if last or wait > self._remaining_seconds():
                    raise
            time.sleep(wait)
            pause *= 2
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _follow(self, address: str, accept: str, *, for_token: bool = False) -> _Answer:
        url = self._allowed(address)
        for _ in range(self._limits.hops):
            answer = self._get(url, accept)
            if answer.status == httpx2.codes.UNAUTHORIZED and not for_token:
                self._fetch_token(url, answer)
            elif httpx2.codes.is_redirect(answer.status) and "location" in answer.headers:
                url = self._allowed(answer.headers["location"], url)
            elif answer.status == httpx2.codes.OK:
                return answer
            else:
                raise self._refusal(url, answer, for_token=for_token)
        raise self._error(Fault.REDIRECT, f"more than {self._limits.hops} requests in a row")

    def _get(self, url: httpx2.URL, accept: str) -> _Answer:
        # A digest is over the content as it was pushed: no compression on the way.
        headers = {"Accept": accept, "Accept-Encoding": "identity"}
        if url.origin in self._tokens:
            headers["Authorization"] = f"Bearer {self._tokens[url.origin]}"
        timeout = httpx2.Timeout(
            min(self._limits.read_seconds, self._remaining_seconds()),
            connect=min(self._limits.connect_seconds, self._remaining_seconds()),
        )
        with (
            self._explained(url.host),
            self._http.stream("GET", url, headers=headers, timeout=timeout) as response,
        ):
            return _Answer(response.status_code, response.headers, self._body(response))

    def _body(self, response: httpx2.Response) -> bytes:
        body = bytearray()
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > self._limits.body_bytes:
                raise self._error(Fault.TOO_LARGE, f"over {self._limits.body_bytes} bytes")
            # The read timeout starts anew with each piece; this ends a trickle.
            if time.monotonic() > self._deadline:
                raise self._error(Fault.TIMEOUT, f"over {self._limits.lookup_seconds:g} s")
        return bytes(body)

    def _fetch_token(self, url: httpx2.URL, answer: _Answer) -> None:
        asked = challenge.parse(answer.headers.get("www-authenticate", ""))
        if asked is None or url.origin in self._tokens:
            raise self._refusal(url, answer)
        scope = asked.scope or f"repository:{self._reference.name}:pull"
        query = {"scope": scope} | ({"service": asked.service} if asked.service else {})
        with self._explained(asked.realm):
            address = self._allowed(asked.realm, url).copy_merge_params(query)
        given = self._follow(str(address), "application/json", for_token=True)
        self._tokens[url.origin] = self._token(address, given.body)

    def _token(self, url: httpx2.URL, body: bytes) -> str:
        try:
            said = json.loads(body)
            token = said.get("token") or said.get("access_token")
        except (ValueError, AttributeError, RecursionError):
            token = None
        # Visible ASCII only: a line break would write a header of its own.
        if not isinstance(token, str) or not re.fullmatch(r"[\x21-\x7e]+", token):
            raise self._error(Fault.REFUSED, f"{url.host} gave no token that can be used")
        return token

    def _allowed(self, address: str, base: httpx2.URL | None = None) -> httpx2.URL:
        """Return an absolute address that may be asked: https, or this machine to itself."""
        with self._explained(address):
            url = base.join(address) if base else httpx2.URL(address)
        to_itself = self._reference.is_local and is_loopback(url.host)
        if url.host and (url.scheme == "https" or (url.scheme == "http" and to_itself)):
            return url
        raise self._error(Fault.REDIRECT, f"to {refusal.one_line(url)}")

    def _refusal(
        self, url: httpx2.URL, answer: _Answer, *, for_token: bool = False
    ) -> RegistryError:
        detail = f"{url.host} answered {answer.status}{refusal.reason(answer.body)}"
        seconds = refusal.wait_seconds(answer.headers)
        if seconds:
            detail += f", wait {seconds:g} s"
        fault = refusal.of_status(answer.status)
        if for_token:
            # Without its token service nothing can be said about the version.
            fault = Fault.REFUSED if fault is Fault.NOT_FOUND else fault
            detail = f"asked for a token, {detail}"
        return self._error(fault, detail, seconds)

    def _remaining_seconds(self) -> float:
        # Never quite nothing: the sockets read 0 as "do not block".
        return max(self._deadline - time.monotonic(), 0.001)

    def _error(self, fault: Fault, detail: str, wait: float | None = None) -> RegistryError:
        return RegistryError(fault, self._where, detail, wait_seconds=wait)

    @contextmanager
    def _explained(self, place: str) -> Iterator[None]:
        where = refusal.one_line(place)
        try:
            yield
        except httpx2.TimeoutException as error:
            raise self._error(Fault.TIMEOUT, f"{where} was silent for too long") from error
        except httpx2.HTTPError as error:
            fault, why = refusal.of_connection(error)
            raise self._error(fault, f"{where}: {why}") from error
        # A name that no host can have, or a port beyond the last, is found out by the socket.
        except (httpx2.InvalidURL, ValueError, OverflowError) as error:
            raise self._error(Fault.REDIRECT, f"{where}: {refusal.one_line(error)}") from error
