"""A ledger for tests: commands by short words, the books after each checked whole."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any, Protocol

from tallyard.ledger import invariants
from tallyard.ledger.accounts import CLUSTER, Account
from tallyard.ledger.amounts import of_core_hours
from tallyard.ledger.books import Books
from tallyard.ledger.commands import (
    AnyCommand,
    Freeze,
    FreezePart,
    GrantCluster,
    GrantProject,
    Purpose,
    Settle,
    Share,
)
from tallyard.ledger.decide import decide
from tallyard.ledger.lots import Lot
from tallyard.ledger.refusals import Refusal
from tallyard.ledger.transactions import Transaction

# 2026-11-01 and 2026-12-01, midnight in Shanghai.
NOVEMBER, DECEMBER = 1793462400, 1796054400
HOUR = 3600
DAY = 24 * HOUR
H = of_core_hours(1)
CAP = 30


class Keeper(Protocol):
    """Who does commands: plain books, or a store."""

    @property
    def books(self) -> Books:
        """Return the balances as they are now."""

    def do(self, command: AnyCommand, at: int) -> Transaction | Refusal:
        """Do a command, or say why not."""


class InMemory:
    """Books alone, every lot and freeze of which stays in memory."""

    def __init__(self) -> None:
        self.books = Books()

    def do(self, command: AnyCommand, at: int) -> Transaction | Refusal:
        """Decide, apply, and check everything."""
        decided = decide(self.books, command, at)
        if isinstance(decided, Transaction):
            self.books.apply(decided)
            assert not list(invariants.of_transaction(self.books, decided))
            assert not list(invariants.of_books(self.books))
        return decided


class Ledger:
    """A keeper with a clock of its own, and keys that nobody has to think of."""

    def __init__(self, keeper: Keeper) -> None:
        self.keeper = keeper
        self.now = NOVEMBER
        self._keys = (f"key-{n}" for n in count(1))

    @property
    def books(self) -> Books:
        """Return the balances as they are now."""
        return self.keeper.books

    def key(self) -> str:
        """Return a key that was not used yet."""
        return next(self._keys)

    def do(self, command: AnyCommand) -> Transaction | Refusal:
        """Do a command now."""
        return self.keeper.do(command, self.now)

    def done(self, command: AnyCommand) -> Transaction:
        """Do what must succeed."""
        outcome = self.do(command)
        assert isinstance(outcome, Transaction), outcome
        return outcome

    def refused(self, command: AnyCommand) -> Refusal:
        """Do what must be refused, and see that nothing has come of it."""
        seq = self.books.seq
        outcome = self.do(command)
        assert not isinstance(outcome, Transaction), outcome
        assert self.books.seq == seq
        return outcome

    def grant_cluster(
        self, amount: int, *, grant: str = "2026-11", ends: int = DECEMBER
    ) -> Transaction:
        """Give the cluster a grant."""
        return self.done(
            GrantCluster(key=self.key(), grant=grant, amount=amount, starts=NOVEMBER, expires=ends)
        )

    def grant(
        self,
        project: str,
        amount: int,
        shares: Mapping[str, int] | None = None,
        *,
        grant: str = "2026-11",
        starts: int = NOVEMBER,
        ends: int = DECEMBER,
    ) -> Transaction:
        """Give a project a grant, and its users their shares."""
        return self.done(
            grant_of(
                self.key(),
                project,
                amount,
                shares or {"li.wei": 100},
                grant=grant,
                starts=starts,
                ends=ends,
            )
        )

    def freeze(self, name: str, amount: int, **words: Any) -> Transaction:
        """Freeze for a job of li.wei, or as the words say."""
        return self.done(freeze_of(self.key(), name, amount, **words))

    def settle(self, freeze: str, amount: int) -> Transaction:
        """Resolve a freeze."""
        return self.done(Settle(key=self.key(), freeze=freeze, amount=amount))

    def lot(self, account: str = "nlp", grant: str = "2026-11") -> Lot:
        """Return a grant by the account's name: `cluster`, `nlp`, `nlp/li.wei`."""
        which = account_of(account)
        found = self.books.lot(which, grant) or self.books.ended.get((which, grant))
        assert found is not None
        return found

    def available(self, account: str = "nlp") -> int:
        """Return what an account by its name can freeze now."""
        return self.books.available(account_of(account), self.now)


def account_of(name: str) -> Account:
    project, _, user = name.partition("/")
    return CLUSTER if name == "cluster" else Account(project, user)


def grant_of(
    key: str,
    project: str,
    amount: int,
    shares: Mapping[str, int],
    *,
    grant: str = "2026-11",
    starts: int = NOVEMBER,
    ends: int = DECEMBER,
) -> GrantProject:
    return GrantProject(
        key=key,
        project=project,
        grant=grant,
        amount=amount,
        starts=starts,
        expires=ends,
        shares=tuple(Share(user, percent) for user, percent in shares.items()),
    )


def freeze_of(
    key: str,
    name: str,
    amount: int,
    *,
    wait: int = 0,
    project: str = "nlp",
    user: str = "li.wei",
    queue: str = "training",
    cap: int = CAP,
    is_fast_lane: bool = False,
) -> Freeze:
    """Return the freeze of a job, and with `wait` that of its wait, `NAME-wait`."""
    parts = [FreezePart(name, Purpose.JOB, amount)]
    if wait:
        parts.append(FreezePart(f"{name}-wait", Purpose.WAIT, wait))
    return Freeze(
        key=key,
        project=project,
        user=user,
        queue=queue,
        job=name,
        seconds=HOUR,
        parts=tuple(parts),
        cap_percent=cap,
        is_fast_lane=is_fast_lane,
    )


# The cluster's grant and one project's.
BEGIN: tuple[AnyCommand, ...] = (
    GrantCluster(
        key="cluster", grant="2026-11", amount=1000 * H, starts=NOVEMBER, expires=DECEMBER
    ),
    grant_of("nlp", "nlp", 100 * H, {"li.wei": 100}),
)
