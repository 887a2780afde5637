"""When pods ran, as it was seen: kept, so that a process that begins knows what ran before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import msgspec
from sqlalchemy import ColumnElement, Connection, Engine, select

from tallyard.ledger.store import schema, whys, writing
from tallyard.ledger.store.engine import reads, writes
from tallyard.ledger.store.faults import CorruptError
from tallyard.ledger.uses import Use

_gaps: msgspec.json.Decoder[tuple[tuple[int, int], ...]] = msgspec.json.Decoder(
    tuple[tuple[int, int], ...]
)


def begun(engine: Engine) -> tuple[int, Mapping[str, list[Use]]]:
    """Return when all that ran was last known, and all uses of the work of which one goes on.

    Returns:
        Seconds since 1970, 0 where nobody has ever looked; the uses by the work's id.

    Raises:
        CorruptError: A row cannot be read as what it should be.
        StoreError: The store cannot be read.
    """
    with reads(engine) as connection:
        at = connection.execute(select(schema.looks.c.at)).scalar_one_or_none()
        open_work = select(schema.uses.c.work).where(schema.uses.c.ended.is_(None))
        return at or 0, _by_work(_read(connection, schema.uses.c.work.in_(open_work)))


def of_work(engine: Engine, work: str) -> list[Use]:
    """Return the uses of one work, those that are over too, in the order in which they began.

    Raises:
        CorruptError: A row cannot be read as what it should be.
        StoreError: The store cannot be read.
    """
    with reads(engine) as connection:
        return [use for _, use in _read(connection, schema.uses.c.work == work)]


def keep(engine: Engine, at: int, seen: Iterable[tuple[str, Use]]) -> None:
    """Keep uses that are new or have changed, each with its work's id, as of a look at all that ran.

    Raises:
        StoreError: They cannot be written; none of them is.
    """
    values = [
        {
            "pod": use.pod,
            "work": work,
            "pod_set": use.pod_set,
            "attempt": use.attempt,
            "rate_milli": use.rate_milli,
            "began": use.began,
            "ended": use.ended,
            "reason": use.reason,
            "gaps": msgspec.json.encode(use.gaps).decode(),
        }
        for work, use in seen
    ]
    with writes(engine) as connection:
        writing.put(connection, schema.uses, values)
        writing.put(connection, schema.looks, [{"id": 1, "at": at}])


def _by_work(found: Iterable[tuple[str, Use]]) -> Mapping[str, list[Use]]:
    by_work: dict[str, list[Use]] = {}
    for work, use in found:
        by_work.setdefault(work, []).append(use)
    return by_work


def _read(connection: Connection, which: ColumnElement[bool]) -> Iterator[tuple[str, Use]]:
    order = (schema.uses.c.began, schema.uses.c.pod)
    for row in connection.execute(select(schema.uses).where(which).order_by(*order)):
        try:
            gaps = _gaps.decode(row.gaps)
        except msgspec.MsgspecError as error:
            raise CorruptError(whys.BAD_ROW(error)) from error
        use = Use(row.pod, row.pod_set, row.attempt, row.rate_milli, row.began, row.ended)
        yield row.work, replace(use, reason=row.reason, gaps=gaps)
