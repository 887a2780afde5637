"""What a command comes to: entries, or a refusal. Pure: the books, the command, the moment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from tallyard.ledger import commands, freezing, granting, moving, prices, refunding
from tallyard.ledger.books import Books
from tallyard.ledger.bounds import beyond_balances, out_of_bounds
from tallyard.ledger.commands import AnyCommand
from tallyard.ledger.entries import Entry
from tallyard.ledger.refusals import Refusal
from tallyard.ledger.transactions import RULES, Transaction

type _Rule = Callable[[Books, Any, int], tuple[Entry, ...] | Refusal]
_FIRST: Mapping[type, _Rule] = MappingProxyType(
    {
        commands.GrantCluster: granting.grant_cluster,
        commands.GrantProject: granting.grant_project,
        commands.Regrant: granting.regrant,
        commands.Adjust: granting.adjust,
        commands.Expire: granting.expire,
        commands.Freeze: freezing.freeze,
        commands.Settle: freezing.settle,
        commands.Reduce: freezing.reduce,
        commands.Refund: refunding.refund,
        commands.Owe: refunding.owe,
        commands.Repay: refunding.repay,
        commands.Rename: moving.rename,
        commands.MoveUser: moving.move_user,
        commands.Merge: moving.merge,
        commands.SetPrice: prices.set_price,
    }
)
# By the version; each stays, for the journals that were written by it.
_BY_VERSION: Mapping[int, Mapping[type, _Rule]] = MappingProxyType({1: _FIRST})


def decide(books: Books, command: AnyCommand, at: int, rules: int = RULES) -> Transaction | Refusal:
    """Return what a command comes to on these books; they are not changed.

    Args:
        books: The balances before.
        command: What is wanted. That its key is new is the caller's to know.
        at: Now, in seconds since 1970; a clock that went back counts as standing still.
        rules: The version of the rules.

    Raises:
        KeyError: This program does not know that version.
    """
    return out_of_bounds(command) or decide_sound(books, command, at, rules)


def decide_sound(
    books: Books, command: AnyCommand, at: int, rules: int = RULES
) -> Transaction | Refusal:
    """Return what `decide` does of a command that is known to be within its bounds."""
    at = max(at, books.at)
    found = _BY_VERSION[rules][type(command)](books, command, at)
    if isinstance(found, tuple):
        if wrong := beyond_balances(books, found):
            return wrong
        return Transaction(books.seq + 1, at, command, found, rules)
    return found
