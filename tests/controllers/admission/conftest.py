"""What tests of the keeper begin with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallyard.ledger.store.engine import engine_of
from tallyard.ledger.store.migrating import migrate
from tallyard.ledger.store.store import Store
from tallyard.ledger.store.verifying import verify
from tests.controllers.admission.keeping import (
    HOUR,
    Cluster,
    Replica,
)
from tests.ledger.ledgers import NOVEMBER


@pytest.fixture
def cluster() -> Cluster:
    """One without Workloads."""
    return Cluster()


@pytest.fixture
def now() -> list[int]:
    """The clock of all replicas."""
    return [NOVEMBER + 10 * HOUR]


@pytest.fixture
def store(tmp_path: Path, now: list[int]) -> Iterator[Store]:
    """A ledger in which nothing was ever done."""
    engine = engine_of(tmp_path / "ledger.db")
    migrate(engine)
    yield Store(engine, lambda: now[0])
    verdict = verify(engine)
    assert not verdict.faults
    engine.dispose()


@pytest.fixture
def replica(cluster: Cluster, store: Store, now: list[int]) -> Replica:
    """One that leads."""
    return Replica(cluster, store, now)
