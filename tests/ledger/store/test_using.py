"""When pods ran, kept in both stores."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import Engine, text

from tallyard.ledger.store import using
from tallyard.ledger.store.engine import writes
from tallyard.ledger.store.faults import CorruptError, StoreError
from tallyard.ledger.uses import Use
from tests.ledger.ledgers import NOVEMBER

RUNS = Use("pod-1", "main", 0, 12_000, began=NOVEMBER)
OVER = Use(
    "pod-2",
    "main",
    1,
    30_000,
    NOVEMBER - 60,
    NOVEMBER - 30,
    "Preempted",
    ((NOVEMBER - 50, NOVEMBER),),
)


def test_nobody_has_looked_at_a_new_store(engine: Engine) -> None:
    assert using.begun(engine) == (0, {})
    assert using.of_work(engine, "w") == []


def test_what_was_seen_is_there_for_who_begins(engine: Engine) -> None:
    other = replace(OVER, pod="pod-3")
    using.keep(engine, NOVEMBER, [("w", RUNS), ("w", OVER), ("other", other)])
    # Of work of which nothing goes on, nobody has to be told at the begin.
    assert using.begun(engine) == (NOVEMBER, {"w": [OVER, RUNS]})
    assert using.of_work(engine, "other") == [other]


def test_a_use_is_written_over_as_it_ends(engine: Engine) -> None:
    using.keep(engine, NOVEMBER, [("w", RUNS)])
    ended = replace(RUNS, ended=NOVEMBER + 5)
    using.keep(engine, NOVEMBER + 10, [("w", ended)])
    assert using.begun(engine) == (NOVEMBER + 10, {})
    assert using.of_work(engine, "w") == [ended]


def test_a_look_at_which_nothing_changed_is_kept_too(engine: Engine) -> None:
    using.keep(engine, NOVEMBER, [("w", RUNS)])
    using.keep(engine, NOVEMBER + 10, [])
    assert using.begun(engine) == (NOVEMBER + 10, {"w": [RUNS]})


def test_a_use_that_ends_before_it_begins_is_refused_with_all_beside_it(engine: Engine) -> None:
    back = replace(RUNS, ended=NOVEMBER - 1)
    with pytest.raises(StoreError):
        using.keep(engine, NOVEMBER, [("w", OVER), ("w", back)])
    assert using.begun(engine) == (0, {})
    assert using.of_work(engine, "w") == []


def test_a_row_that_was_changed_is_told(engine: Engine) -> None:
    using.keep(engine, NOVEMBER, [("w", RUNS)])
    with writes(engine) as connection:
        connection.execute(text("UPDATE uses SET gaps = '{'"))
    with pytest.raises(CorruptError):
        using.begun(engine)
