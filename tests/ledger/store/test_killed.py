"""Short lives of a ledger whose writer is killed; the long ones are `make soak-ledger`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from tallyard.ledger.store.engine import engine_of
from tallyard.ledger.store.faults import StoreError
from tallyard.ledger.store.migrating import migrate
from tests.ledger.keepers import emptied
from tests.ledger.postgresql import PostgresServer
from tests.soak import ledger
from tests.soak.ledger_life import Life
from tests.soak.ledger_model import LifeError
from tests.soak.ledger_points import Point, drawn

# The digest of PINNED_SEED's journal. Whoever means to change the journal, the operations or the
# rules sets it to what the test says; another one by itself is a journal that is not reproducible.
PINNED_SEED = 1
PINNED_DIGEST = "bbe833f9e13070701a5312df8f48c3ff7c43619293d42bca5a03f3cec7ba173d"
_OPERATIONS = 1000

_DIGEST = f"""
from tests.soak import ledger
from tests.soak.ledger_life import Life
life = Life(seed={{seed}}, operations={_OPERATIONS}, kills=0, address="")
assert sum(len(group) for group, _ in life.groups()) >= {_OPERATIONS}
print(life.model.end.digest)
"""


def _killed_everywhere(life: Life) -> None:
    assert life.killed.total() == life.kills
    assert {point for point, _ in life.killed} == set(Point)


def test_a_writer_that_is_killed_loses_nothing_and_does_nothing_twice(tmp_path: Path) -> None:
    address = str(tmp_path / "ledger.db")
    migrate(engine_of(address))
    life = Life(seed=7, operations=500, kills=len(Point), address=address)
    life.run()
    _killed_everywhere(life)
    assert life.told["torn tails"] > 0
    assert life.told["FullError"] == life.told["ReadOnlyError"] == 2
    assert len(life.model.kinds) >= 10


def test_the_same_in_postgresql(server: PostgresServer) -> None:
    address = server.get_uri()
    engine = engine_of(address)
    migrate(engine)
    emptied(engine)
    life = Life(seed=8, operations=300, kills=len(Point), address=address)
    life.run()
    _killed_everywhere(life)


def test_a_life_that_cannot_be_killed_as_often_as_it_should_fails(server: PostgresServer) -> None:
    address = server.get_uri()
    engine = engine_of(address)
    migrate(engine)
    emptied(engine)
    with pytest.raises(LifeError, match="1 kills of 2: too few groups wrote"):
        Life(seed=7, operations=3, kills=2, address=address).run()


@pytest.mark.parametrize("error", [LifeError("twice"), RuntimeError("odd"), StoreError("gone")])
def test_whatever_ends_a_life_is_told_with_its_seed(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Life) -> None:
        raise error

    monkeypatch.setattr(Life, "run", fail)
    lived = ledger._live(ledger.Asked(500, 3, "sqlite"), 11, str(tmp_path / "11" / "ledger.db"))
    assert lived.has_failed
    assert str(error) in lived.line
    again = "--first 11 --seeds 1 --operations 500 --kills 3 --store sqlite"
    assert lived.line.endswith(f"again: .venv/bin/python -m tests.soak.ledger {again}")


def test_fewer_kills_than_asked_are_a_failure() -> None:
    lived = ledger.Lived("", has_failed=False, killed=Counter({(Point.BEFORE_ANSWER, True): 11}))
    assert ledger._summed_up([lived], kills=11) == 0
    assert ledger._summed_up([lived], kills=12) == 1


def test_each_point_is_drawn_as_often_as_the_others() -> None:
    one, other = (drawn(12, Random(seed)) for seed in (1, 2))  # noqa: S311 - nothing secret
    assert {point: one.count(point) for point in Point} == dict.fromkeys(Point, 3)
    assert one != other


def _digest(seed: int, hash_seed: str) -> str:
    """Live a life in a process of its own, in which sets have an order of their own."""
    return subprocess.run(
        [sys.executable, "-c", _DIGEST.format(seed=seed)],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


@pytest.mark.parametrize("seed", [PINNED_SEED, 2])
def test_the_same_seed_is_the_same_journal_in_any_process(seed: int) -> None:
    assert _digest(seed, "1") == _digest(seed, "2")


def test_a_seeds_journal_is_the_one_that_it_always_was() -> None:
    assert _digest(PINNED_SEED, "3") == PINNED_DIGEST
