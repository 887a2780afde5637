"""`tally ledger export`: the journal for spreadsheets and for programs that add up costs."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cyclopts import Parameter

from tallyard.cli import session
from tallyard.cli.errors import Complaint
from tallyard.cli.exit_codes import ExitCode
from tallyard.cli.ledger_store import Store, files, opened
from tallyard.cli.output import print_line
from tallyard.cluster.faults import Parts

if TYPE_CHECKING:
    from tallyard.ledger.exporting import Freezes, Names, Row, Terms
    from tallyard.ledger.transactions import Transaction

_CURRENCY = re.compile(r"[A-Z]{3}")
_FOREVER = 2**62


class Form(StrEnum):
    """In which form the journal is written."""

    CSV = "csv"
    FOCUS = "focus"


def export(
    file: Annotated[
        Path | None, Parameter(help="Where to write it, replacing what is there; else stdout.")
    ] = None,
    /,
    *,
    form: Annotated[
        Form,
        Parameter(
            name="--format",
            help="csv: each entry of the journal. focus: what was charged, in FOCUS 1.0.",
        ),
    ] = Form.CSV,
    since: Annotated[date | None, Parameter(help="The first day, e.g. 2026-11-01.")] = None,
    until: Annotated[date | None, Parameter(help="The first day after it.")] = None,
    price: Annotated[
        str | None, Parameter(help="What a core-hour costs, e.g. 0.35 (focus only).")
    ] = None,
    currency: Annotated[
        str | None, Parameter(help="In which currency, e.g. CNY (focus only).")
    ] = None,
    account: Annotated[str, Parameter(help="Whose bill it is (focus only).")] = "cluster",
    time_zone: Annotated[
        str, Parameter(help="The zone in which days and months begin, e.g. Asia/Shanghai.")
    ] = "UTC",
    store: Store = None,
) -> None:
    """Write the journal as CSV: every entry, or what was charged in FOCUS format.

    FOCUS is read by programs that add up the costs of clouds. It wants money of a country, so
    give the price of a core-hour; the core-hours themselves are in it as quantities.
    """
    from tallyard.ledger import exporting  # noqa: PLC0415
    from tallyard.ledger.store import reading  # noqa: PLC0415
    from tallyard.ledger.store.engine import reads  # noqa: PLC0415

    zone = _zone(time_zone)
    span = (_midnight(since, zone, 0), _midnight(until, zone, _FOREVER))
    rows: Callable[[Transaction, Freezes, Names], Iterator[Row]] = exporting.entry_rows
    columns: Sequence[str] = exporting.ENTRY_COLUMNS
    if form is Form.FOCUS:
        terms = _terms(price, currency, account, time_zone)
        columns = exporting.FOCUS_COLUMNS

        def rows(transaction: Transaction, freezes: Freezes, names: Names) -> Iterator[Row]:
            return exporting.focus_rows(transaction, freezes, names, terms)

    count = 0
    with opened(store) as engine, files(), _text_of(file) as out, reads(engine) as connection:
        writer = csv.DictWriter(out, columns)
        writer.writeheader()
        names = reading.project_names(connection)
        for transaction, freezes in reading.journal_with_freezes(connection, *span):
            for row in rows(transaction, freezes, names):
                writer.writerow(row)
                count += 1
    if file:
        zh = session.lang() == "zh"
        print_line(f"已写入 {count} 行：{file}" if zh else f"{count} rows written to {file}")


@contextmanager
def _text_of(file: Path | None) -> Iterator[TextIO]:
    from tallyard.ledger.store.files import whole_file  # noqa: PLC0415

    if file is None:
        yield sys.stdout
        return
    with whole_file(file) as out:
        # The ends of lines are the writer's.
        text = TextIOWrapper(out, encoding="utf-8", newline="")
        yield text
        text.flush()
        # The file is closed by who has opened it.
        text.detach()


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        zh = session.lang() == "zh"
        what = f"没有时区 {name}" if zh else f"there is no time zone {name}"
        todo = "请写例如 Asia/Shanghai" if zh else "write one such as Asia/Shanghai"
        raise Complaint(ExitCode.USAGE, Parts("--time-zone", what, "", todo)) from error


def _midnight(day: date | None, zone: ZoneInfo, otherwise: int) -> int:
    if day is None:
        return otherwise
    return int(datetime.combine(day, time(), zone).astimezone(UTC).timestamp())


def _terms(price: str | None, currency: str | None, account: str, time_zone: str) -> Terms:
    from tallyard.ledger.exporting import Terms  # noqa: PLC0415

    zh = session.lang() == "zh"
    try:
        number = Decimal(price or "")
    except InvalidOperation:
        number = Decimal(-1)
    if number.is_finite() and number >= 0 and _CURRENCY.fullmatch(currency or ""):
        return Terms(number, str(currency), account, time_zone)
    what = (
        "FOCUS 需要每核时的价格和货币"
        if zh
        else "FOCUS wants the price of a core-hour and its currency"
    )
    todo = (
        "请写例如 --price 0.35 --currency CNY" if zh else "write, e.g., --price 0.35 --currency CNY"
    )
    why = f"--price {price or '-'} --currency {currency or '-'}"
    raise Complaint(ExitCode.USAGE, Parts("tally ledger export", what, why, todo))
