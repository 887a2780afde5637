"""A small API server that answers what a test tells it, and kubeconfigs for it."""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass
class ApiServer:
    """`answers` is by path: a list's items, an object, or a status. All requests are kept.

    A watch is sent the `changes`, one each `delay_seconds`, and then nothing more.
    """

    url: str
    answers: dict[str, Any] = field(default_factory=dict)
    asked: list[tuple[str, str, Mapping[str, list[str]]]] = field(default_factory=list)
    delay_seconds: float = 0.0
    sent: list[Any] = field(default_factory=list)
    changes: list[tuple[str, Any]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)


# No test waits for longer on a server that says nothing.
_SILENCE_SECONDS_MAX = 10.0


def refusal(code: int, message: str, **details: str) -> dict[str, Any]:
    """Return a Status object as the API server writes it."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "code": code,
        "details": details,
    }


def _handler(server: ApiServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            parts = urlsplit(self.path)
            query = parse_qs(parts.query)
            server.asked.append((self.command, parts.path, query))
            time.sleep(server.delay_seconds)
            length = int(self.headers.get("Content-Length") or 0)
            sent = json.loads(self.rfile.read(length)) if length else None
            if sent is not None:
                server.sent.append(sent)
            if "watch" in query:
                self._watched()
                return
            found = server.answers.get(parts.path, sent)
            if found is None:
                found = refusal(404, "the server could not find the requested resource")
            if isinstance(found, list):
                found = _page(found, query)
            body = json.dumps(found).encode()
            self.send_response(found.get("code", 200) if found.get("kind") == "Status" else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _watched(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            with suppress(OSError):  # whoever watches may have seen enough
                for kind, item in server.changes:
                    line = json.dumps({"type": kind, "object": item})
                    self.wfile.write(f"{line}\n".encode())
                    time.sleep(server.delay_seconds)
                server.over.wait(_SILENCE_SECONDS_MAX)

        do_GET = do_PATCH = do_POST = do_PUT = _answer  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def _page(items: list[Any], query: Mapping[str, list[str]]) -> dict[str, Any]:
    limit = int(query.get("limit", ["0"])[0]) or len(items)
    start = int(query.get("continue", ["0"])[0])
    rest = start + limit < len(items)
    metadata = {"resourceVersion": "1", **({"continue": str(start + limit)} if rest else {})}
    return {"kind": "List", "metadata": metadata, "items": items[start : start + limit]}


@pytest.fixture
def api_server() -> Iterator[ApiServer]:
    """A server on a free port, over plain HTTP."""
    yield from _serve(lambda _: "http")


@pytest.fixture
def tls_api_server(tmp_path: Path) -> Iterator[ApiServer]:
    """A server on a free port, with a certificate that nobody trusts."""

    def wrap(http: ThreadingHTTPServer) -> str:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        file = tmp_path / "server.pem"
        file.write_bytes(certificate("localhost", datetime.now(UTC) + timedelta(days=1)))
        context.load_cert_chain(file)
        http.socket = context.wrap_socket(http.socket, server_side=True)
        return "https"

    yield from _serve(wrap)


def _serve(wrap: Callable[[ThreadingHTTPServer], str]) -> Iterator[ApiServer]:
    server = ApiServer("")
    http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(server))
    server.url = f"{wrap(http)}://127.0.0.1:{http.server_address[1]}"
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    yield server
    server.over.set()
    http.shutdown()
    http.server_close()
    thread.join()


def certificate(name: str, until: datetime) -> bytes:
    """Return a self-signed certificate and its key, as one PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    signed = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(until - timedelta(days=30))
        .not_valid_after(until)
        .sign(key, hashes.SHA256())
    )
    return signed.public_bytes(serialization.Encoding.PEM) + key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


type WriteKubeconfig = Callable[..., Path]


@pytest.fixture
def kubeconfig(tmp_path: Path) -> WriteKubeconfig:
    """Write a kubeconfig with one context."""

    def write(
        server: str,
        *,
        name: str = "demo",
        namespace: str | None = None,
        user: dict[str, Any] | None = None,
        cluster: dict[str, Any] | None = None,
    ) -> Path:
        context = {"cluster": name, "user": name} | ({"namespace": namespace} if namespace else {})
        path = tmp_path / f"{name}.kubeconfig"
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": name,
            "clusters": [{"name": name, "cluster": {"server": server, **(cluster or {})}}],
            "users": [{"name": name, "user": user or {"token": "secret"}}],
            "contexts": [{"name": name, "context": context}],
        }
        path.write_text(yaml.safe_dump(content))
        return path

    return write
