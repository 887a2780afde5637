"""Projects and users that change places: no balance is created or lost on the way."""

from __future__ import annotations

from tallyard.ledger.accounts import Account
from tallyard.ledger.amounts import part_of
from tallyard.ledger.books import Books
from tallyard.ledger.bounds import KEY_LENGTH_MAX
from tallyard.ledger.commands import Merge, MoveUser, Rename, Share
from tallyard.ledger.entries import Entry
from tallyard.ledger.facts import merged_suffix
from tallyard.ledger.granting import (
    adjusted,
    reshared,
    reshared_to,
    wrong_project,
    wrong_shares,
)
from tallyard.ledger.lots import Lot
from tallyard.ledger.refusals import Reason, Refusal, Refused

type Entries = tuple[Entry, ...]


def rename(books: Books, command: Rename, at: int) -> Entries | Refusal:  # noqa: ARG001
    """Nothing moves: the id stays."""
    if not command.name:
        return Refused(Reason.TEXT, command.project)
    return _wrong(books, command.project) or ()


def move_user(books: Books, command: MoveUser, at: int) -> Entries | Refusal:
    """Take the user's available share in one project, give the new share in another."""
    if wrong := _wrong_pair(books, command.source, command.target):
        return wrong
    if wrong := wrong_shares((Share(command.user, command.percent),)):
        return wrong
    left, joined = Account(command.source, command.user), Account(command.target, command.user)
    entries = [e for lot in books.lots_of(left) for e in adjusted(lot, left, -lot.available)]
    for lot in books.open_lots(Account(command.target), at):
        entries += reshared_to(books, lot, joined, part_of(lot.in_force, command.percent))
    return tuple(entries)


def merge(books: Books, command: Merge, at: int) -> Entries | Refusal:
    """Move what is available, grant by grant; the target's users get their share of it."""
    source, target = Account(command.source), Account(command.target)
    record = books.projects.get(command.source)
    again = record is not None and record.merged_into == command.target
    if wrong := _wrong_pair(books, command.source, command.target, is_again=again):
        return wrong
    if owed := books.debt(source):
        return Refused(Reason.IN_DEBT, command.source, owed)
    entries: list[Entry] = []
    for lot in books.open_lots(source, at):
        place = _place(books, command, lot)
        if not lot.available or place is None:
            continue
        entries += adjusted(lot, source, -lot.available)
        entries += adjusted(place, target, lot.available)
        in_force, shares = place.in_force + lot.available, books.projects[command.target].shares
        entries += reshared(books, place, command.target, in_force, shares)
    for user in books.users_of(command.source):
        entries += [e for lot in books.lots_of(user) for e in adjusted(lot, user, -lot.available)]
    return tuple(entries)


def _place(books: Books, command: Merge, lot: Lot) -> Lot | None:
    """Return the grant of the target that a source's goes into: the same one, or one like it.

    None where the target has had both, or many merges have made the name too long; then the rest
    stays where it is until it expires.
    """
    target = Account(command.target)
    for name in (lot.grant, lot.grant + merged_suffix(command.source)):
        theirs = books.lot(target, name)
        if theirs is not None and theirs.expires == lot.expires:
            return theirs
        if (target, name) not in books.grants and len(name) <= KEY_LENGTH_MAX:
            return Lot(name, lot.starts, lot.expires)
    return None


def _wrong_pair(
    books: Books, source: str, target: str, *, is_again: bool = False
) -> Refused | None:
    if source == target or not source or not target:
        return Refused(Reason.SAME_PROJECT, source)
    return (None if is_again else _wrong(books, source)) or _wrong(books, target)


def _wrong(books: Books, project: str) -> Refused | None:
    """Return why a project cannot change: nobody has been given anything there, or it is closed."""
    if project not in books.projects:
        return Refused(Reason.NO_PROJECT, project)
    return wrong_project(books, project)
