"""Whose tables they are, of which version, and whether all are there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from tallyard.ledger.store.engine import engine_of, writes
from tallyard.ledger.store.faults import (
    CorruptError,
    NewerError,
    SchemaError,
    StoreError,
    StrangerError,
)
from tallyard.ledger.store.migrating import NOTHING, migrate, newest, require_newest, version
from tests.ledger.postgresql import PostgresServer, own_database


@pytest.fixture(params=["sqlite", "postgresql"])
def own(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """A database of its own, in which there is nothing."""
    if request.param == "sqlite":
        engine = engine_of(tmp_path / "own.db")
        yield engine
        engine.dispose()
        return
    server: PostgresServer = request.getfixturevalue("server")
    with own_database(server, "own") as address:
        engine = engine_of(address)
        yield engine
        engine.dispose()


def _run(engine: Engine, *statements: str) -> None:
    with writes(engine) as connection:
        for statement in statements:
            connection.execute(text(statement))


_EMPTY = "DELETE FROM alembic_version"
_DROPPED = (
    *("entries", "transactions", "head", "lots", "freezes", "debts", "projects", "prices"),
    *("uses", "looks"),
)


@pytest.mark.parametrize(
    ("statements", "kind", "said"),
    [
        (("UPDATE alembic_version SET version_num = '0099'",), NewerError, "0099"),
        (("UPDATE alembic_version SET version_num = ''",), CorruptError, "no tally writes"),
        (("UPDATE alembic_version SET version_num = 'x'",), CorruptError, "'x'"),
        (("INSERT INTO alembic_version VALUES ('0001')",), CorruptError, "2 rows"),
        ((_EMPTY,), CorruptError, "0 rows"),
        (("DROP TABLE alembic_version",), CorruptError, "is not there"),
        (("DROP TABLE lots", "DROP TABLE debts"), CorruptError, "gone: debts, lots"),
        (tuple(f"DROP TABLE {name}" for name in _DROPPED), StrangerError, "alembic_version"),
    ],
)
def test_tables_that_are_not_as_they_were_made_are_told_by_all(
    own: Engine, statements: tuple[str, ...], kind: type[StoreError], said: str
) -> None:
    migrate(own)
    _run(own, *statements)
    for act in (version, require_newest, migrate):
        with pytest.raises(StoreError, match=said) as caught:
            act(own)
        assert type(caught.value) is kind


def test_a_database_of_another_program_is_left_alone(own: Engine) -> None:
    _run(own, "CREATE TABLE songs (name VARCHAR(9))")
    for act in (version, require_newest, migrate):
        with pytest.raises(StrangerError, match="songs"):
            act(own)
    # Other programs use Alembic, too, and count from 0001 as we do.
    _run(own, "CREATE TABLE alembic_version (version_num VARCHAR(32))")
    for statement in ("SELECT 1", "INSERT INTO alembic_version VALUES ('0001')"):
        _run(own, statement)
        with pytest.raises(StrangerError):
            migrate(own)


def test_a_version_lacks_only_what_came_after_it(own: Engine) -> None:
    migrate(own, "0003")
    assert version(own) == "0003"
    migrate(own)
    _run(own, "DROP TABLE looks")
    with pytest.raises(CorruptError, match="gone: looks"):
        version(own)


def test_nothing_is_made_to_a_store_and_to_nothing_again(own: Engine) -> None:
    assert version(own) == NOTHING
    with pytest.raises(SchemaError, match=r"no tables.*`tally ledger migrate`"):
        require_newest(own)
    migrate(own)
    assert version(own) == newest()
    migrate(own, NOTHING)
    assert version(own) == NOTHING
    migrate(own)
    require_newest(own)


def test_a_newer_store_asks_for_a_newer_tally_in_both_languages() -> None:
    assert NewerError.texts["en"][1].startswith("Update tally")
    assert "升级 tally" in NewerError.texts["zh"][1]
