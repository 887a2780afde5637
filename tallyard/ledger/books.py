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
from tallyard.ledger.commands import Expire, Regrant
from tallyard.ledger.entries import Entry, Kind
from tallyard.ledger.lots import Lot
from tallyard.ledger.records import FreezeRecord, ProjectRecord, Rate
from tallyard.ledger.transactions import GENESIS, Transaction

_PER_CENT = 100


class Books:
    """All accounts as they are after `seq` transactions, the last of them at `at`.

    `lots` are those of which something can still become, by account and grant; `freezes` the
    open ones; `ended` are lots and `resolved` freezes of which nothing more is to come and that
    are not forgotten yet; `grants` names all that there ever were, but for users'.
    """

    def __init__(self) -> None:
        self.seq = 0
        self.at = 0
        self.digest = GENESIS
        self.lots: dict[Account, dict[str, Lot]] = {}
        self.ended: dict[tuple[Account, str], Lot] = {}
        self.grants: set[tuple[Account, str]] = set()
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

    def available(self, account: Account, at: int) -> int:
        """Return what an account may freeze at a moment."""
        lots = self.lots.get(account, {}).values()
        return sum(lot.available for lot in lots if lot.is_open(at))

    def cap(self, project: str, percent: int, at: int) -> int:
        """Return what one queue may have frozen: a part of the grants that are open."""
        lots = self.lots.get(Account(project), {}).values()
        return sum(lot.given for lot in lots if lot.is_open(at)) * percent // _PER_CENT

    def debt(self, account: Account) -> int:
        """Return what an account owes."""
        return self.owed.get(account, 0)

    def rate_at(self, model: str, at: int) -> int | None:
        """Return what a card costs at a moment; None before its first price."""
        rates = self.prices.get(model, [])
        index = bisect_right(rates, at, key=attrgetter("since"))
        return rates[index - 1].rate_milli if index else None

    def users_of(self, project: str) -> list[Account]:
        """Return the accounts of a project's users, also of those who have left."""
        return sorted(a for a in self.lots if a.project == project and a.user)

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
        if not account.user:
            self.grants.add((account, lot.grant))

    def touched(self, transaction: Transaction) -> set[tuple[Account, str]]:
        """Return the grants that a transaction changes, by account and grant."""
        found = {(entry.account, entry.grant) for entry in transaction.entries if entry.grant}
        match transaction.command:
            case Expire(project=project, grant=grant):
                users = self.users_of(project) if project else ()
                found |= {(account, grant) for account in (Account(project), *users)}
            case Regrant(project=project, grant=grant):
                found.add((Account(project), grant))
            case _:
                pass
        return found

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

    def _put_aside(self, transaction: Transaction) -> None:
        for account, grant in self.touched(transaction):
            lot = self.lot(account, grant)
            if lot is not None and lot.has_ended(transaction.at):
                self.ended[account, grant] = self.lots[account].pop(grant)
