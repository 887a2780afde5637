"""What a ledger must come to: books in memory, which nobody kills."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tallyard.ledger import invariants
from tallyard.ledger.accounts import Account
from tallyard.ledger.books import Books
from tallyard.ledger.commands import AnyCommand
from tallyard.ledger.decide import decide
from tallyard.ledger.lots import BALANCES, Lot
from tallyard.ledger.refusals import Reason, Refused
from tallyard.ledger.transactions import Transaction

# Every so many operations all balances are added up, beside those that were touched.
ALL_EVERY = 250
# The operations name some of the last that were resolved.
RESOLVED_KEPT = 2000


class LifeError(Exception):
    """The store and the books do not agree, or a rule does not hold."""


class End(NamedTuple):
    """Where a journal ends: the number of its last transaction and its digest."""

    seq: int
    digest: str


@dataclass
class Model:
    """Books in memory, with every invariant looked at after each operation."""

    books: Books = field(default_factory=Books)
    done: dict[str, tuple[AnyCommand, int]] = field(default_factory=dict)
    operations: int = 0
    kinds: Counter[str] = field(default_factory=Counter)

    @property
    def end(self) -> End:
        """Return where the journal ends now."""
        return End(self.books.seq, self.books.digest)

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
