"""A database that keeps what it says it has kept: SQLite in a file, or PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from tallyard.ledger.store import whys
from tallyard.ledger.store.faults import AddressError, ReadOnlyError, UnavailableError, told

# How long a writer waits for the one before it; a group commits in some milliseconds.
WAIT_SECONDS_MAX = 30
# How long a server may take to answer at all: one that is busy does so within a second.
CONNECT_SECONDS_MAX = 10
_READS, _HAS_LOG = "tallyard_reads", "tallyard_has_log"
_SQLITE, _POSTGRESQL = "sqlite", "postgresql+psycopg"
_IN_MEMORY, _URI = ":memory:", "file:"
_READ_ONLY = {"mode": "ro"}


def engine_of(address: str | Path) -> Engine:
    """Return the engine of a store; nothing is opened yet.

    Whoever only reads changes nothing of a file, and may read one that may not be written.

    Args:
        address: A file for SQLite, or a PostgreSQL address such as
            `postgresql://user@host/name`; a password belongs into `PGPASSWORD` or a pgpass file.
            `sqlite:///ledger.db?mode=ro` is a file that this process never writes.

    Raises:
        AddressError: The address is of neither.
    """
    url = _url(address)
    try:
        return _sqlite(url) if url.drivername == _SQLITE else _postgresql(url)
    except SQLAlchemyError as error:
        raise AddressError(str(error)) from error


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
        return _of_a_file(URL.create(_SQLITE, database=str(address)))
    try:
        url = make_url(address)
    except (ArgumentError, ValueError) as error:
        raise AddressError(whys.NO_ADDRESS) from error
    if "@" in (url.host or ""):
        raise AddressError(whys.AT_IN_HOST)
    kind = url.get_backend_name()
    if kind == _SQLITE:
        return _of_a_file(url.set(drivername=_SQLITE))
    if kind != "postgresql":
        raise AddressError(whys.NEITHER(kind))
    return url.set(drivername=_POSTGRESQL)


def _of_a_file(url: URL) -> URL:
    """Refuse what would be kept in memory only, or in a file that nobody meant."""
    name = url.database or ""
    if url.host:
        raise AddressError(whys.HOST_OF_A_FILE(f"sqlite:///{url.host}/{name}".rstrip("/")))
    if not name:
        raise AddressError(whys.NO_FILE_NAMED)
    if name == _IN_MEMORY:
        raise AddressError(whys.IN_MEMORY)
    if name.startswith(_URI):
        raise AddressError(whys.NO_URI(_URI, name))
    if url.query and dict(url.query) != _READ_ONLY:
        raise AddressError(whys.ONE_OPTION)
    return url


def _sqlite(url: URL) -> Engine:
    engine = create_engine(url.set(query={}))
    is_read_only = bool(url.query)
    event.listen(engine, "do_connect", partial(_connect_sqlite, is_read_only=is_read_only))
    event.listen(engine, "connect", _open_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _connect_sqlite(
    _dialect: Any, _record: Any, names: list[str], options: dict[str, Any], *, is_read_only: bool
) -> None:
    """Let SQLite open a file that may not be written for reading only: else it fails halfway."""
    if how := _reading_only(names[0], is_read_only=is_read_only):
        names[0] = f"{_URI}{quote(os.fsencode(names[0]))}?{how}"
        options["uri"] = True


def _reading_only(name: str, *, is_read_only: bool) -> str:
    """Return how a file is to be opened for reading only; nothing where it may be written.

    Where no log can stand beside the file, and none does, nobody writes it now.
    """
    file = os.path.realpath(name)
    if not Path(file).exists():
        return ""
    is_folder_open = _may_write(str(Path(file).parent))
    is_open = _may_write(file) and (is_folder_open or _may_write(f"{file}-wal"))
    if is_open and not is_read_only:
        return ""
    has_log = any(Path(f"{file}{end}").exists() for end in ("-wal", "-journal"))
    return "mode=ro" if is_folder_open or has_log else "mode=ro&immutable=1"


def _may_write(path: str) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _open_sqlite(connection: Any, _: Any) -> None:
    # SQLAlchemy begins and ends the transactions, not the driver.
    connection.isolation_level = None
    # Each commit is on the disk before it is answered. None of these writes to the file.
    for pragma in (
        f"busy_timeout = {WAIT_SECONDS_MAX * 1000}",
        "synchronous = FULL",
        "foreign_keys = ON",
    ):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin_sqlite(connection: Connection) -> None:
    if connection.get_execution_options().get(_READS, False):
        connection.exec_driver_sql("BEGIN")
        return
    if not connection.info.get(_HAS_LOG):
        _keep_a_log(connection)
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _keep_a_log(connection: Connection) -> None:
    """Have a file written by way of a log, so that readers do not hold up the writer.

    It stays so for all who open it. Only a writer may do it: it changes the file.
    """
    mode = connection.exec_driver_sql("PRAGMA journal_mode = WAL").scalar_one()
    if mode != "wal" and _reading_only(connection.engine.url.database or "", is_read_only=False):
        raise ReadOnlyError(whys.MAY_NOT_BE_WRITTEN)
    if mode != "wal":
        raise UnavailableError(whys.NO_LOG(mode))
    connection.info[_HAS_LOG] = True


def _postgresql(url: URL) -> Engine:
    # Who waited for the head has to see what was written meanwhile, whatever the server's default.
    engine = create_engine(
        url, pool_pre_ping=True, isolation_level="READ COMMITTED", connect_args=_patience(url)
    )
    event.listen(engine, "connect", _open_postgresql)
    return engine


def _patience(url: URL) -> Mapping[str, int]:
    """Return how long a server that does not answer is waited for, where nothing else is said.

    The drivers' own bounds are minutes, and for a connection that is cut off hours.
    """
    wanted = {
        "connect_timeout": CONNECT_SECONDS_MAX,
        "tcp_user_timeout": WAIT_SECONDS_MAX * 1000,
        "keepalives": 1,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 4,
    }
    said = set(url.query) | ({"connect_timeout"} if "PGCONNECT_TIMEOUT" in os.environ else set())
    return {name: value for name, value in wanted.items() if name not in said}


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
