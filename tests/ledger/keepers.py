"""A store beside plain books: each command goes to both, and they must agree."""

from __future__ import annotations

from sqlalchemy import Engine, insert, text

from tallyard.ledger.books import Books
from tallyard.ledger.commands import AnyCommand
from tallyard.ledger.refusals import Refusal
from tallyard.ledger.store import schema
from tallyard.ledger.store.engine import writes
from tallyard.ledger.store.store import Done, Store
from tallyard.ledger.store.verifying import verify
from tallyard.ledger.transactions import GENESIS, Transaction
from tests.ledger.ledgers import InMemory


class Stored:
    """Commands are done by a store, and by books in memory whose answer must be the same."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.store = Store(engine, lambda: self._now)
        self._now = 0
        self._model = InMemory()

    @property
    def books(self) -> Books:
        """Return the model's balances, which hold what has ended, too."""
        return self._model.books

    def do(self, command: AnyCommand, at: int) -> Transaction | Refusal:
        """Do a command twice: in the store, and in memory."""
        self._now = at
        (outcome,) = self.store.do([command])
        answer = outcome.transaction if isinstance(outcome, Done) else outcome
        assert not isinstance(outcome, Done) or not outcome.is_repeat
        assert self._model.do(command, at) == answer
        return answer

    def end(self) -> None:
        """See that the tables hold what the model does."""
        verdict = verify(self.engine)
        assert not verdict.faults
        assert verdict.transactions == self.books.seq
        assert verdict.digest == self.books.digest


def emptied(engine: Engine) -> Engine:
    """Take everything out of a store."""
    with writes(engine) as connection:
        for table in reversed(schema.metadata.sorted_tables):
            connection.execute(text(f"DELETE FROM {table.name}"))  # noqa: S608
        connection.execute(insert(schema.head).values(id=1, seq=0, at=0, digest=GENESIS))
    return engine
