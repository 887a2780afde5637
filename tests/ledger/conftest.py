"""A ledger with a cluster's grant and one project's, in memory and in both stores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from tallyard.ledger.store.engine import engine_of
from tallyard.ledger.store.migrating import migrate
from tests.ledger import postgresql
from tests.ledger.keepers import Stored, emptied
from tests.ledger.ledgers import H, InMemory, Ledger

STORES = ("sqlite", "postgresql")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[postgresql.PostgresServer]:
    """A real PostgreSQL of this process, on a socket of its own."""
    with postgresql.running(tmp_path_factory.mktemp("postgresql")) as found:
        yield found


@pytest.fixture(scope="session")
def made() -> dict[str, Engine]:
    """The stores of this process by kind, as they are asked for."""
    return {}


@pytest.fixture(params=STORES)
def engine(
    request: pytest.FixtureRequest,
    made: dict[str, Engine],
    tmp_path_factory: pytest.TempPathFactory,
) -> Engine:
    """An empty store of each kind."""
    return store_of(request.param, request, made, tmp_path_factory)


@pytest.fixture(params=("memory", *STORES))
def empty(
    request: pytest.FixtureRequest,
    made: dict[str, Engine],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Ledger]:
    """A ledger in which nothing was ever done: plain books, and each store beside them."""
    if request.param == "memory":
        yield Ledger(InMemory())
        return
    stored = Stored(store_of(request.param, request, made, tmp_path_factory))
    yield Ledger(stored)
    stored.end()


@pytest.fixture
def ledger(empty: Ledger) -> Ledger:
    """1,000 core-hours of the cluster, 100 of nlp, of which li.wei may use all, chen.yu half."""
    empty.grant_cluster(1000 * H)
    empty.grant("nlp", 100 * H, {"li.wei": 100, "chen.yu": 50})
    return empty


def store_of(
    kind: str,
    request: pytest.FixtureRequest,
    made: dict[str, Engine],
    folders: pytest.TempPathFactory,
) -> Engine:
    """Return the store of a kind, empty."""
    if kind not in made:
        address: str | Path = folders.mktemp("ledger") / "ledger.db"
        if kind == "postgresql":
            address = request.getfixturevalue("server").get_uri()
        made[kind] = engine_of(address)
        migrate(made[kind])
    return emptied(made[kind])
