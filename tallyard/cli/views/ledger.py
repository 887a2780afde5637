"""The rows of `tally ledger tail`: each transaction as a person reads it. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tallyard.ledger import amounts
from tallyard.ledger.commands import AnyCommand, Reduce, Refund, Settle
from tallyard.ledger.entries import Kind
from tallyard.ledger.periods import rfc3339
from tallyard.ledger.transactions import Transaction

# What of a command says what it is about, the first that it has.
_SUBJECTS = ("job", "freeze", "grant", "model", "target", "name")
_ACCOUNTS = ("project", "source")
# An expiry that follows a release in the same transaction is not what was done.
_COUNTED = {
    "settle": Kind.CHARGE,
    "freeze": Kind.FREEZE,
}


@dataclass(frozen=True)
class TailRow:
    """One transaction. `at` is RFC 3339 in UTC, `amount` in thousandths of a core-second.

    `account` is the user's, `nlp/li.wei`, or the project's; empty for the cluster's.
    """

    seq: int
    at: str
    command: str
    account: str
    subject: str
    amount: int
    key: str
    by: str

    @property
    def core_hours(self) -> str:
        """Return the amount as people read it; nothing where nothing moved."""
        return amounts.text(self.amount) if self.amount else ""


def tail_rows(transactions: Iterable[Transaction]) -> tuple[TailRow, ...]:
    """Return a row for each transaction."""
    return tuple(_row(transaction) for transaction in transactions)


def _row(transaction: Transaction) -> TailRow:
    command = transaction.command
    name = str(type(command).__struct_config__.tag)
    return TailRow(
        seq=transaction.seq,
        at=rfc3339(transaction.at),
        command=name,
        account=_account(transaction),
        subject=_first(command, _SUBJECTS),
        amount=_amount(transaction, name),
        key=command.key,
        by=command.by,
    )


def _account(transaction: Transaction) -> str:
    """Return whose it is: the user's where it was a user's work, else the project's."""
    command = transaction.command
    if isinstance(command, Settle | Reduce | Refund):
        return next((str(e.account) for e in transaction.entries if e.account.user), "")
    project, user = _first(command, _ACCOUNTS), _first(command, ("user",))
    return f"{project}/{user}" if user else project


def _amount(transaction: Transaction, command: str) -> int:
    """Return what moved at the widest level, of the kind that the command is about."""
    entries = transaction.entries
    if not entries:
        return 0
    kind = _COUNTED.get(command, entries[0].kind)
    widest = entries[0].account
    return sum(e.amount for e in entries if e.kind is kind and e.account == widest)


def _first(command: AnyCommand, fields: Iterable[str]) -> str:
    return next((str(v) for f in fields if (v := getattr(command, f, None))), "")
