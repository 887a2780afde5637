"""Health and metrics over HTTP: /healthz, /readyz, /metrics."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

# Whoever opens a connection and says nothing is let go.
_SILENCE_SECONDS_MAX = 5.0
_TEXT = "text/plain; charset=utf-8"

type Check = Callable[[], bool]


class Server:
    """Serves in a thread; the port is bound when this returns."""

    def __init__(
        self, address: tuple[str, int], registry: CollectorRegistry, checks: Mapping[str, Check]
    ) -> None:
        """Listen.

        Args:
            address: the host's address and the port, 0 for any.
            registry: the metrics.
            checks: by path, whether all is well.

        Raises:
            OSError: The port is another program's.
        """
        self._http = ThreadingHTTPServer(address, _handler(registry, checks))
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, name="http", daemon=True).start()

    @property
    def port(self) -> int:
        """Return the port."""
        return int(self._http.server_address[1])

    def stop(self) -> None:
        """Serve no more."""
        self._http.shutdown()
        self._http.server_close()


def _handler(
    registry: CollectorRegistry, checks: Mapping[str, Check]
) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = _SILENCE_SECONDS_MAX

        def do_GET(self) -> None:
            if self.path == "/metrics":
                self._answer(HTTPStatus.OK, generate_latest(registry), CONTENT_TYPE_LATEST)
            elif self.path not in checks:
                self._answer(HTTPStatus.NOT_FOUND, b"not found\n", _TEXT)
            elif checks[self.path]():
                self._answer(HTTPStatus.OK, b"ok\n", _TEXT)
            else:
                self._answer(HTTPStatus.SERVICE_UNAVAILABLE, b"not well\n", _TEXT)

        def _answer(self, status: HTTPStatus, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler
