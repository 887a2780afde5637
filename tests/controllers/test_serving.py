"""What is served is served over TLS where there is a certificate, and whoever is silent holds up nobody."""

from __future__ import annotations

import datetime as dt
import http.client
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from lab import certificates
from tallyard.controllers.serving import Server, health

NAME = "controllers.tallyard-system.svc"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Server]:
    """Health over TLS; the authority that signed its certificate is in `ca.crt`."""
    made = certificates.webhook(
        certificates.Webhook("controllers", "tallyard-system", NAME), dt.datetime.now(dt.UTC)
    )
    (tmp_path / "ca.crt").write_bytes(made.authority.certificate)
    (tmp_path / "tls.crt").write_bytes(made.server.certificate)
    (tmp_path / "tls.key").write_bytes(made.server.key)
    checks = {"/healthz": lambda: True, "/readyz": lambda: False}
    server = Server(("127.0.0.1", 0), health(CollectorRegistry(), checks), "test", tmp_path)
    yield server
    server.stop()


def _asked(server: Server, folder: Path, path: str) -> int:
    context = ssl.create_default_context(cafile=str(folder / "ca.crt"))
    with (
        socket.create_connection(("127.0.0.1", server.port), timeout=10) as plain,
        context.wrap_socket(plain, server_hostname=NAME) as secured,
    ):
        secured.sendall(f"GET {path} HTTP/1.0\r\n\r\n".encode())
        return int(secured.recv(64).split()[1])


def test_who_asks_can_see_whom_they_ask(served: Server, tmp_path: Path) -> None:
    assert _asked(served, tmp_path, "/healthz") == 200
    assert _asked(served, tmp_path, "/readyz") == 503
    assert _asked(served, tmp_path, "/else") == 404


def test_nothing_is_told_without_tls(served: Server) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=10)
    connection.request("GET", "/healthz")
    with pytest.raises((OSError, http.client.HTTPException)):
        connection.getresponse()
    connection.close()


def test_one_who_says_nothing_holds_up_nobody(served: Server, tmp_path: Path) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=10):
        assert _asked(served, tmp_path, "/healthz") == 200


def test_a_certificate_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"tls\.crt|No such file"):
        Server(("127.0.0.1", 0), health(CollectorRegistry(), {}), "test", tmp_path)
