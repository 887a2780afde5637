"""One seed's life of a ledger in a real store, whose writer is killed again and again.

The same commands are done by books in memory, which nobody kills. In the end the journal must
be the same, byte for byte, and every balance with it: nothing lost, nothing twice.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tallyard.ledger import invariants
from tallyard.ledger.accounts import Account
from tallyard.ledger.books import Books
from tallyard.ledger.commands import AnyCommand
from tallyard.ledger.decide import decide
from tallyard.ledger.lots import BALANCES, Lot
from tallyard.ledger.refusals import Reason, Refused
from tallyard.ledger.store.engine import engine_of
from tallyard.ledger.store.faults import StoreError
from tallyard.ledger.store.verifying import verify
from tallyard.ledger.transactions import Transaction, command_text
from tests.ledger.ledgers import grant_of
from tests.ledger.operations import Operations

GROUP_MAX = 40
# Every so many operations all balances are added up, beside those that were touched.
ALL_EVERY = 250
# The operations name some of the last that were resolved.
RESOLVED_KEPT = 2000
_WRITER = "tests.soak.ledger_writer"
# A moment within a group: some before it is read, some after it was written.
_KILL_SECONDS_MAX = 0.06


class LifeError(Exception):
    """The store and the books do not agree, or a rule does not hold."""


@dataclass
class Model:
    """Books in memory, with every invariant looked at after each operation."""

    books: Books = field(default_factory=Books)
    done: dict[str, tuple[AnyCommand, int]] = field(default_factory=dict)
    operations: int = 0
    kinds: Counter[str] = field(default_factory=Counter)

    def do(self, command: AnyCommand, at: int) -> list[Any]:
        """Do a command and return what the store must answer."""
        self.operations += 1
        if before := self.done.get(command.key):
            if before[0] == command:
                return ["done", before[1]]
            return ["refused", repr(Refused(Reason.KEY_REUSED, command.key, before[1]))]
        decided = decide(self.books, command, at)
        if not isinstance(decided, Transaction):
            return ["refused", repr(decided)]
        self.books.apply(decided)
        self.done[command.key] = command, decided.seq
        self.kinds[type(command).__name__] += 1
        self._check(decided)
        return ["done", decided.seq]

    def _check(self, transaction: Transaction) -> None:
        faults = list(invariants.of_transaction(self.books, transaction))
        if self.operations % ALL_EVERY == 0:
            faults += invariants.of_books(self.books)
            self._sum_up()
        if faults:
            raise LifeError(f"after operation {self.operations}: {faults[0]}")

    def _sum_up(self) -> None:
        """Keep what has ended as one sum an account, so that a long life does not slow down."""
        sums: dict[tuple[Account, str], Lot] = {}
        for (account, _), lot in self.books.ended.items():
            total = sums.setdefault((account, ""), Lot("", 0, 0))
            for name in BALANCES:
                setattr(total, name, getattr(total, name) + getattr(lot, name))
        self.books.ended = sums
        resolved = [i for i, record in self.books.freezes.items() if not record.is_open]
        for each in resolved[:-RESOLVED_KEPT]:
            del self.books.freezes[each]
            self.books.resolved.discard(each)


@dataclass
class Writer:
    """The process that writes; it is started again after each kill."""

    address: str
    kills: int = 0
    process: subprocess.Popen[str] | None = None

    def send(self, line: str, *, pages_max: int = 0) -> None:
        """Hand over a group; starts a process where there is none."""
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-m", _WRITER, self.address, str(pages_max)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=os.environ,
            )
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """Wait for what a group came to."""
        assert self.process is not None
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise LifeError(f"the writer ended with {self.process.wait()}")
        found: dict[str, Any] = json.loads(line)
        return found

    def kill(self) -> None:
        """End it as a power cut would, in the middle of whatever it does."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()
        self.process = None
        self.kills += 1

    def stop(self) -> None:
        """Let it end by itself."""
        if self.process is not None:
            self.process.communicate()
            self.process = None


