"""A registry on a free port of this machine that speaks the OCI distribution protocol.

It holds manifests by repository and tag, and blobs, can ask for a token, send elsewhere, answer
slowly or wrongly, and remembers every request.
"""

from __future__ import annotations

import hashlib
import io
import json
import ssl
import tarfile
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs, urlsplit

import yaml

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
HELM_CONFIG = "application/vnd.cncf.helm.config.v1+json"
HELM_LAYER = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
TOKEN_PATH = "/token"  # noqa: S105  a path, no secret


@dataclass(frozen=True)
class Content:
    """What a tag names."""

    body: bytes
    media_type: str

    @property
    def digest(self) -> str:
        """Return the digest as a registry sends it."""
        return f"sha256:{hashlib.sha256(self.body).hexdigest()}"


def image_index(text: str = "one") -> Content:
    """Return an index; two texts give two digests."""
    entry = {"mediaType": MANIFEST, "digest": "sha256:" + "0" * 64, "size": 1}
    index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [entry]}
    return Content(json.dumps(index | {"annotations": {"text": text}}).encode(), INDEX)


def manifest(config: str = HELM_CONFIG) -> Content:
    """Return a manifest whose config has a media type; the default is a chart's."""
    body = {"schemaVersion": 2, "mediaType": MANIFEST, "config": {"mediaType": config}}
    return Content(json.dumps(body, indent=3).encode(), MANIFEST)


@dataclass(frozen=True)
class Request:
    """What a client asked."""

    path: str
    headers: Mapping[str, str]
    query: Mapping[str, list[str]]


@dataclass(frozen=True)
class Answer:
    """An answer that stands in for the true one."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


class FakeRegistry:
    """A running registry; its public attributes may be changed between requests.

    `demands` is a token that it asks for; `realm` names another place to get it. `mirror` is
    a base address to which it sends for manifests. `claimed` is sent in place of the true
    digest. `instead` are answers given first, one a request. `trickle_seconds` is the pause
    after each byte of a body, `hang` holds an answer back until the registry ends.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.contents: dict[tuple[str, str], Content] = {}
        self.blobs: dict[str, bytes] = {}
        self.requests: list[Request] = []
        self.instead: deque[Answer] = deque()
        self.demands: str | None = None
        self.realm: str | None = None
        self.mirror: str | None = None
        self.claimed: str | None = None
        self.sends_digest = True
        self.trickle_seconds = 0.0
        self.hang = False
        self.ended = threading.Event()
        self._server = ThreadingHTTPServer(
            ("127.0.0.1", 0), type("Handler", (_Handler,), {"registry": self})
        )
        self._server.daemon_threads = True
        self._scheme = "https" if tls else "http"
        if tls:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def host(self) -> str:
        """Return host and port, as they stand in a source."""
        return f"127.0.0.1:{self._server.server_port}"

    @property
    def url(self) -> str:
        """Return the base address."""
        return f"{self._scheme}://{self.host}"

    def put(self, name: str, tag: str, content: Content) -> Content:
        """Make a tag name some content from now on, and return it."""
        self.contents[name, tag] = content
        return content

    def put_chart(self, name: str, folder: Path) -> Content:
        """Pack a chart's folder as Helm pushes it, and return the manifest that names it."""
        about = yaml.safe_load((folder / "Chart.yaml").read_text("utf-8"))
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            archive.add(folder, arcname=about["name"])
        body = {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": self._blob(json.dumps(about).encode(), HELM_CONFIG),
            "layers": [self._blob(packed.getvalue(), HELM_LAYER)],
        }
        content = Content(json.dumps(body).encode(), MANIFEST)
        return self.put(name, content.digest, content)

    def _blob(self, body: bytes, media_type: str) -> dict[str, str | int]:
        digest = Content(body, media_type).digest
        self.blobs[digest] = body
        return {"mediaType": media_type, "digest": digest, "size": len(body)}

    def asked(self, path: str) -> tuple[Request, ...]:
        """Return the requests for one path."""
        return tuple(request for request in self.requests if request.path == path)

    def __enter__(self) -> Self:
        """Start to serve."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let go whoever waits, and end."""
        self.ended.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, request: Request) -> Answer:
        """Return what a request gets."""
        self.requests.append(request)
        if self.hang:
            self.ended.wait()
        if self.instead:
            return self.instead.popleft()
        if request.path == TOKEN_PATH:
            return Answer(200, body=json.dumps({"token": self.demands}).encode())
        if self.demands and request.headers.get("authorization") != f"Bearer {self.demands}":
            return self._challenge(request)
        if self.mirror:
            return Answer(307, {"Location": f"{self.mirror}{request.path}"})
        return self._content(request)

    def _challenge(self, request: Request) -> Answer:
        name = request.path.removeprefix("/v2/").partition("/manifests/")[0]
        realm = self.realm or f"{self.url}{TOKEN_PATH}"
        challenge = f'Bearer realm="{realm}",service="fake",scope="repository:{name}:pull"'
        return Answer(401, {"WWW-Authenticate": challenge}, _errors("UNAUTHORIZED", "log in"))

    def _content(self, request: Request) -> Answer:
        if "/blobs/" in request.path:
            blob = self.blobs.get(request.path.rpartition("/")[2])
            return Answer(404) if blob is None else Answer(200, body=blob)
        name, _, tag = request.path.removeprefix("/v2/").partition("/manifests/")
        content = self.contents.get((name, tag))
        if content is None:
            return Answer(404, body=_errors("MANIFEST_UNKNOWN", "manifest unknown"))
        if content.media_type not in request.headers.get("accept", ""):
            return Answer(404, body=_errors("MANIFEST_UNKNOWN", "not in an accepted form"))
        digest = {"Docker-Content-Digest": self.claimed or content.digest}
        headers = {"Content-Type": content.media_type} | (digest if self.sends_digest else {})
        return Answer(200, headers, content.body)


def _errors(code: str, message: str) -> bytes:
    return json.dumps({"errors": [{"code": code, "message": message}]}).encode()


class _Handler(BaseHTTPRequestHandler):
    """Answers for the registry that its subclass names."""

    registry: FakeRegistry
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._do()

    def do_HEAD(self) -> None:
        self._do(has_body=False)

    def _do(self, *, has_body: bool = True) -> None:
        parts = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.registry.answer(Request(parts.path, headers, parse_qs(parts.query)))
        try:
            self._send(answer, has_body=has_body)
        except OSError:
            # The client has had enough, which is what some tests are about.
            self.close_connection = True

    def _send(self, answer: Answer, *, has_body: bool) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if "Content-Length" not in answer.headers:
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if not has_body:
            return
        if not self.registry.trickle_seconds:
            self.wfile.write(answer.body)
            # A longer length was announced: end here, in the middle of the body.
            self.close_connection = "Content-Length" in answer.headers
            return
        for byte in answer.body:
            self.wfile.write(bytes((byte,)))
            if self.registry.ended.wait(self.registry.trickle_seconds):
                return

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Keep the tests' output quiet."""
