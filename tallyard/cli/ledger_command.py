"""`tally ledger …`: look at the books, recount them, take them to safety and bring them back."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from tallyard.cli import documents, session
from tallyard.cli.exit_codes import ExitCode
from tallyard.cli.ledger_store import Store, Use, file_of, opened, require_name
from tallyard.cli.output import Format, Output, emit, print_line, print_table
from tallyard.cli.progress import progress
from tallyard.cli.words import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection, Engine

    from tallyard.cli.views.ledger import TailRow
    from tallyard.ledger.store.backup import Head
    from tallyard.ledger.store.verifying import Verdict
    from tallyard.ledger.transactions import Transaction

_TAIL_DEFAULT = 20
_TAIL_MAX = 1000
_POLL_SECONDS = 1.0


def verify(*, store: Store = None, output: Output = Format.TABLE) -> int:
    """Recount every balance from the journal, and say what is not as it should be.

    Every command of the journal is decided again and must come to the entries that stand there;
    the digests must follow one another; each balance must be what the entries come to, and no
    level may disagree with another. It reads the store as it is at one moment and holds nobody
    up. Exit code 1 when something is wrong.
    """
    from tallyard.ledger.store.verifying import verify as recount  # noqa: PLC0415

    with opened(store) as engine, progress() as report:
        zh = session.lang() == "zh"
        said = "重算 {}/{} 笔交易" if zh else "recounting transaction {} of {}"
        verdict = recount(engine, lambda n, last: report.step(said.format(n, last)))
    code = ExitCode.FAILED if verdict.faults else ExitCode.OK
    session.expect(code)
    emit(output, documents.ledger_verdict(verdict), lambda: _print_verdict(verdict))
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
) -> int:
    """Show the last transactions of the journal: when, what was done, for whom, how much.

    An amount below nothing is what an account loses. With `-f` JSON is one line for each
    transaction, and Ctrl-C is the end.
    """
    from tallyard.ledger.store import legible  # noqa: PLC0415
    from tallyard.ledger.store.engine import reads  # noqa: PLC0415

    with opened(store) as engine:
        with reads(engine) as connection:
            last = legible.last(connection)
            rows = _rows(connection, max(0, last - number))
        if follow:
            return _follow(engine, output, rows, last)
        _show(output, rows)
        return ExitCode.OK


def since(
    file: Annotated[str, Parameter(help="A file that `tally ledger backup` wrote.")],
    /,
    *,
    store: Store = None,
    output: Output = Format.TABLE,
) -> None:
    """Show what a store has done since a backup was written.

    That is what would be missing after the backup is restored. Exit code 1 when the backup is of
    another ledger, or the store did not go on from where it ends.
    """
    from tallyard.ledger.store import since as after  # noqa: PLC0415
    from tallyard.ledger.store.backup import head_of  # noqa: PLC0415
    from tallyard.ledger.store.engine import reads  # noqa: PLC0415

    require_name(file)
    with opened(store) as engine:
        with file_of(file, Use.READ) as path, path.open("rb") as source:
            head = head_of(source)
        with reads(engine) as connection:
            rows = _told(connection, list(after.since(connection, head)))
    emit(output, documents.ledger_since(head, rows), lambda: _print_since(head, rows))


def backup(
    file: Annotated[str, Parameter(help="Where to write it; what is there is replaced.")],
    /,
    *,
    store: Store = None,
) -> None:
    """Write the whole journal to a file, as it is at one moment, while others go on writing.

    From it the books can be brought back into an empty store of either kind (`tally ledger
    restore`).
    """
    from tallyard.ledger.store.backup import backup as write  # noqa: PLC0415

    require_name(file)
    with (
        opened(store) as engine,
        file_of(file, Use.BACKUP, engine) as path,
        progress() as report,
    ):
        zh = session.lang() == "zh"
        said = "写入 {}/{} 笔交易" if zh else "writing transaction {} of {}"
        count = write(engine, path, lambda n, last: report.step(said.format(n, last)))
    print_line(
        f"已写入 {count} 笔交易：{file}" if zh else f"{count} transactions written to {file}"
    )


def restore(
    file: Annotated[str, Parameter(help="A file that `tally ledger backup` wrote.")],
    /,
    *,
    store: Store = None,
) -> None:
    """Do the journal of a backup again in an empty store, all of it or nothing.

    Each transaction must follow the one before it by its digest; a file that was cut off or
    changed is refused.
    """
    from tallyard.ledger.store.backup import restore as read  # noqa: PLC0415

    require_name(file)
    with (
        opened(store, is_new=True) as engine,
        file_of(file, Use.READ) as path,
        progress() as report,
    ):
        zh = session.lang() == "zh"
        said = "恢复 {}/{} 笔交易" if zh else "restoring transaction {} of {}"
        count = read(engine, path, lambda n, last: report.step(said.format(n, last)))
    print_line(f"已恢复 {count} 笔交易" if zh else f"{count} transactions restored")


def migrate(*, store: Store = None) -> None:
    """Make the tables of a store, or bring them to the version that this program works with.

    All of the way or not at all. A backup before it costs little.
    """
    from tallyard.ledger.store import migrating  # noqa: PLC0415

    with opened(store, is_new=True) as engine:
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
            f"有 {len(verdict.faults)} 处不符；后面的可能由第一处引起。请不要再写入，保留现有账本，并从备份恢复"
            if zh
            else f"{len(verdict.faults)} do not agree; what follows the first may come of it. "
            "Write nothing more, keep the store as it is, and restore from a backup"
        )


def _rows(connection: Connection, last: int) -> tuple[TailRow, ...]:
    """Return the rows of all transactions after one."""
    from tallyard.ledger.store import legible, reading  # noqa: PLC0415

    found = legible.legible(reading.journal(connection, last))
    return _told(connection, [legible.checked(transaction) for transaction, _ in found])


def _told(connection: Connection, transactions: Sequence[Transaction]) -> tuple[TailRow, ...]:
    """Return the rows of transactions, with the names of the work that they are about."""
    from tallyard.cli.views.ledger import tail_rows  # noqa: PLC0415
    from tallyard.ledger.commands import freezes_of  # noqa: PLC0415
    from tallyard.ledger.store import reading  # noqa: PLC0415

    ids = {each for transaction in transactions for each in freezes_of(transaction.command)}
    records = reading.freezes(connection, sorted(ids))
    return tail_rows(transactions, {record.id: record.job for record in records})


def _follow(engine: Engine, output: Format, rows: tuple[TailRow, ...], last: int) -> int:
    """Show rows and those that come, until Ctrl-C, which is how one ends it."""
    from tallyard.ledger.store.engine import reads  # noqa: PLC0415

    has_header = True
    try:
        while True:
            if output is Format.TABLE and (rows or has_header):
                _print_rows(rows, has_header=has_header)
                has_header = False
            elif output is not Format.TABLE:
                for row in rows:
                    print_line(json.dumps(documents.ledger_transaction(row), ensure_ascii=False))
            sys.stdout.flush()
            last = rows[-1].seq if rows else last
            time.sleep(_POLL_SECONDS)
            with reads(engine) as connection:
                rows = _rows(connection, last)
    except KeyboardInterrupt:
        session.expect(ExitCode.CANCELLED)
        return ExitCode.CANCELLED


def _print_since(head: Head, rows: tuple[TailRow, ...]) -> None:
    if rows:
        _print_rows(rows)
    zh = session.lang() == "zh"
    print_line(
        f"备份之后（备份到交易 {head.seq}）有 {len(rows)} 笔交易"
        if zh
        else f"{len(rows)} transactions since the backup, which ends at transaction {head.seq}"
    )


def _show(output: Format, rows: tuple[TailRow, ...]) -> None:
    """Print rows now: whoever follows through a pipe waits for them."""
    emit(output, documents.ledger_tail(rows), lambda: _print_rows(rows))
    sys.stdout.flush()


def _print_rows(rows: tuple[TailRow, ...], *, has_header: bool = True) -> None:
    header = words("SEQ", "AT", "COMMAND", "ACCOUNT", "SUBJECT", "CORE-HOURS")
    print_table(
        header,
        [
            (str(row.seq), row.at, row.command, row.account, row.subject, row.core_hours)
            for row in rows
        ],
        right=(0, 5),
        has_header=has_header,
    )