@dataclass
class Life:
    """One seed's operations, in groups of a random size, with kills drawn over them."""

    seed: int
    operations: int
    kills: int
    address: str
    model: Model = field(default_factory=Model)
    told: Counter[str] = field(default_factory=Counter)

    def run(self) -> None:
        """Live it, then compare.

        Raises:
            LifeError: What does not agree, and after how many operations.
        """
        writer = Writer(self.address)
        chance = random.Random(self.seed + 1)  # noqa: S311 - reproducible, nothing secret
        moments = set(chance.sample(range(1, self.operations), self.kills))
        troubles = set(chance.sample(range(1, self.operations), 2)) if self.file else set()
        try:
            for group, at in self.groups():
                is_due = {m for m in moments if m <= self.model.operations}
                moments -= is_due
                self._one(writer, chance, group, at, is_killed=bool(is_due))
                if troubled := {m for m in troubles if m <= self.model.operations}:
                    troubles -= troubled
                    writer.stop()
                    self._trouble(chance)
        finally:
            writer.stop()
        self.told["kills"] += writer.kills
        self._compare()

    @property
    def file(self) -> Path | None:
        """Return SQLite's file, where it is one."""
        return None if "://" in self.address else Path(self.address)

    def groups(self) -> Iterator[tuple[list[tuple[AnyCommand, Any]], int]]:
        """Yield the commands in groups, each with what the model says, and the moment of a group."""
        chance = random.Random(self.seed)  # noqa: S311 - reproducible, nothing secret
        source = Operations(self.seed, self.model.books)
        while self.model.operations < self.operations:
            at = source.now
            group = []
            for _ in range(chance.randrange(1, GROUP_MAX + 1)):
                command = source.next()
                answer = self.model.do(command, at)
                if answer[0] == "done":
                    source.was_done(command)
                group.append((command, answer))
            yield group, at

    def _one(
        self,
        writer: Writer,
        chance: random.Random,
        group: Sequence[tuple[AnyCommand, Any]],
        at: int,
        *,
        is_killed: bool,
    ) -> None:
        writer.send(_line(group, at))
        if is_killed:
            time.sleep(chance.random() * _KILL_SECONDS_MAX)
            writer.kill()
            if self.file and chance.random() < 0.5:
                self._tear_the_tail(chance)
            # Nobody knows whether it was done: the same again, but for what is refused, which
            # leaves no trace and would be decided anew.
            group = [each for each in group if each[1][0] == "done"]
            writer.send(_line(group, at))
        self._expect(writer.answer(), group)

    def _expect(self, answer: dict[str, Any], group: Sequence[tuple[AnyCommand, Any]]) -> None:
        if "error" in answer:
            raise LifeError(f"at operation {self.model.operations}: {answer['why']}")
        for (command, wanted), found in zip(group, answer["outcomes"], strict=True):
            if found != wanted:
                raise LifeError(f"{command}: the store says {found}, the books {wanted}")

    def _tear_the_tail(self, chance: random.Random) -> None:
        """Leave a half-written record at the end of the log, as a power cut may."""
        log = Path(f"{self.address}-wal")
        if log.exists():
            with log.open("ab") as tail:
                tail.write(chance.randbytes(chance.randrange(1, 3000)))
            self.told["torn tails"] += 1

    def _trouble(self, chance: random.Random) -> None:
        """Have a full disk, a store that may not be written, and a damaged page, each told."""
        assert self.file is not None
        copy = self.file.with_name("copy.db")
        _copy(self.file, copy)
        for address, pages_max, told in (
            (str(copy), _pages(copy), "FullError"),
            (f"sqlite:///file:{copy}?mode=ro&uri=true", 0, "ReadOnlyError"),
        ):
            self._expect_told(address, pages_max, told)
        if verify(engine_of(copy)).faults:
            raise LifeError("after a full disk and a read-only store the books are wrong")
        _tear(copy, chance)
        try:
            is_found = bool(verify(engine_of(copy)).faults)
        except StoreError:
            is_found = True
        self.told["torn pages found" if is_found else "torn pages without loss"] += 1
        for each in copy.parent.glob("copy.db*"):
            each.unlink()

    def _expect_told(self, address: str, pages_max: int, told: str) -> None:
        """Write until the trouble is told; what was answered before is there."""
        writer = Writer(address)
        at = max(self.model.books.at, 1)
        try:
            for n in range(2000):
                grant = grant_of(f"t{n}", "trouble", 1, {}, grant=f"{n}", starts=at, ends=at + 9)
                writer.send(
                    json.dumps({"at": at, "commands": [command_text(grant)]}), pages_max=pages_max
                )
                answer = writer.answer()
                if answer.get("error") == told:
                    self.told[told] += 1
                    return
                if "error" in answer:
                    raise LifeError(f"{answer['why']}, and not {told}")
        finally:
            writer.stop()
        raise LifeError(f"{told} was never told")

    def _compare(self) -> None:
        verdict = verify(engine_of(self.address))
        if verdict.faults:
            raise LifeError(f"verify: {verdict.faults[0]}")
        books = self.model.books
        if (verdict.transactions, verdict.digest) != (books.seq, books.digest):
            raise LifeError(
                f"the store's journal has {verdict.transactions} transactions and ends with "
                f"{verdict.digest[:12]}, the books {books.seq} and {books.digest[:12]}"
            )


def _line(group: Sequence[tuple[AnyCommand, Any]], at: int) -> str:
    return json.dumps({"at": at, "commands": [command_text(command) for command, _ in group]})


def _copy(file: Path, copy: Path) -> None:
    with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)


def _pages(file: Path) -> int:
    with closing(sqlite3.connect(file)) as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        return int(pages)


def _tear(file: Path, chance: random.Random) -> None:
    """Let the second half of some page be of nothing."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    content = bytearray(file.read_bytes())
    page = chance.randrange(1, len(content) // size)
    content[page * size + size // 2 : (page + 1) * size] = bytes(size - size // 2)
    file.write_bytes(content)
