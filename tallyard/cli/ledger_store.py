"""Which store a command works on, and how its failures are told."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from tallyard.cli import session
from tallyard.cli.errors import Complaint
from tallyard.cli.exit_codes import ExitCode
from tallyard.cluster.faults import Parts

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from tallyard.ledger.store.faults import StoreError

STORE_VARIABLE = "TALLYARD_LEDGER"
Store = Annotated[
    str | None,
    Parameter(
        help=f"A file for SQLite or an address, postgresql://user@host/name; else ${STORE_VARIABLE}."
    ),
]


@contextmanager
def opened(store: str | None, *, is_new: bool = False) -> Iterator[Engine]:
    """Give the store that is named, with tables of our version unless it may be a new one.

    Raises:
        Complaint: None is named, or it failed.
    """
    address = store or os.environ.get(STORE_VARIABLE)
    if not address:
        raise _no_store()
    from tallyard.ledger.store import migrating  # noqa: PLC0415
    from tallyard.ledger.store.engine import engine_of  # noqa: PLC0415
    from tallyard.ledger.store.faults import StoreError  # noqa: PLC0415

    shown = _shown(address)
    try:
        engine = engine_of(address)
        if not is_new:
            _require_file(engine, shown)
            migrating.require_newest(engine)
        yield engine
        engine.dispose()
    except StoreError as error:
        raise _failed(error, shown) from error


def _shown(address: str) -> str:
    """Return an address without what nobody else may read: its password and its options."""
    if "://" not in address:
        return address
    from sqlalchemy import make_url  # noqa: PLC0415
    from sqlalchemy.exc import ArgumentError  # noqa: PLC0415

    try:
        url = make_url(address).set(query={})
    except (ArgumentError, ValueError):
        url = None
    # An "@" within a password that is not written as %40 makes the rest of it a part of the host.
    if url is None or "@" in (url.host or ""):
        return f"{address.partition('://')[0]}://…"
    return url.render_as_string(hide_password=True)


def _require_file(engine: Engine, shown: str) -> None:
    """Refuse a file that is not there: SQLite would make one, and an empty ledger looks well."""
    from tallyard.ledger.store.engine import is_sqlite  # noqa: PLC0415
    from tallyard.ledger.store.faults import UnavailableError  # noqa: PLC0415

    name = engine.url.database or ""
    if is_sqlite(engine) and not name.startswith("file:") and not Path(name).exists():
        raise UnavailableError(f"there is no file {shown}")


@contextmanager
def files() -> Iterator[None]:
    """Tell what the operating system says of a backup's file.

    Raises:
        Complaint: The file cannot be read or written.
    """
    try:
        yield
    except OSError as error:
        zh = session.lang() == "zh"
        what = "备份文件无法读写" if zh else "the backup's file cannot be used"
        todo = "请检查该路径、权限和磁盘空间" if zh else "see to the path, its rights and the disk"
        why = error.strerror or str(error)
        raise Complaint(
            ExitCode.FAILED, Parts(str(error.filename or ""), what, why, todo)
        ) from error


def _no_store() -> Complaint:
    zh = session.lang() == "zh"
    what = "没有指定账本" if zh else "no ledger is named"
    todo = (
        f"请写 --store FILE，或设置 {STORE_VARIABLE}"
        if zh
        else f"write --store FILE, or set {STORE_VARIABLE}"
    )
    return Complaint(ExitCode.USAGE, Parts("", what, "", todo))


def _failed(error: StoreError, shown: str) -> Complaint:
    what, todo = error.texts[session.lang()]
    return Complaint(ExitCode.FAILED, Parts(shown, what, error.why, todo))
