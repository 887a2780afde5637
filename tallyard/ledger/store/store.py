"""One ledger in one database: commands in, transactions or refusals out, durable when answered."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Connection, Engine

from tallyard.ledger import invariants
from tallyard.ledger.books import Books
from tallyard.ledger.bounds import out_of_bounds
from tallyard.ledger.commands import AnyCommand, freezes_of
from tallyard.ledger.decide import decide_sound
from tallyard.ledger.records import FreezeRecord
from tallyard.ledger.refusals import Reason, Refusal, Refused
from tallyard.ledger.store import reading, whys, writing
from tallyard.ledger.store.engine import reads, writes
from tallyard.ledger.store.faults import CorruptError, UnsoundError
from tallyard.ledger.transactions import Transaction
from tallyard.ledger.work import Work


@dataclass(frozen=True)
class Done:
    """A command that was done; `is_repeat` when it had been done before by the same key."""

    transaction: Transaction
    is_repeat: bool = False


type Outcome = Done | Refusal


class Store:
    """The writer of this process; several processes may write one store, one at a time.

    The balances are kept in memory between groups and caught up with what others wrote. Where
    a group fails they are read anew: what is in memory was never written then.
    """

    def __init__(self, engine: Engine, clock: Callable[[], int]) -> None:
        self.engine = engine
        self._clock = clock
        self._lock = threading.Lock()
        self._books: Books | None = None

    def do(self, commands: Sequence[AnyCommand]) -> list[Outcome]:
        """Do commands in their order, in one transaction of the database.

        Each is decided for itself: one that is refused does not keep the others. When this
        returns, what was done is on the disk.

        Raises:
            StoreError: None of them was done, or, where the connection broke during the commit,
                perhaps all; the same commands again are safe.
        """
        with self._lock:
            try:
                with writes(self.engine) as connection:
                    books = self._current(connection)
                    outcomes = self._decided(connection, books, commands)
            except BaseException:
                self._books = None
                raise
            books.forget()
            return outcomes

    @contextmanager
    def books(self) -> Iterator[Books]:
        """Give the balances of now, for reading; nobody in this process writes meanwhile.

        Raises:
            StoreError: They cannot be read.
        """
        with self._lock, reads(self.engine) as connection:
            if self._books is None or self._books.seq != reading.head(connection).seq:
                self._books = reading.books(connection)
            yield self._books

    def freezes(self, ids: Collection[str]) -> dict[str, FreezeRecord]:
        """Return those freezes of these ids that there are, open or resolved long ago.

        Raises:
            StoreError: They cannot be read.
        """
        with reads(self.engine) as connection:
            return {record.id: record for record in reading.freezes(connection, ids)}

    def freezes_of(self, work: Work) -> list[FreezeRecord]:
        """Return all freezes of some work, open or resolved long ago.

        Raises:
            StoreError: They cannot be read.
        """
        with reads(self.engine) as connection:
            return reading.freezes_of(connection, work)

    def _current(self, connection: Connection) -> Books:
        """Return the balances after all that others wrote; holds the head's row."""
        last = reading.head(connection, for_writing=True)
        if self._books is None:
            self._books = reading.books(connection)
        books = self._books
        for transaction, digest in reading.journal(connection, books.seq, last.seq):
            books.apply(transaction)
            if books.digest != digest:
                raise CorruptError(whys.CHANGED(transaction.seq))
        if books.digest != last.digest:
            raise CorruptError(whys.ENDS_OTHERWISE)
        return books

    def _decided(
        self, connection: Connection, books: Books, commands: Sequence[AnyCommand]
    ) -> list[Outcome]:
        # No database is asked about a key or an id that it cannot hold.
        wrong = [out_of_bounds(command) for command in commands]
        sound = [command for command, why in zip(commands, wrong, strict=True) if not why]
        known = reading.by_keys(connection, {command.key for command in sound})
        named = {each for command in sound for each in freezes_of(command)}
        for record in reading.freezes(connection, named - books.freezes.keys()):
            books.remember(record)
        at = self._clock()
        outcomes: list[Outcome] = []
        written: list[tuple[Transaction, str]] = []
        for command, why in zip(commands, wrong, strict=True):
            outcome = why or self._one(books, known, command, at)
            outcomes.append(outcome)
            if isinstance(outcome, Done) and not outcome.is_repeat:
                known[command.key] = outcome.transaction
                written.append((outcome.transaction, books.digest))
        if written:
            writing.write(connection, books, written)
        return outcomes

    def _one(
        self, books: Books, known: dict[str, Transaction], command: AnyCommand, at: int
    ) -> Outcome:
        if before := known.get(command.key):
            if before.command == command:
                return Done(before, is_repeat=True)
            return Refused(Reason.KEY_REUSED, command.key, before.seq)
        decided = decide_sound(books, command, at)
        if not isinstance(decided, Transaction):
            return decided
        books.apply(decided)
        for fault in invariants.of_transaction(books, decided):
            raise UnsoundError(f"{command.key}: {fault}")
        return Done(decided)
