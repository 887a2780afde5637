"""`tally ledger …`: look at the books, recount them, take them to safety and bring them back."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from tallyard.cli import session
from tallyard.cli.errors import Complaint
from tallyard.cli.exit_codes import ExitCode
from tallyard.cli.output import Format, Output, document, emit, print_line, print_table
from tallyard.cli.progress import progress
from tallyard.cli.words import words
from tallyard.cluster.faults import Parts

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from tallyard.cli.views.ledger import TailRow
    from tallyard.ledger.store.faults import StoreError
    from tallyard.ledger.store.verifying import Verdict

STORE_VARIABLE = "TALLYARD_LEDGER"
_TAIL_DEFAULT = 20
_TAIL_MAX = 1000
_POLL_SECONDS = 1.0
# What stands between a user's name and the host of an address; nobody else may read it.
_PASSWORD = re.compile(r"(://[^/@:]*):[^/@]*@")

Store = Annotated[
    str | None,
    Parameter(
        help=f"A file for SQLite or an address, postgresql://user@host/name; else ${STORE_VARIABLE}."
    ),
]


def verify(*, store: Store = None, output: Output = Format.TABLE) -> int:
    """Recount every balance from the journal, and say what is not as it should be.

    Every command of the journal is decided again and must come to the entries that stand there;
    the digests must follow one another; each balance must be what the entries come to, and no
    level may disagree with another. It reads the store as it is at one moment and holds nobody
    up. Exit code 1 when something is wrong.
    """
    from tallyard.ledger.store.verifying import verify as recount  # noqa: PLC0415

    with _opened(store) as engine, progress() as report:
        zh = session.lang() == "zh"
        said = "重算 {}/{} 笔交易" if zh else "recounting transaction {} of {}"
        verdict = recount(engine, lambda n, last: report.step(said.format(n, last)))
    code = ExitCode.FAILED if verdict.faults else ExitCode.OK
    session.expect(code)
    emit(output, _verdict_document(verdict), lambda: _print_verdict(verdict))
    return code


def tail(
    *,
    number: Annotated[
        int,
        Parameter(
            name=["--number", "-n"],
            help="How many of the last transactions to show.",
            validator=Number(gte=0, lte=_TAIL_MAX),
        ),
    ] = _TAIL_DEFAULT,
    follow: Annotated[
        bool, Parameter(name=["--follow", "-f"], negative=(), help="Show new ones as they come.")
    ] = False,
    store: Store = None,
    output: Output = Format.TABLE,
) -> None:
    """Show the last transactions of the journal: when, what was done, for whom, how much."""
    from tallyard.cli.views.ledger import tail_rows  # noqa: PLC0415
    from tallyard.ledger.store import reading  # noqa: PLC0415
    from tallyard.ledger.store.engine import reading as reads  # noqa: PLC0415

    with _opened(store) as engine:
        with reads(engine) as connection:
            last = reading.head(connection).seq
            found = [t for t, _ in reading.journal(connection, max(0, last - number), last)]
        _show(output, tail_rows(found))
        while follow:
            time.sleep(_POLL_SECONDS)
            with reads(engine) as connection:
                found = [t for t, _ in reading.journal(connection, last)]
            if found:
                last = found[-1].seq
                _show(output, tail_rows(found))


def backup(
    file: Annotated[Path, Parameter(help="Where to write it; what is there is replaced.")],
    /,
    *,
    store: Store = None,
) -> None:
    """Write the whole journal to a file, as it is at one moment, while others go on writing.

    From it the books can be brought back into an empty store of either kind (`tally ledger
    restore`).
    """
    from tallyard.ledger.store.backup import backup as write  # noqa: PLC0415

    with _opened(store) as engine, _files(), progress() as report:
        zh = session.lang() == "zh"
        said = "写入 {}/{} 笔交易" if zh else "writing transaction {} of {}"
        count = write(engine, file, lambda n, last: report.step(said.format(n, last)))
    print_line(
        f"已写入 {count} 笔交易：{file}" if zh else f"{count} transactions written to {file}"
    )


def restore(
    file: Annotated[Path, Parameter(help="A file that `tally ledger backup` wrote.")],
    /,
    *,
    store: Store = None,
) -> None:
    """Do the journal of a backup again in an empty store, all of it or nothing.

    Each transaction must follow the one before it by its digest; a file that was cut off or
    changed is refused.
    """
    from tallyard.ledger.store.backup import restore as read  # noqa: PLC0415

    with _opened(store, is_new=True) as engine, _files(), progress() as report:
        zh = session.lang() == "zh"
        said = "恢复 {}/{} 笔交易" if zh else "restoring transaction {} of {}"
        count = read(engine, file, lambda n, last: report.step(said.format(n, last)))
    print_line(f"已恢复 {count} 笔交易" if zh else f"{count} transactions restored")


def migrate(*, store: Store = None) -> None:
    """Make the tables of a store, or bring them to the version that this program works with.

    All of the way or not at all. A backup before it costs little.
    """
    from tallyard.ledger.store import migrating  # noqa: PLC0415

    with _opened(store, is_new=True) as engine:
        before, wanted = migrating.version(engine), migrating.newest()
        migrating.migrate(engine)
    zh = session.lang() == "zh"
    if before in {wanted, migrating.NOTHING}:
        print_line(f"表结构为版本 {wanted}" if zh else f"the tables are of version {wanted}")
    else:
        print_line(
            f"表结构已从 {before} 升级到 {wanted}"
            if zh
            else f"the tables were of version {before} and are of {wanted}"
        )


@contextmanager
def _opened(store: str | None, *, is_new: bool = False) -> Iterator[Engine]:
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

    shown = _PASSWORD.sub(r"\1:***@", address)
    try:
        engine = engine_of(address)
        if not is_new:
            _require_file(engine, shown)
            migrating.require_newest(engine)
        yield engine
        engine.dispose()
    except StoreError as error:
        raise _failed(error, shown) from error


def _require_file(engine: Engine, shown: str) -> None:
    """Refuse a file that is not there: SQLite would make one, and an empty ledger looks well."""
    from tallyard.ledger.store.engine import is_sqlite  # noqa: PLC0415
    from tallyard.ledger.store.faults import UnavailableError  # noqa: PLC0415

    name = engine.url.database or ""
    if is_sqlite(engine) and not name.startswith("file:") and not Path(name).exists():
        raise UnavailableError(f"there is no file {shown}")


@contextmanager
def _files() -> Iterator[None]:
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
    what, todo = error.what, error.advice
    if session.lang() == "zh":
        what, todo = _ZH.get(type(error).__name__, _ZH["StoreError"])
    return Complaint(ExitCode.FAILED, Parts(shown, what, error.why, todo))


# By the names of the store's errors, which the core tells in English.
_ZH: Mapping[str, tuple[str, str]] = {
    "StoreError": ("账本存储出错", "请按原因处理；重复同一命令是安全的"),
    "UnavailableError": ("无法连接账本存储", "请确认数据库正在运行且可以访问"),
    "FullError": ("账本存储已无空间", "请清理磁盘；已写入的内容不会丢失"),
    "ReadOnlyError": ("账本存储不可写", "请确认当前用户有写权限，且数据库不是备库"),
    "CorruptError": (
        "账本存储已损坏",
        "请不要再写入；运行 `tally ledger verify`，并从备份恢复",
    ),
    "SchemaError": ("账本的表结构版本不符", "请运行 `tally ledger migrate`"),
    "BackupError": ("备份无法恢复", "没有写入任何内容；请使用其他备份，或空的账本"),
}


def _verdict_document(verdict: Verdict) -> Mapping[str, object]:
    return document(
        "LedgerVerdict",
        {
            "transactions": verdict.transactions,
            "entries": verdict.entries,
            "lots": verdict.lots,
            "freezes": verdict.freezes,
            "digest": verdict.digest,
            "faults": list(verdict.faults),
        },
    )


def _print_verdict(verdict: Verdict) -> None:
    zh = session.lang() == "zh"
    counted = (
        f"重算了 {verdict.transactions} 笔交易、{verdict.entries} 条分录、{verdict.lots} 份核时额度、"
        f"{verdict.freezes} 笔冻结；摘要 {verdict.digest}"
        if zh
        else f"recounted {verdict.transactions} transactions, {verdict.entries} entries, "
        f"{verdict.lots} lots, {verdict.freezes} freezes; digest {verdict.digest}"
    )
    for fault in verdict.faults:
        print_line(fault)
    print_line(counted)
    if not verdict.faults:
        print_line("账目全部相符" if zh else "everything agrees")
    else:
        print_line(
            f"有 {len(verdict.faults)} 处不符" if zh else f"{len(verdict.faults)} do not agree"
        )


def _show(output: Format, rows: tuple[TailRow, ...]) -> None:
    """Print rows now: whoever follows through a pipe waits for them."""
    emit(output, _tail_document(rows), lambda: _print_rows(rows))
    sys.stdout.flush()


def _tail_document(rows: tuple[TailRow, ...]) -> Mapping[str, object]:
    return document(
        "LedgerTail",
        {
            "items": [
                {
                    "seq": row.seq,
                    "at": row.at,
                    "command": row.command,
                    "account": row.account,
                    "subject": row.subject,
                    "amount": row.amount,
                    "key": row.key,
                    "by": row.by or None,
                }
                for row in rows
            ]
        },
    )


def _print_rows(rows: tuple[TailRow, ...]) -> None:
    header = words("SEQ", "AT", "COMMAND", "ACCOUNT", "SUBJECT", "CORE-HOURS")
    print_table(
        header,
        [
            (str(row.seq), row.at, row.command, row.account, row.subject, row.core_hours)
            for row in rows
        ],
        right=(0, 5),
    )
