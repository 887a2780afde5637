"""The rows of `tally ledger tail`: each transaction as a person reads it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tallyard.ledger import amounts
from tallyard.ledger.commands import AnyCommand, Reduce, Refund, SetPrice, Settle
from tallyard.ledger.entries import Kind
from tallyard.ledger.periods import rfc3339
from tallyard.ledger.transactions import Transaction

# What of a command says what it is about, the first that it has.
_SUBJECTS = ("job", "grant", "model", "target", "name")
_ACCOUNTS = ("project", "source")
# An expiry that follows a release in the same transaction is not what was done.
_COUNTED = {
    "settle": Kind.CHARGE,
    "reduce": Kind.RELEASE,
    "freeze": Kind.FREEZE,
}


@dataclass(frozen=True)
class TailRow:
    """One transaction. `at` is RFC 3339 in UTC, `amount` in thousandths of a core-second.

    `account` is the user's, `nlp/li.wei`, or the project's; empty for the cluster's. The amount is
    below nothing where an account loses it. `reason` is what was said with it, mostly nothing.
    """

    seq: int
    at: str
    command: str
    account: str
    subject: str
    amount: int
    key: str
    by: str
    reason: str

    @property
    def core_hours(self) -> str:
        """Return the amount as people read it; nothing where nothing could move."""
        if not self.amount:
            return "0.00" if self.command in _COUNTED else ""
        told = amounts.text(self.amount)
        # What is there is not to look like nothing.
        return told if told.strip("-0.") else "<0.01" if self.amount > 0 else "-<0.01"


def tail_rows(transactions: Iterable[Transaction], jobs: Mapping[str, str]) -> tuple[TailRow, ...]:
    """Return a row for each transaction.

    Args:
        transactions: What was done.
        jobs: The names of the work of the freezes that they name, by the freeze's id.
    """
    return tuple(_row(transaction, jobs) for transaction in transactions)


def _row(transaction: Transaction, jobs: Mapping[str, str]) -> TailRow:
    command = transaction.command
    name = str(type(command).__struct_config__.tag)
    return TailRow(
        seq=transaction.seq,
        at=rfc3339(transaction.at),
        command=name,
        account=_account(transaction),
        subject=_subject(command, jobs),
        amount=_amount(transaction, name),
        key=command.key,
        by=command.by,
        reason=_first(command, ("reason",)),
    )


def _subject(command: AnyCommand, jobs: Mapping[str, str]) -> str:
    if isinstance(command, SetPrice):
        return f"{command.model} {amounts.rate_text(command.rate_milli)}/h"
    if isinstance(command, Settle | Reduce | Refund):
        return jobs.get(command.freeze, command.freeze)
    return _first(command, _SUBJECTS)


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
    moved = sum(e.amount for e in entries if e.kind is kind and e.account == widest)
    return -moved if kind is Kind.EXPIRE else moved


def _first(command: AnyCommand, fields: Iterable[str]) -> str:
    return next((str(v) for f in fields if (v := getattr(command, f, None))), "")
