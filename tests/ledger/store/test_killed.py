"""A short life of a ledger whose writer is killed; the long ones are `make soak-ledger`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallyard.ledger.store.engine import engine_of
from tallyard.ledger.store.migrating import migrate
from tests.ledger.keepers import emptied
from tests.ledger.postgresql import PostgresServer
from tests.soak.ledger_life import Life


def test_a_writer_that_is_killed_loses_nothing_and_does_nothing_twice(tmp_path: Path) -> None:
    address = str(tmp_path / "ledger.db")
    migrate(engine_of(address))
    life = Life(seed=7, operations=500, kills=3, address=address)
    life.run()
    assert life.told["kills"] == 3
    assert life.told["FullError"] == life.told["ReadOnlyError"] == 2
    assert len(life.model.kinds) >= 10


def test_the_same_in_postgresql(server: PostgresServer) -> None:
    address = server.get_uri()
    engine = engine_of(address)
    migrate(engine)
    emptied(engine)
    life = Life(seed=8, operations=300, kills=2, address=address)
    life.run()
    assert life.told["kills"] == 2


@pytest.mark.parametrize("seed", [1, 2])
def test_the_same_seed_is_the_same_journal(seed: int) -> None:
    digests = set()
    for _ in range(2):
        life = Life(seed=seed, operations=1000, kills=0, address="")
        list(life.groups())
        digests.add(life.model.books.digest)
    assert len(digests) == 1
