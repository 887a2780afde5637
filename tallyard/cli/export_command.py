"""`tally ledger export`: the journal for spreadsheets and for programs that add up costs."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from functools import partial
from io import TextIOWrapper
from typing import TYPE_CHECKING, Annotated, TextIO
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cyclopts import Parameter

from tallyard.cli import session
from tallyard.cli.errors import Complaint
from tallyard.cli.exit_codes import ExitCode
from tallyard.cli.ledger_store import Store, Use, file_of, opened, require_name
from tallyard.cli.output import print_line
from tallyard.cluster.faults import Parts

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from tallyard.ledger.exporting import Freezes, Names, Row, Terms
    from tallyard.ledger.transactions import Transaction

    type Rows = Callable[[Transaction, Freezes, Names], Iterator[Row]]

_CURRENCY = re.compile(r"[A-Z]{3}")
_FOREVER = 2**62
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ACCOUNT = "cluster"
_WHERE = "tally ledger export"


class Form(StrEnum):
    """In which form the journal is written."""

    CSV = "csv"
    FOCUS = "focus"


def export(
    file: Annotated[
        str | None, Parameter(help="Where to write it, replacing what is there; else stdout.")
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
    account: Annotated[
        str | None, Parameter(help="Whose bill it is (focus only); without it the cluster's.")
    ] = None,
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
    from tallyard.ledger.store.engine import reads  # noqa: PLC0415

    if file is not None:
        require_name(file)
    span = _span(since, until, _zone(time_zone))
    rows: Rows = exporting.entry_rows
    columns: Sequence[str] = exporting.ENTRY_COLUMNS
    if form is Form.FOCUS:
        terms = _terms(price, currency, account, time_zone)
        columns, rows = exporting.FOCUS_COLUMNS, partial(exporting.focus_rows, terms=terms)
    else:
        _refuse_terms({"--price": price, "--currency": currency, "--account": account})
    with opened(store) as engine, _text_of(file, engine) as out, reads(engine) as connection:
        writer = csv.DictWriter(out, columns)
        writer.writeheader()
        count = 0
        for row in _rows(connection, span, rows):
            writer.writerow(row)
            count += 1
    if file:
        zh = session.lang() == "zh"
        print_line(f"已写入 {count} 行：{file}" if zh else f"{count} rows written to {file}")


def _rows(connection: Connection, span: tuple[int, int], rows: Rows) -> Iterator[Row]:
    from tallyard.ledger.store import legible, reading  # noqa: PLC0415

    names = reading.project_names(connection)
    journal = legible.legible(reading.journal_with_freezes(connection, *span))
    for transaction, freezes in journal:
        legible.checked(transaction)
        for record in freezes.values():
            legible.moment(record.made, f"the freeze {record.id}")
        yield from rows(transaction, freezes, names)


@contextmanager
def _text_of(file: str | None, engine: Engine) -> Iterator[TextIO]:
    from tallyard.ledger.store.files import whole_file  # noqa: PLC0415

    if file is None:
        yield sys.stdout
        return
    with file_of(file, Use.EXPORT, engine) as path, whole_file(path) as out:
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


def _span(since: date | None, until: date | None, zone: ZoneInfo) -> tuple[int, int]:
    """Return the first second of a time and the first after it."""
    if since and until and since >= until:
        zh = session.lang() == "zh"
        what = "该时段为空" if zh else "there is no day in that time"
        todo = (
            "--until 是之后的第一天，须晚于 --since"
            if zh
            else "--until is the first day after it; write a later one than --since"
        )
        why = f"--since {since} --until {until}"
        raise Complaint(ExitCode.USAGE, Parts(_WHERE, what, why, todo))
    return _midnight(since, zone, 0), _midnight(until, zone, _FOREVER)


def _midnight(day: date | None, zone: ZoneInfo, otherwise: int) -> int:
    if day is None:
        return otherwise
    # By hand: at the ends of the calendar the moment is in a year that no date can be of.
    local = datetime.combine(day, time(), zone)
    offset = local.utcoffset() or timedelta()
    return round((local.replace(tzinfo=UTC) - _EPOCH - offset).total_seconds())


def _terms(price: str | None, currency: str | None, account: str | None, time_zone: str) -> Terms:
    from tallyard.ledger.exporting import Terms, price_of  # noqa: PLC0415

    zh = session.lang() == "zh"
    if account == "":
        what = "账单户名为空" if zh else "the bill's account is empty"
        todo = "请写例如 --account lab" if zh else "write, e.g., --account lab"
        raise Complaint(ExitCode.USAGE, Parts("--account", what, "", todo))
    number = price_of(price or "")
    if number and _CURRENCY.fullmatch(currency or ""):
        return Terms(number, str(currency), account or _ACCOUNT, time_zone)
    what = (
        "FOCUS 需要每核时的价格和货币"
        if zh
        else "FOCUS wants the price of a core-hour and its currency"
    )
    todo = (
        "请写例如 --price 0.35 --currency CNY；价格大于 0，整数最多 9 位，小数最多 10 位"
        if zh
        else "write, e.g., --price 0.35 --currency CNY; a price is above 0, with at most "
        "9 digits before the point and 10 behind it"
    )
    why = f"--price {price or '-'} --currency {currency or '-'}"
    raise Complaint(ExitCode.USAGE, Parts(_WHERE, what, why, todo))


def _refuse_terms(given: Mapping[str, str | None]) -> None:
    names = " ".join(name for name, value in given.items() if value is not None)
    if not names:
        return
    zh = session.lang() == "zh"
    what = f"{names} 只用于 FOCUS" if zh else f"{names}: this is of FOCUS only"
    todo = "请加上 --format focus，或去掉它" if zh else "add --format focus, or leave it out"
    raise Complaint(ExitCode.USAGE, Parts(_WHERE, what, "", todo))
