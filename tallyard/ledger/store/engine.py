"""A database that keeps what it says it has kept: SQLite in a file, or PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from tallyard.ledger.store.faults import StoreError, UnavailableError, told

# How long a writer waits for the one before it; a group commits in some milliseconds.
WAIT_SECONDS_MAX = 30
_READS = "tallyard_reads"
_SQLITE, _POSTGRESQL = "sqlite", "postgresql+psycopg"


def engine_of(address: str | Path) -> Engine:
    """Return the engine of a store; nothing is opened yet.

    Args:
        address: A file for SQLite, or a PostgreSQL address such as
            `postgresql://user@host/name`; a password belongs into `PGPASSWORD` or a pgpass file.

    Raises:
        StoreError: The address is of neither.
    """
    url = _url(address)
    if url.drivername == _SQLITE:
        engine = create_engine(url)
        event.listen(engine, "connect", _open_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    # Who waited for the head has to see what was written meanwhile, whatever the server's default.
    engine = create_engine(url, pool_pre_ping=True, isolation_level="READ COMMITTED")
    event.listen(engine, "connect", _open_postgresql)
    return engine


@contextmanager
def writes(engine: Engine) -> Iterator[Connection]:
    """Give a connection in a transaction that nobody else writes beside.

    Raises:
        StoreError: What the database said, as an error of the store.
    """
    with told(), engine.begin() as connection:
        yield connection


@contextmanager
def reads(engine: Engine) -> Iterator[Connection]:
    """Give a connection that sees the store as it is at one moment, and does not hold it up.

    Raises:
        StoreError: What the database said, as an error of the store.
    """
    options: dict[str, Any] = {_READS: True}
    if engine.dialect.name != _SQLITE:
        options["isolation_level"] = "REPEATABLE READ"
    with told(), engine.connect().execution_options(**options) as connection, connection.begin():
        if not is_sqlite(engine):
            # Whoever reads holds nobody up, and may be as slow as the pager that it writes to.
            connection.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")
        yield connection


def is_sqlite(engine: Engine | Connection) -> bool:
    """Say whether the store is a file of SQLite's."""
    return engine.dialect.name == _SQLITE


def _url(address: str | Path) -> URL:
    if isinstance(address, Path) or "://" not in address:
        return URL.create(_SQLITE, database=str(address))
    try:
        url = make_url(address)
    except (ArgumentError, ValueError) as error:
        raise UnavailableError("it is no address such as postgresql://user@host/name") from error
    if "@" in (url.host or ""):
        raise UnavailableError("its host has an @ in it; one in a password is written %40")
    kind = url.get_backend_name()
    if kind not in (_SQLITE, "postgresql"):
        raise StoreError(f"{kind!r} is neither sqlite nor postgresql")
    return url.set(drivername=_SQLITE if kind == _SQLITE else _POSTGRESQL)


def _open_sqlite(connection: Any, _: Any) -> None:
    # SQLAlchemy begins and ends the transactions, not the driver.
    connection.isolation_level = None
    # Readers do not hold up the writer; each commit is on the disk before it is answered.
    for pragma in (
        f"busy_timeout = {WAIT_SECONDS_MAX * 1000}",
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
    ):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: Connection) -> None:
    reads = connection.get_execution_options().get(_READS, False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


def _open_postgresql(connection: Any, _: Any) -> None:
    # Whatever the server's default is.
    for setting in (
        "synchronous_commit = on",
        f"lock_timeout = '{WAIT_SECONDS_MAX}s'",
        # One that holds the head and is cut off, or hangs, lets the others go on after this.
        f"idle_in_transaction_session_timeout = '{WAIT_SECONDS_MAX}s'",
    ):
        connection.execute(f"SET {setting}")
    connection.commit()
