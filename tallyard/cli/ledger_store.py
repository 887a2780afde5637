"""Which store a command works on, and how its failures are told."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
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
    # An empty --store is one that somebody meant to fill: another store is not what was meant.
    address = os.environ.get(STORE_VARIABLE) if store is None else store
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
    from tallyard.ledger.store import whys  # noqa: PLC0415
    from tallyard.ledger.store.engine import is_sqlite  # noqa: PLC0415
    from tallyard.ledger.store.faults import NoFileError  # noqa: PLC0415

    if is_sqlite(engine) and not Path(engine.url.database or "").exists():
        raise NoFileError(whys.NO_FILE(shown))


class Use(StrEnum):
    """What a command does with the file that it is given."""

    BACKUP = "backup"
    EXPORT = "export"
    READ = "read"


_USES: Mapping[Use, tuple[str, str]] = {
    Use.BACKUP: ("the backup cannot be written", "备份无法写入"),
    Use.EXPORT: ("the export cannot be written", "导出文件无法写入"),
    Use.READ: ("the backup cannot be read", "备份无法读取"),
}
_KEPT: Mapping[str, str] = {
    "STORE": "它就是账本本身",
    "DATABASE": "它是 SQLite 数据库，可能是账本",
    "FOLDER": "它是目录",
    "DEVICE": "它不是文件、管道或终端",
}


@contextmanager
def file_of(name: str, use: Use, engine: Engine | None = None) -> Iterator[Path]:
    """Give the file of a name, and tell what the operating system says of it.

    Args:
        name: As the person wrote it.
        use: What is done with it.
        engine: The store, which is never written over.

    Raises:
        Complaint: It cannot be read or written, or must not be.
    """
    from tallyard.ledger.store.backup import BackupError  # noqa: PLC0415
    from tallyard.ledger.store.files import NotReplacedError, refuse_the_store  # noqa: PLC0415

    try:
        if engine is not None:
            refuse_the_store(engine, Path(name))
        yield Path(name)
    except BackupError as error:
        raise _failed(error, name) from error
    except NotReplacedError as error:
        zh = session.lang() == "zh"
        why = _KEPT[error.kept.name] if zh else error.kept.value
        what, todo = _USES[use][zh], "请指定其他文件" if zh else "name another file"
        raise Complaint(ExitCode.FAILED, Parts(name, what, why, todo)) from error
    except OSError as error:
        zh = session.lang() == "zh"
        todo = "请检查该路径、权限和磁盘空间" if zh else "see to the path, its rights and the disk"
        why = error.strerror or str(error)
        raise Complaint(ExitCode.FAILED, Parts(name, _USES[use][zh], why, todo)) from error


def require_name(name: str) -> None:
    """Refuse an empty name: a variable that is not set, mostly.

    Raises:
        Complaint: It is empty.
    """
    if not name:
        zh = session.lang() == "zh"
        what = "文件名为空" if zh else "the file's name is empty"
        todo = "请写出文件名" if zh else "write the name of a file"
        raise Complaint(ExitCode.USAGE, Parts("FILE", what, "", todo))


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
    return Complaint(ExitCode.FAILED, Parts(shown, what, error.reason(session.lang()), todo))
