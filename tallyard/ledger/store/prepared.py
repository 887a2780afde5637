"""Statements whose text is made once for each kind of database.

SQLAlchemy makes the text, and the driver is handed it as it is. To go through the statement each
time costs more than SQLite takes to run it, and a freeze is some ten of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from operator import itemgetter
from types import MappingProxyType
from typing import Any

from sqlalchemy import Connection, CursorResult, Dialect, Select
from sqlalchemy.sql.dml import UpdateBase

from tallyard.ledger.store.rows import Values

_NONE: Values = MappingProxyType({})


def run(connection: Connection, statement: UpdateBase, values: Sequence[Values]) -> None:
    """Run a statement for each of some rows, which all name the same columns."""
    text, given = _made(statement, connection.dialect, tuple(values[0]))
    # One row by itself: psycopg opens a pipeline for a list of them, which costs as much again.
    rows = [given(row) for row in values]
    connection.exec_driver_sql(text, rows if len(rows) > 1 else rows[0])


def rows(
    connection: Connection, statement: Select[Any], values: Values = _NONE
) -> CursorResult[Any]:
    """Return what a statement finds, with these values for its parameters.

    The rows are as the driver has them: where SQLite has no type of its own, 0 is false.
    """
    text, given = _made(statement, connection.dialect, tuple(values))
    return connection.exec_driver_sql(text, given(values))


@cache
def _made(
    statement: UpdateBase | Select[Any], dialect: Dialect, names: tuple[str, ...]
) -> tuple[str, Callable[[Values], Any]]:
    """Return the text, and what makes of values what the driver takes: by place or by name."""
    compiled = statement.compile(dialect=dialect, column_keys=names)
    places = compiled.positiontup
    if places is None:
        return str(compiled), dict
    if len(places) > 1:
        return str(compiled), itemgetter(*places)
    return str(compiled), lambda values: tuple(values[name] for name in places)
