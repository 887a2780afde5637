"""Serving over HTTP: a port with a thread, and what all that is answered has in common.

What can be asked of a port is its handler's: `health` here, a user's account in `people/api.py`.
"""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

# Whoever opens a connection and says nothing is let go.
_SILENCE_SECONDS_MAX = 5.0
_TEXT = "text/plain; charset=utf-8"

type Check = Callable[[], bool]


class Answering(BaseHTTPRequestHandler):
    """One who asks; no line is written of it."""

    timeout = _SILENCE_SECONDS_MAX

    def answer(self, status: HTTPStatus, body: bytes, kind: str, **headers: str) -> None:
        """Send a whole answer.

        Args:
            status: The status.
            body: What is said.
            kind: Its media type.
            headers: More headers, with `_` for `-`.
        """
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Write nothing."""


class Server:
    """Serves in a thread; the port is bound when this returns."""

    def __init__(
        self,
        address: tuple[str, int],
        handler: type[Answering],
        name: str,
        tls: Path | None = None,
    ) -> None:
        """Listen.

        Args:
            address: the host's address and the port, 0 for any.
            handler: what is answered.
            name: the thread's.
            tls: the folder with `tls.crt` and `tls.key`; None for plain HTTP.

        Raises:
            OSError: The port is another program's, or the certificate cannot be read.
        """
        self._http = ThreadingHTTPServer(address, handler)
        self._http.daemon_threads = True
        if tls is not None:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(tls / "tls.crt", tls / "tls.key")
            # The handshake is the handler's thread's, so that who is silent holds up nobody.
            self._http.socket = context.wrap_socket(
                self._http.socket, server_side=True, do_handshake_on_connect=False
            )
        threading.Thread(target=self._http.serve_forever, name=name, daemon=True).start()

    @property
    def port(self) -> int:
        """Return the port."""
        return int(self._http.server_address[1])

    def stop(self) -> None:
        """Serve no more."""
        self._http.shutdown()
        self._http.server_close()


def health(registry: CollectorRegistry, checks: Mapping[str, Check]) -> type[Answering]:
    """Return what answers /metrics and, by path, whether all is well.

    Args:
        registry: the metrics.
        checks: by path, whether all is well.
    """

    class Health(Answering):
        def do_GET(self) -> None:
            if self.path == "/metrics":
                self.answer(HTTPStatus.OK, generate_latest(registry), CONTENT_TYPE_LATEST)
            elif self.path not in checks:
                self.answer(HTTPStatus.NOT_FOUND, b"not found\n", _TEXT)
            elif checks[self.path]():
                self.answer(HTTPStatus.OK, b"ok\n", _TEXT)
            else:
                self.answer(HTTPStatus.SERVICE_UNAVAILABLE, b"not well\n", _TEXT)

    return Health
