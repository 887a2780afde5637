"""Hypothesis looks for an order of commands by which the books go wrong, and shortens it."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from tallyard.ledger import invariants
from tallyard.ledger.accounts import CLUSTER, Account
from tallyard.ledger.books import Books
from tallyard.ledger.commands import (
    Adjust,
    AnyCommand,
    Expire,
    Merge,
    MoveUser,
    Owe,
    Reduce,
    Refund,
    Regrant,
    Repay,
    Settle,
    Share,
)
from tallyard.ledger.decide import decide
from tallyard.ledger.lots import Lot
from tallyard.ledger.transactions import Transaction
from tests.ledger.ledgers import DAY, DECEMBER, NOVEMBER, Ledger, freeze_of, grant_of

PROJECTS = st.sampled_from(("nlp", "vision"))
USERS = st.sampled_from(("li.wei", "chen.yu"))
AMOUNTS = st.integers(1, 60)
PERCENTS = st.integers(0, 100)
SHARES = st.lists(
    st.builds(Share, USERS, PERCENTS), unique_by=lambda share: share.user, max_size=2
).map(tuple)


class LedgerMachine(RuleBasedStateMachine):
    """Two projects of two users, small amounts, and two counts beside the books.

    What a project was given less what is gone must be what it has; and what was ever charged
    and repaid is what the books say was charged.
    """

    freezes = Bundle("freezes")
    resolved = Bundle("resolved")

    def __init__(self) -> None:
        super().__init__()
        self.books = Books()
        self.now = NOVEMBER
        self.numbers = iter(range(10**6))
        self.charged = self.refunded = self.given = 0

    def _do(self, command: AnyCommand) -> bool:
        decided = decide(self.books, command, self.now)
        if isinstance(decided, Transaction):
            self.books.apply(decided)
            assert not list(invariants.of_transaction(self.books, decided))
        return isinstance(decided, Transaction)

    def _key(self) -> str:
        return f"k{next(self.numbers)}"

    @initialize()
    def begin(self) -> None:
        """Give the cluster and both projects something."""
        ledger = Ledger(self)
        ledger.grant_cluster(180)
        for project in ("nlp", "vision"):
            ledger.grant(project, 100, {"li.wei": 100, "chen.yu": 40})
        self.given = 200

    def do(self, command: AnyCommand, at: int) -> Transaction:
        """Do what must succeed, for `begin`."""
        decided = decide(self.books, command, at)
        assert isinstance(decided, Transaction)
        self.books.apply(decided)
        return decided

    @rule(
        target=freezes,
        project=PROJECTS,
        user=USERS,
        amount=AMOUNTS,
        wait=st.integers(0, 5),
        is_fast_lane=st.booleans(),
    )
    def freeze(self, project: str, user: str, amount: int, wait: int, is_fast_lane: bool) -> str:  # noqa: FBT001
        """Freeze for a job, perhaps with its wait."""
        name = f"j{next(self.numbers)}"
        self._do(
            freeze_of(
                self._key(),
                name,
                amount,
                wait=wait,
                project=project,
                user=user,
                cap=50,
                is_fast_lane=is_fast_lane,
            )
        )
        return name

    @rule(freeze=freezes, amount=st.integers(-1, 70))
    def reduce(self, freeze: str, amount: int) -> None:
        """Keep a part of a freeze, perhaps more than there is."""
        before = self.books.freezes.get(freeze)
        frozen = before.amount if before else 0
        done = self._do(Reduce(key=self._key(), freeze=freeze, amount=amount))
        assert done == (0 < amount < frozen)
        if done:
            assert self.books.freezes[freeze].amount == amount

    @rule(target=resolved, freeze=consumes(freezes), amount=st.integers(-1, 70))
    def settle(self, freeze: str, amount: int) -> str:
        """Resolve a freeze, perhaps with too much."""
        if self._do(Settle(key=self._key(), freeze=freeze, amount=amount)):
            self.charged += amount
        return freeze

    @rule(freeze=resolved, amount=AMOUNTS)
    def settle_again(self, freeze: str, amount: int) -> None:
        """Resolve what may be resolved already."""
        if self._do(Settle(key=self._key(), freeze=freeze, amount=amount)):
            self.charged += amount

    @rule(freeze=resolved, amount=AMOUNTS)
    def refund(self, freeze: str, amount: int) -> None:
        """Give something back."""
        if self._do(Refund(key=self._key(), freeze=freeze, amount=amount, reason="node failure")):
            self.refunded += amount

    @rule(project=PROJECTS, amount=AMOUNTS, shares=SHARES)
    def regrant(self, project: str, amount: int, shares: tuple[Share, ...]) -> None:
        """Change the tier."""
        before = self._given()
        command = Regrant(
            key=self._key(), project=project, grant="2026-11", amount=amount, shares=shares
        )
        if self._do(command):
            self.given += self._given() - before

    @rule(project=PROJECTS, amount=st.integers(-60, 60))
    def adjust(self, project: str, amount: int) -> None:
        """Give or take by hand."""
        command = Adjust(
            key=self._key(), project=project, grant="2026-11", amount=amount, reason="asked"
        )
        if self._do(command):
            self.given += amount

    @rule(
        project=PROJECTS, grant=st.sampled_from(("x", "y")), amount=AMOUNTS, days=st.integers(1, 40)
    )
    def grant(self, project: str, grant: str, amount: int, days: int) -> None:
        """Give something beside the period's grant."""
        command = grant_of(
            self._key(),
            project,
            amount,
            {"li.wei": 70},
            grant=grant,
            ends=self.now + days * DAY,
        )
        if self._do(command):
            self.given += amount

    @rule(project=PROJECTS, grant=st.sampled_from(("2026-11", "x", "y")), percent=PERCENTS)
    def expire(self, project: str, grant: str, percent: int) -> None:
        """End a grant, or keep a part of it."""
        until = self.now + 9 * DAY if percent else 0
        command = Expire(
            key=self._key(),
            project=project,
            grant=grant,
            keep_percent=percent,
            keep_until=until,
        )
        self._do(command)

    @rule(project=PROJECTS, user=USERS, amount=AMOUNTS)
    def owe(self, project: str, user: str, amount: int) -> None:
        """Use without a freeze."""
        command = Owe(key=self._key(), project=project, user=user, amount=amount, debt_max=30)
        self._do(command)

    @rule(project=PROJECTS, user=USERS, amount=AMOUNTS)
    def repay(self, project: str, user: str, amount: int) -> None:
        """Pay a debt."""
        if self._do(Repay(key=self._key(), project=project, user=user, amount=amount)):
            self.charged += amount

    @rule(user=USERS, origin=PROJECTS, into=PROJECTS, percent=PERCENTS)
    def move(self, user: str, origin: str, into: str, percent: int) -> None:
        """Let a user change projects."""
        command = MoveUser(key=self._key(), user=user, source=origin, target=into, percent=percent)
        self._do(command)

    @rule(origin=PROJECTS, into=PROJECTS)
    def merge(self, origin: str, into: str) -> None:
        """Merge, or sweep what came back since."""
        self._do(Merge(key=self._key(), source=origin, target=into))

    @rule(days=st.sampled_from((-1, 0, 1, 10, 31)))
    def time_goes_by(self, days: int) -> None:
        """Set the clock, also back."""
        self.now += days * DAY

    @rule()
    def midnight(self) -> None:
        """The last second of the month, and then the first."""
        self.now = DECEMBER if self.now == DECEMBER - 1 else DECEMBER - 1

    @invariant()
    def the_books_add_up(self) -> None:
        """All levels, all identities, nothing negative."""
        assert not list(invariants.of_books(self.books))

    @invariant()
    def nothing_is_created_or_lost(self) -> None:
        """What the books say was charged, refunded and given is what was done."""
        cluster = self._lots(CLUSTER)
        assert sum(lot.charged for lot in cluster) == self.charged
        assert sum(lot.refunded for lot in cluster) == self.refunded
        assert self._given() == self.given

    def _given(self) -> int:
        projects = (Account("nlp"), Account("vision"))
        return sum(lot.given for project in projects for lot in self._lots(project))

    def _lots(self, account: Account) -> list[Lot]:
        ended = [lot for (owner, _), lot in self.books.ended.items() if owner == account]
        return [*self.books.lots_of(account), *ended]


TestLedgerMachine = LedgerMachine.TestCase
TestLedgerMachine.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
