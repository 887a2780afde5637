"""Whatever is changed behind the ledger's back is found and named."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from tallyard.ledger.commands import (
    AnyCommand,
    Expire,
    GrantCluster,
    Merge,
    Owe,
    Refund,
    Rename,
    SetPrice,
    Settle,
)
from tallyard.ledger.store import schema
from tallyard.ledger.store.engine import engine_of, is_sqlite, reads, writes
from tallyard.ledger.store.faults import SchemaError
from tallyard.ledger.store.migrating import migrate
from tallyard.ledger.store.store import Done, Store
from tallyard.ledger.store.verifying import FAULTS_MAX, verify
from tests.ledger.ledgers import DAY, DECEMBER, NOVEMBER, H, freeze_of, grant_of


@pytest.fixture
def full(engine: Engine) -> Engine:
    """A store with something of everything."""
    store = Store(engine, lambda: NOVEMBER)
    commands: list[AnyCommand] = [
        GrantCluster(key="c", grant="2026-11", amount=999 * H, starts=NOVEMBER, expires=DECEMBER),
        grant_of("g1", "nlp", 100 * H, {"li.wei": 100, "chen.yu": 50}),
        grant_of("g2", "vision", 50 * H, {"zhao.min": 100}),
        grant_of("g3", "nlp", H, {"li.wei": 100}, grant="x", ends=NOVEMBER + DAY),
        SetPrice(key="p", model="A100", rate_milli=30_000, since=NOVEMBER),
        Rename(key="n", project="nlp", name="language"),
        freeze_of("f1", "one", 10 * H, wait=H),
        freeze_of("f2", "two", 10 * H),
        Settle(key="s", freeze="one", amount=5 * H),
        Refund(key="r", freeze="one", amount=H, reason="node failure"),
        Owe(key="o", project="nlp", user="li.wei", amount=H, debt_max=H),
    ]
    assert [o for o in store.do(commands) if not isinstance(o, Done)] == []
    later = Store(engine, lambda: NOVEMBER + DAY)
    ends: list[AnyCommand] = [
        Expire(key="e", project="nlp", grant="x"),
        Merge(key="m", source="vision", target="nlp"),
    ]
    assert [o for o in later.do(ends) if not isinstance(o, Done)] == []
    return engine


def test_books_that_are_right_are_found_right(full: Engine) -> None:
    verdict = verify(full)
    assert verdict.faults == ()
    assert (verdict.transactions, verdict.freezes) == (13, 3)
    assert verdict.lots == 8
    assert verdict.entries > 30


# A change behind the ledger's back, and words of what is told of it.
CHANGES = [
    (
        "UPDATE lots SET charged = charged + 1, available = available - 1 WHERE available > 0",
        "charged is",
    ),
    ("UPDATE lots SET expires = expires + 1 WHERE user_name = 'li.wei'", "expires is"),
    ("UPDATE lots SET is_ended = NOT is_ended", "is_ended is"),
    ("DELETE FROM lots WHERE user_name = 'chen.yu'", "the table has not"),
    ("UPDATE freezes SET is_open = NOT is_open", "is_open is"),
    ("UPDATE freezes SET parts = '[]'", "parts is"),
    ("UPDATE freezes SET refunded = 0", "refunded is"),
    ("DELETE FROM freezes WHERE id = 'two'", "the table has not"),
    ("UPDATE debts SET amount = 0", "amount is 0"),
    ("UPDATE projects SET name = 'x'", "name is x"),
    ("UPDATE projects SET merged_into = ''", "merged_into is"),
    ("UPDATE prices SET rate_milli = 1", "rate_milli is 1"),
    ("DELETE FROM prices", "the table has not"),
    ("UPDATE head SET at = at + 1", "the head"),
    ("UPDATE head SET seq = seq - 1", "the head"),
    (
        "UPDATE entries SET amount = amount + 1 WHERE seq = 7 AND number = 0",
        "comes to something else",
    ),
    ("UPDATE entries SET kind = 'release' WHERE seq = 7 AND number = 0", "comes to something else"),
    ("DELETE FROM entries WHERE seq = 7 AND number = 0", "not numbered"),
    ("UPDATE entries SET number = 99 WHERE seq = 7 AND number = 2", "not numbered"),
    ("UPDATE transactions SET command = command || ' ' WHERE seq = 7", "written in another way"),
    (
        """UPDATE transactions SET command = REPLACE(command, '"do"', '"x":1,"do"')""",
        "written in another way",
    ),
    (
        "INSERT INTO transactions SELECT -5, 'gift', 0, '{}', 'x', 1",
        "transactions: 14 rows are there, and 13 are of the journal",
    ),
    ("UPDATE transactions SET digest = 'x' WHERE seq = 7", "digest is another one"),
    ("UPDATE transactions SET at = at + 1 WHERE seq = 13", "digest is another one"),
    (
        "UPDATE transactions SET command = REPLACE(command, 'node failure', 'x')",
        "digest is another one",
    ),
    ("UPDATE transactions SET seq = 99 WHERE seq = 13", "cannot be applied"),
    ("UPDATE transactions SET key = 'zzz' WHERE seq = 7", "its key is 'zzz'"),
    ("UPDATE transactions SET rules = 2 WHERE seq = 7", "of rules 2"),
]


@pytest.mark.parametrize(("change", "told"), CHANGES, ids=[change for change, _ in CHANGES])
def test_each_change_is_found(full: Engine, change: str, told: str) -> None:
    with writes(full) as connection:
        if is_sqlite(full):
            connection.execute(text("PRAGMA defer_foreign_keys = ON"))
        if "seq = 99" in change:
            connection.execute(text("DELETE FROM entries WHERE seq = 13"))
        assert connection.exec_driver_sql(change).rowcount
    faults = verify(full).faults
    assert any(told in fault for fault in faults), faults
    assert len(faults) <= FAULTS_MAX


def test_the_database_itself_refuses_balances_that_cannot_be(full: Engine) -> None:
    for change in (
        "UPDATE lots SET available = available + 1",
        "UPDATE lots SET available = available - 1000000000000000, frozen = frozen + 1000000000000000",
        "UPDATE freezes SET charged = amount + 1",
        "UPDATE freezes SET refunded = charged + 1",
        "UPDATE debts SET amount = -1",
        "UPDATE entries SET amount = -1 WHERE kind = 'freeze'",
        "INSERT INTO head VALUES (2, 0, 0, '')",
        "UPDATE transactions SET key = 'c'",
    ):
        with pytest.raises(Exception, match=r"(?i)constraint|unique|damaged"), writes(full) as c:
            c.execute(text(change))


def test_the_tables_are_migrated_down_and_up_with_their_data(full: Engine) -> None:
    before = verify(full)
    migrate(full, "0001")
    with reads(full) as connection:
        texts = connection.execute(text("SELECT seq, key, at, command, digest FROM transactions"))
        assert len(texts.all()) == before.transactions
    with pytest.raises(SchemaError):
        verify(full)
    migrate(full)
    assert verify(full) == before
    store = Store(full, lambda: NOVEMBER + DAY)
    (outcome,) = store.do([Settle(key="s2", freeze="two", amount=H)])
    assert isinstance(outcome, Done)


def test_the_migrations_come_to_the_schema(engine: Engine) -> None:
    from alembic.autogenerate import compare_metadata  # noqa: PLC0415
    from alembic.migration import MigrationContext  # noqa: PLC0415

    with writes(engine) as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, schema.metadata) == []


def test_down_to_nothing_and_up_again_is_an_empty_ledger(full: Engine) -> None:
    migrate(full, "base")
    migrate(full)
    verdict = verify(full)
    assert (verdict.transactions, verdict.lots, verdict.faults) == (0, 0, ())


def test_a_missing_index_is_found(full: Engine) -> None:
    index = next(each for each in schema.indexes if each.name == "ix_freezes_is_open")
    with writes(full) as connection:
        index.drop(connection)
    faults = verify(full).faults
    with writes(full) as connection:
        index.create(connection)
    assert faults == ("freezes: the index ix_freezes_is_open is missing",)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("UPDATE freezes SET is_open = 7 WHERE is_open", "is_open is 7"),
        (
            "CREATE TRIGGER gift AFTER INSERT ON entries BEGIN UPDATE lots SET base = 1; END",
            "a trigger gift is there",
        ),
    ],
)
def test_what_sqlite_alone_takes_is_found(full: Engine, change: str, told: str) -> None:
    with writes(full) as connection:
        connection.exec_driver_sql(change)
    faults = verify(full).faults
    with writes(full) as connection:
        connection.exec_driver_sql("DROP TRIGGER IF EXISTS gift")
    assert any(told in fault for fault in faults), faults


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_a_bit_of_an_index_is_found(full: Engine, tmp_path: Path) -> None:
    """Answered from a wrong index a key is new, and its command would be done again."""
    with closing(sqlite3.connect(str(full.url.database))) as raw:
        raw.execute(f"VACUUM INTO '{tmp_path / 'copy.db'}'")
        (size,) = raw.execute("PRAGMA page_size").fetchone()
    copy = bytearray((tmp_path / "copy.db").read_bytes())
    with closing(sqlite3.connect(tmp_path / "copy.db")) as raw:
        (root,) = raw.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_transactions_2'"
        ).fetchone()
    at = copy.index(b"f2", (root - 1) * size, root * size)
    copy[at] ^= 1
    (tmp_path / "copy.db").write_bytes(copy)
    other = engine_of(tmp_path / "copy.db")
    assert any("SQLite: " in fault for fault in verify(other).faults)
