"""A backup that is taken while others write, restored into either store."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import msgspec
import pytest
from sqlalchemy import Engine, text

from tallyard.ledger.commands import Refund, Settle
from tallyard.ledger.store.backup import BackupError, backup, newer, restore
from tallyard.ledger.store.engine import engine_of, writes
from tallyard.ledger.store.faults import CorruptError
from tallyard.ledger.store.migrating import migrate
from tallyard.ledger.store.store import Done, Store
from tallyard.ledger.store.verifying import verify
from tallyard.ledger.transactions import GENESIS, Transaction
from tests.ledger.keepers import emptied
from tests.ledger.ledgers import BEGIN, NOVEMBER, H, freeze_of
from tests.ledger.postgresql import PostgresServer

# So many before anything is looked at.
FREEZES = 30
# A freeze takes milliseconds, on a busy machine a second.
_WAIT_SECONDS_MAX = 120.0


class Load:
    """A writer that freezes, settles and refunds until it is told to stop."""

    def __init__(self, engine: Engine) -> None:
        self.store = Store(engine, lambda: NOVEMBER)
        self.frozen: list[str] = []
        self.resolved: set[str] = set()
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> Self:
        self.store.do(BEGIN)
        self._thread.start()
        self._wait(FREEZES)
        return self

    def __exit__(self, *_: object) -> None:
        try:
            # One may have been done before what this load was for has ended, and be noted only
            # now; the one after it was surely begun later.
            self._wait(len(self.frozen) + 2)
        finally:
            self._enough.set()
            self._thread.join()

    def _wait(self, frozen: int) -> None:
        until = time.monotonic() + _WAIT_SECONDS_MAX
        while len(self.frozen) < frozen:
            assert self._thread.is_alive(), "the writer ended by itself"
            assert time.monotonic() < until, f"{len(self.frozen)} freezes of {frozen}"
            time.sleep(0.005)

    def _work(self) -> None:
        number = 0
        while not self._enough.is_set():
            name = f"j{number}"
            (outcome,) = self.store.do([freeze_of(f"f/{name}", name, H // 1000)])
            assert isinstance(outcome, Done)
            self.frozen.append(name)
            if number % 2:
                self.store.do([Settle(key=f"s/{name}", freeze=name, amount=H // 2000)])
                refund = Refund(key=f"r/{name}", freeze=name, amount=1, reason="node failure")
                self.store.do([refund])
                self.resolved.add(name)
            number += 1

    @property
    def seen(self) -> dict[str, bool]:
        """Return the freezes as the world knows them."""
        return {name: name in self.resolved for name in self.frozen}


def _other(engine: Engine, server: PostgresServer, tmp_path: Path) -> Engine:
    """Return an empty store of the other kind."""
    if engine.dialect.name != "sqlite":
        return engine_of(tmp_path / "restored.db")
    other = engine_of(server.get_uri())
    migrate(other)
    return emptied(other)


def test_one_taken_under_load_is_whole_and_tells_what_is_newer(
    engine: Engine, server: PostgresServer, tmp_path: Path
) -> None:
    file = tmp_path / "backup"
    with Load(engine) as load:
        before = list(load.frozen)
        count = backup(engine, file)
    other = _other(engine, server, tmp_path)
    assert restore(other, file) == count
    verdict = verify(other)
    assert not verdict.faults
    assert verdict.transactions == count
    told = dict(line.split(": ") for line in newer(other, load.seen))
    assert not told.keys() & set(before[:-1])
    # That there was something newer: the writer went on after the backup.
    assert load.frozen[-1] in told
    assert not list(newer(engine, load.seen))


def test_what_ended_since_the_backup_is_told(engine: Engine, tmp_path: Path) -> None:
    store = Store(engine, lambda: NOVEMBER)
    store.do([*BEGIN, freeze_of("k", "train", H)])
    backup(engine, tmp_path / "backup")
    restored = engine_of(tmp_path / "restored.db")
    restore(restored, tmp_path / "backup")
    assert list(newer(restored, {"train": True})) == [
        "train: it was resolved, and in the ledger it is open"
    ]
    assert list(newer(restored, {"train": False})) == []


def test_a_backup_is_taken_again_from_what_was_restored(engine: Engine, tmp_path: Path) -> None:
    with Load(engine):
        pass
    one, two = tmp_path / "one", tmp_path / "two"
    backup(engine, one)
    restored = engine_of(tmp_path / "restored.db")
    restore(restored, one)
    backup(restored, two)
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda content: content[:-40], "not whole"),
        (lambda content: b"\n".join(content.split(b"\n")[:-2]) + b"\n", "it ends at transaction"),
        (lambda content: content.replace(b'"amount":3600', b'"amount":3601', 1), "something else"),
        (lambda content: content.replace(b'"digest":"', b'"digest":"0', 3), "was changed"),
        (lambda content: content.replace(b'"key":"k1"', b'"key":"k2"', 1), "was changed"),
        (lambda content: content.replace(b'"format":1', b'"format":9', 1), "its format is 9"),
        (lambda _: b"", "none of ours"),
        (lambda _: b"SQLite format 3\0", "none of ours"),
    ],
    ids=[
        *("cut off", "a line less", "an amount", "a digest", "a key", "newer", "empty"),
        "another file",
    ],
)
def test_what_is_not_whole_is_refused_and_nothing_is_written(
    engine: Engine, tmp_path: Path, damage: object, told: str
) -> None:
    assert callable(damage)
    store = Store(engine, lambda: NOVEMBER)
    store.do([*BEGIN, *(freeze_of(f"k{n}", f"j{n}", 3600) for n in range(9))])
    file = tmp_path / "backup"
    backup(engine, file)
    file.write_bytes(damage(file.read_bytes()))
    restored = engine_of(tmp_path / "restored.db")
    with pytest.raises(BackupError, match=told):
        restore(restored, file)
    # What is no backup of ours at all makes no store either.
    is_made = (tmp_path / "restored.db").exists()
    assert is_made == ("none of ours" not in told and "format" not in told)
    assert not is_made or verify(restored).transactions == 0


def test_a_store_that_is_in_use_is_not_restored_over(engine: Engine, tmp_path: Path) -> None:
    Store(engine, lambda: NOVEMBER).do(BEGIN)
    backup(engine, tmp_path / "backup")
    with pytest.raises(BackupError, match="not empty"):
        restore(engine, tmp_path / "backup")


def test_a_backup_that_cannot_be_written_leaves_nothing(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        backup(engine, tmp_path / "no" / "folder")
    (tmp_path / "backup").mkdir()
    with pytest.raises(OSError, match="directory"):
        backup(engine, tmp_path / "backup")
    assert [each.name for each in tmp_path.iterdir()] == ["backup"]


def _forge(lines: list[dict[str, Any]]) -> bytes:
    """Return a backup whose digests follow one another, as anybody can make them."""
    before, told = GENESIS, []
    for line in lines[1:]:
        transaction = msgspec.convert(line["transaction"], Transaction)
        before = transaction.digest(before)
        told.append({**line, "digest": before})
    head = {**lines[0], "digest": before}
    return b"\n".join(map(msgspec.json.encode, [head, *told])) + b"\n"


@pytest.mark.parametrize(
    ("number", "change", "told"),
    [
        (-1, lambda t: t["entries"][0].__setitem__(3, 7200), "comes to something else"),
        (-1, lambda t: t["command"].update(key="k0"), "refuses what is in it"),
        (-1, lambda t: t["command"].update(job="x" * 900), "comes to something else"),
        (-1, lambda t: t.update(at=1), "comes to something else|cannot follow"),
        (-1, lambda t: t.update(rules=7), "7"),
        (2, lambda t: t["command"].update(amount=2**63), "comes to something else|not whole"),
    ],
    ids=["an entry", "a key twice", "a long name", "an earlier moment", "newer rules", "too much"],
)
def test_a_backup_whose_digests_were_made_to_fit_is_refused(
    engine: Engine,
    tmp_path: Path,
    number: int,
    change: Callable[[dict[str, Any]], object],
    told: str,
) -> None:
    Store(engine, lambda: NOVEMBER).do(
        [*BEGIN, *(freeze_of(f"k{n}", f"j{n}", 3600) for n in range(3))]
    )
    backup(engine, file := tmp_path / "backup")
    lines = [json.loads(line) for line in file.read_bytes().splitlines()]
    change(lines[number]["transaction"])
    file.write_bytes(_forge(lines))
    other = engine_of(tmp_path / "restored.db")
    with pytest.raises(BackupError, match=told):
        restore(other, file)
    assert verify(other).transactions == 0


def test_books_that_were_changed_do_not_take_the_place_of_a_good_backup(
    engine: Engine, tmp_path: Path
) -> None:
    Store(engine, lambda: NOVEMBER).do([*BEGIN, freeze_of("k", "train", 3600)])
    backup(engine, file := tmp_path / "backup")
    good = file.read_bytes()
    for change in (
        "UPDATE entries SET amount = amount + 1 WHERE seq = 3 AND number = 0",
        "DELETE FROM entries WHERE seq = 3",
        "DELETE FROM transactions WHERE seq = 3",
    ):
        with writes(engine) as connection:
            connection.execute(text(change))
        with pytest.raises(CorruptError):
            backup(engine, file)
        assert file.read_bytes() == good
