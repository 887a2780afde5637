"""Where the writer of a ledger dies, and what must be there of its group then.

The writer ends itself by SIGKILL, at events that SQLAlchemy tells anybody of: the ledger's own code
knows nothing of it. A kill from outside at a drawn moment hits what nobody thought of, but seldom
one of these.
"""

from __future__ import annotations

import os
import signal
from enum import StrEnum
from random import Random
from typing import Any, NoReturn

from sqlalchemy import Engine, event

from tallyard.ledger.store import schema

_FIRST_ROW = f"INSERT INTO {schema.transactions.name} "


class Point(StrEnum):
    """A place within the work on a group, or any moment of it."""

    BEFORE_WRITE = "before its first row is written"
    BEFORE_COMMIT = "before the commit"
    BEFORE_ANSWER = "before the answer"
    ANY = "at a drawn moment"

    @property
    def leaves(self) -> bool | None:
        """Say whether the group must be there after a kill; None where it may or may not."""
        return _LEAVES.get(self)


_LEAVES = {Point.BEFORE_WRITE: False, Point.BEFORE_COMMIT: False, Point.BEFORE_ANSWER: True}


def drawn(kills: int, chance: Random) -> list[Point]:
    """Return a point for each kill, in a drawn order, each point as often as the others."""
    points = [list(Point)[n % len(Point)] for n in range(kills)]
    chance.shuffle(points)
    return points


class Crash:
    """Ends this process where `point` says, in the group that is done next."""

    def __init__(self, engine: Engine) -> None:
        self.point: Point | None = None
        self._has_written = False
        event.listen(engine, "before_cursor_execute", self._at_statement)
        event.listen(engine, "commit", self._at_commit)

    def at_answer(self) -> None:
        """Tell that `Store.do` has returned."""
        if self.point is Point.BEFORE_ANSWER:
            _die()

    def _at_statement(self, _c: object, _cursor: object, statement: str, *_: Any) -> None:
        if statement.startswith(_FIRST_ROW):
            self._has_written = True
            if self.point is Point.BEFORE_WRITE:
                _die()

    def _at_commit(self, _: object) -> None:
        """Die before the driver is asked to commit, which is when SQLAlchemy tells this."""
        if self._has_written and self.point is Point.BEFORE_COMMIT:
            _die()
        self._has_written = False


def _die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError
