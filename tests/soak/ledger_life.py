"""One seed's life of a ledger in a real store, whose writer is killed again and again.

The same commands are done by books in memory, which nobody kills. In the end the journal must
be the same, byte for byte, and every balance with it: nothing lost, nothing twice.
"""

from __future__ import annotations

import random
import sqlite3
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import event

from tallyard.ledger.commands import AnyCommand
from tallyard.ledger.store import reading
from tallyard.ledger.store.engine import engine_of, is_sqlite, writes
from tallyard.ledger.store.verifying import verify
from tests.ledger.operations import Operations
from tests.soak.ledger_model import End, LifeError, Model
from tests.soak.ledger_points import Point, drawn
from tests.soak.ledger_process import Writer, line_of, said
from tests.soak.ledger_trouble import troubled

GROUP_MAX = 40
# A drawn moment is within so many times what the group before took, so that some come after the
# answer; but a group that waited for the start of its process says nothing of the next one.
_KILL_SPAN, _KILL_SECONDS_MAX = 1.2, 0.06

# A command and what must be answered.
type Group = Sequence[tuple[AnyCommand, Any]]


class Kill(NamedTuple):
    """After how many operations it is due, where the writer dies, and whether its log is torn."""

    operations: int
    point: Point
    is_torn: bool


@dataclass
class Life:
    """One seed's operations, in groups of a random size, with kills drawn over them.

    `killed` counts them by where the writer died and whether the group was there after it.
    """

    seed: int
    operations: int
    kills: int
    address: str
    model: Model = field(default_factory=Model)
    told: Counter[str] = field(default_factory=Counter)
    killed: Counter[tuple[Point, bool]] = field(default_factory=Counter)

    def run(self) -> None:
        """Live it, then compare.

        Raises:
            LifeError: What does not agree, and after how many operations.
        """
        writer = Writer(self.address)
        chance = random.Random(self.seed + 1)  # noqa: S311 - reproducible, nothing secret
        due = self._drawn_kills(chance)
        troubles = chance.sample(range(1, self.operations), 2) if self.file else []
        before = self.model.end
        try:
            for group, at in self.groups():
                # One that writes nothing would pass the points at which a writer dies.
                if due and due[0].operations <= self.model.operations and self.model.end != before:
                    self._killed(writer, chance, due.popleft(), (group, at), before)
                    # Whoever asked does not know what became of it and says it again, but for what
                    # is refused, which leaves no trace and would be decided anew.
                    group = [each for each in group if each[1][0] == "done"]  # noqa: PLW2901
                writer.send(line_of([command for command, _ in group], at))
                self._expect(writer.answer(), group)
                before = self.model.end
                while self.file and troubles and min(troubles) <= self.model.operations:
                    troubles.remove(min(troubles))
                    writer.stop()
                    self.told += troubled(self.file, max(self.model.books.at, 1), chance)
        finally:
            writer.stop()
        if due:
            raise LifeError(f"{self.killed.total()} kills of {self.kills}: too few groups wrote")
        self._compare()

    @property
    def file(self) -> Path | None:
        """Return SQLite's file, where it is one."""
        return None if "://" in self.address else Path(self.address)

    def groups(self) -> Iterator[tuple[Group, int]]:
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

    def _drawn_kills(self, chance: random.Random) -> deque[Kill]:
        """Return the kills in their order.

        Two that are due in one group are two groups' kills, so the end is left for those.
        """
        last = max(self.kills + 1, self.operations - self.kills * GROUP_MAX)
        moments = sorted(chance.sample(range(1, last), self.kills))
        points = drawn(self.kills, chance)
        torn = [n % 2 == 0 for n in range(self.kills)]
        chance.shuffle(torn)
        return deque(map(Kill, moments, points, torn))

    def _killed(
        self,
        writer: Writer,
        chance: random.Random,
        kill: Kill,
        work: tuple[Group, int],
        before: End,
    ) -> None:
        """Let the writer die within a group, and see what is there of it."""
        (group, at), point = work, kill.point
        commands = [command for command, _ in group]
        must_be = point.leaves
        if point is Point.ANY:
            writer.send(line_of(commands, at))
            span = min(_KILL_SPAN * writer.seconds, _KILL_SECONDS_MAX)
            if answer := writer.kill(chance.random() * span):
                self._expect(answer, group)
                must_be = True
        else:
            writer.send(line_of(commands, at, dies=point))
            writer.die(point)
        if self.file and kill.is_torn:
            self._tear_the_tail(chance)
        is_there = self._is_there(point, before)
        if must_be is not None and is_there != must_be:
            raise LifeError(
                f"at operation {self.model.operations}: killed {point}, and the group is "
                f"{'there' if is_there else 'not there'}"
            )
        self.killed[point, is_there] += 1

    def _is_there(self, point: Point, before: End) -> bool:
        """Say whether the group that a kill hit is in the store: all of it, or nothing.

        Raises:
            LifeError: A part of it is, or a part of what was answered before is not.
        """
        engine = engine_of(self.address)
        if is_sqlite(engine):
            event.listen(engine, "connect", _keep_the_log)
        try:
            # As a writer: PostgreSQL may still be at the commit of the one that is dead.
            with writes(engine) as connection:
                head = reading.head(connection, for_writing=True)
                end = before
                for transaction, _ in reading.journal(connection, before.seq):
                    end = End(transaction.seq, transaction.digest(end.digest))
        finally:
            engine.dispose()
        if head.seq < before.seq:
            raise LifeError(
                f"killed {point}: transactions {head.seq + 1} to {before.seq} were answered "
                "and are not there"
            )
        if end != (head.seq, head.digest) or end not in (before, self.model.end):
            raise LifeError(
                f"killed {point}: a part of the group is there: it led from transaction {before.seq} to "
                f"{self.model.end.seq}; the journal ends at {end.seq}, the head says {head.seq}"
            )
        return end != before

    def _expect(self, answer: dict[str, Any], group: Group) -> None:
        if "error" in answer:
            raise LifeError(f"at operation {self.model.operations}: {said(answer)}")
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


def _keep_the_log(connection: sqlite3.Connection, _: object) -> None:
    """Leave SQLite's log as the kill left it, so that the next writer has to make sense of it."""
    connection.setconfig(sqlite3.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, True)
