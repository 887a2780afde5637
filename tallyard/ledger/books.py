"""The balances, moved by transactions alone.

Books are what a journal comes to: the same transactions in the same order always make the same
books. They are changed in place, by `apply` only; deciding reads them and changes nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from operator import attrgetter

from tallyard.ledger import facts
from tallyard.ledger.accounts import Account
from tallyard.ledger.amounts import part_of
from tallyard.ledger.commands import Expire
from tallyard.ledger.entries import Entry, Kind
from tallyard.ledger.lots import Lot
from tallyard.ledger.records import FreezeRecord, ProjectRecord, Rate
from tallyard.ledger.transactions import GENESIS, Transaction


class Books:
    """All accounts as they are after `seq` transactions, the last of them at `at`.

    `lots` are those of which something can still become, by account and grant; `freezes` the
    open ones; `ended` are lots and `resolved` freezes of which nothing more is to come and that
    are not forgotten yet, `changed` names the lots that were changed since. `grants` names all
    that there ever were, but for users'.
    """

    def __init__(self) -> None:
        self.seq = 0
        self.at = 0
        self.digest = GENESIS
        self.lots: dict[Account, dict[str, Lot]] = {}
        self.ended: dict[tuple[Account, str], Lot] = {}
        self.grants: set[tuple[Account, str]] = set()
        self.changed: set[tuple[Account, str]] = set()
        self._users: dict[str, set[Account]] = {}
        self.freezes: dict[str, FreezeRecord] = {}
        self.resolved: set[str] = set()
        self.owed: defaultdict[Account, int] = defaultdict(int)
        self.queue_frozen: defaultdict[tuple[str, str], int] = defaultdict(int)
        self.projects: dict[str, ProjectRecord] = {}
        self.prices: dict[str, list[Rate]] = {}

    def lot(self, account: Account, grant: str) -> Lot | None:
        """Return a grant of an account; None where there is none of which anything can become."""
        return self.lots.get(account, {}).get(grant)

    def lots_of(self, account: Account) -> Iterator[Lot]:
        """Return an account's grants, earliest expiry first."""
        yield from sorted(self.lots.get(account, {}).values(), key=attrgetter("expires", "grant"))

    def open_lots(self, account: Account, at: int) -> list[Lot]:
        """Return the grants that may be frozen from now, earliest expiry first."""
        return [lot for lot in self.lots_of(account) if lot.is_open(at)]

    def shared(self, project: str, grant: str) -> dict[Account, Lot]:
        """Return a grant as the project has it and each of its users; the cluster's, for no project."""
        accounts = (Account(project), *self.users_of(project))
        return {account: lot for account in accounts if (lot := self.lot(account, grant))}

    def available(self, account: Account, at: int) -> int:
        """Return what an account may freeze at a moment."""
        lots = self.lots.get(account, {}).values()
        return sum(lot.available for lot in lots if lot.is_open(at))

    def cap(self, project: str, percent: int, at: int) -> int:
        """Return what one queue may have frozen: a part of the grants that are open."""
        lots = self.lots.get(Account(project), {}).values()
        return part_of(sum(lot.in_force for lot in lots if lot.is_open(at)), percent)

    def debt(self, account: Account) -> int:
        """Return what an account owes."""
        return self.owed.get(account, 0)

    def is_member(self, user: Account) -> bool:
        """Say whether a user has a share in the project."""
        record = self.projects.get(user.project)
        return record is not None and user.user in record.shares

    def rate_at(self, model: str, at: int) -> int | None:
        """Return what a card costs at a moment; None before its first price."""
        rates = self.prices.get(model, [])
        index = bisect_right(rates, at, key=attrgetter("since"))
        return rates[index - 1].rate_milli if index else None

    def users_of(self, project: str) -> list[Account]:
        """Return the accounts of a project's users, also of those who have left."""
        return sorted(self._users.get(project, ()))

    def apply(self, transaction: Transaction) -> None:
        """Move the balances as a transaction says.

        Raises:
            ValueError: It is not the next one, or an entry names a grant that is not there;
                such a journal is not this ledger's.
        """
        if transaction.seq != self.seq + 1 or transaction.at < self.at:
            raise ValueError(f"transaction {transaction.seq} cannot follow {self.seq}")
        facts.before(self, transaction)
        for entry in transaction.entries:
            self._move(entry)
        facts.after(self, transaction)
        self._put_aside(transaction)
        self.seq, self.at = transaction.seq, transaction.at
        self.digest = transaction.digest(self.digest)

    def add_lot(self, account: Account, lot: Lot) -> None:
        """Let an account have a grant, which entries then fill."""
        self.lots.setdefault(account, {})[lot.grant] = lot
        if account.user:
            self._users.setdefault(account.project, set()).add(account)
        else:
            self.grants.add((account, lot.grant))

    def remember(self, record: FreezeRecord) -> None:
        """Know a freeze, as a store has it."""
        self.freezes[record.id] = record
        if record.is_open:
            self.queue_frozen[record.project, record.queue] += record.amount
        else:
            self.resolved.add(record.id)

    def forget(self) -> None:
        """Keep only what something can still become of."""
        self.ended.clear()
        self.changed.clear()
        for each in self.resolved:
            del self.freezes[each]
        self.resolved.clear()

    def _move(self, entry: Entry) -> None:
        if entry.kind in (Kind.OWE, Kind.REPAY):
            self.owed[entry.account] += entry.amount if entry.kind is Kind.OWE else -entry.amount
        if entry.kind is Kind.OWE:
            return
        lot = self.lot(entry.account, entry.grant)
        if lot is None:
            raise ValueError(f"{entry.account} has no grant {entry.grant}")
        lot.move(entry)
        self.changed.add((entry.account, entry.grant))

    def _put_aside(self, transaction: Transaction) -> None:
        """Put a grant aside when nothing can become of it in any account of its project.

        Not one account alone: what the project still has, a user may get a part of again.
        """
        touched = {(entry.account, entry.grant) for entry in transaction.entries}
        if isinstance(transaction.command, Expire):
            touched.add((Account(transaction.command.project), transaction.command.grant))
        for account, grant in touched:
            lots = self.shared(account.project, grant)
            if all(lot.has_ended(transaction.at) for lot in lots.values()):
                for each, lot in lots.items():
                    self.ended[each, grant] = lot
                    self.changed.add((each, grant))
                    del self.lots[each][grant]
