"""Giving core-hours for a time: grants, what changes them in mid-period, and their end.

A user's account is a share of the project's; when the project's grant changes, each user's
share of it does, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tallyard.ledger.accounts import CLUSTER, Account
from tallyard.ledger.amounts import part_of
from tallyard.ledger.books import Books
from tallyard.ledger.commands import Adjust, Expire, GrantCluster, GrantProject, Regrant, Share
from tallyard.ledger.entries import Entry, Kind
from tallyard.ledger.lots import Lot
from tallyard.ledger.refusals import NotEnough, Reason, Refusal, Refused

type Entries = tuple[Entry, ...]

_PER_CENT = 100


def grant_cluster(books: Books, command: GrantCluster, at: int) -> Entries | Refusal:
    """Give the cluster its capacity for a period."""
    wrong = _wrong_grant(books, CLUSTER, command, at)
    return wrong or (Entry(Kind.GRANT, CLUSTER, command.grant, command.amount),)


def grant_project(books: Books, command: GrantProject, at: int) -> Entries | Refusal:
    """Give a project core-hours, and each user its share."""
    account = Account(command.project)
    wrong = _wrong_grant(books, account, command, at)
    wrong = wrong or wrong_project(books, command.project) or wrong_shares(command.shares)
    if wrong:
        return wrong
    shares = (
        Entry(Kind.GRANT, Account(command.project, share.user), command.grant, amount)
        for share in sorted(command.shares, key=lambda share: share.user)
        if (amount := part_of(command.amount, share.percent))
    )
    return (Entry(Kind.GRANT, account, command.grant, command.amount), *shares)


def regrant(books: Books, command: Regrant, at: int) -> Entries | Refusal:
    """Give or take the difference for the rest of the period."""
    lot = _running(books, command.project, command.grant, at)
    if isinstance(lot, Refused):
        return lot
    if command.amount < 0:
        return Refused(Reason.AMOUNT, command.project, command.amount)
    if wrong := wrong_shares(command.shares):
        return wrong
    # What an earlier change could not take is still to be taken.
    change = max(lot.change_to(command.amount, at) - lot.untaken, -lot.available)
    shares = {share.user: share.percent for share in command.shares}
    # A share is of all that the project has, so also of its other grants.
    others = (each for each in books.open_lots(Account(command.project), at) if each is not lot)
    return (
        *adjusted(lot, Account(command.project), change),
        *reshared(books, lot, command.project, lot.in_force + change, shares),
        *(e for o in others for e in reshared(books, o, command.project, o.in_force, shares)),
    )


def adjust(books: Books, command: Adjust, at: int) -> Entries | Refusal:
    """Give or take by hand; taking more than is available is refused, at the project."""
    lot = _running(books, command.project, command.grant, at)
    if isinstance(lot, Refused):
        return lot
    if not command.amount:
        return Refused(Reason.AMOUNT, command.project)
    if -command.amount > lot.available:
        return NotEnough(Account(command.project), -command.amount, lot.available)
    record = books.projects.get(command.project)
    shares = record.shares if record else {}
    in_force = lot.in_force + command.amount
    return (
        *adjusted(lot, Account(command.project), command.amount),
        *reshared(books, lot, command.project, in_force, shares),
    )


def expire(books: Books, command: Expire, at: int) -> Entries | Refusal:
    """End a grant for the project and its users, or keep a part of it once."""
    lots = books.shared(command.project, command.grant)
    lot = lots.get(account := Account(command.project))
    if lot is None:
        return Refused(Reason.NO_GRANT, f"{account} {command.grant}")
    if at < lot.expires:
        return Refused(Reason.NOT_OVER, f"{account} {command.grant}", at, lot.expires)
    if command.keep_until and (wrong := wrong_project(books, command.project)):
        return wrong
    if command.keep_until and (lot.has_rolled or command.keep_until <= at):
        return Refused(Reason.PERIOD, f"{account} {command.grant}", at, command.keep_until)
    return tuple(
        Entry(Kind.EXPIRE, each, command.grant, gone)
        for each, mine in lots.items()
        if (gone := _gone(mine, command))
    )


def wrong_project(books: Books, project: str) -> Refused | None:
    """Return why nothing can be given to a project any more."""
    record = books.projects.get(project)
    if record and record.merged_into:
        return Refused(Reason.PROJECT_CLOSED, f"{project} > {record.merged_into}")
    return None


def adjusted(lot: Lot, account: Account, amount: int) -> Iterator[Entry]:
    """Yield the change of a grant, if there is one."""
    if amount:
        yield Entry(Kind.ADJUST, account, lot.grant, amount)


def reshared(
    books: Books, lot: Lot, project: str, in_force: int, shares: Mapping[str, int]
) -> Iterator[Entry]:
    """Yield what makes each user's part the share of what the project is given.

    Args:
        books: The books.
        lot: The project's grant.
        project: Its id.
        in_force: What the project's grant comes to.
        shares: Whole per cent by user; who is not in it keeps what is frozen, and no more.
    """
    accounts = {Account(project, user): percent for user, percent in shares.items()}
    for account in sorted({*accounts, *books.users_of(project)}):
        yield from reshared_to(books, lot, account, part_of(in_force, accounts.get(account, 0)))


def reshared_to(books: Books, lot: Lot, account: Account, part: int) -> Iterator[Entry]:
    """Yield what makes a user's part of a grant so much; what is in use is never taken."""
    mine = books.lot(account, lot.grant)
    in_force, available = (mine.in_force, mine.available) if mine else (0, 0)
    yield from adjusted(lot, account, max(part - in_force, -available))


def wrong_shares(shares: tuple[Share, ...]) -> Refused | None:
    """Return which share is none, or is said twice."""
    users = [share.user for share in shares]
    for index, share in enumerate(shares):
        if not 0 <= share.percent <= _PER_CENT or not share.user or share.user in users[:index]:
            return Refused(Reason.SHARE, share.user, share.percent, _PER_CENT)
    return None


def _wrong_grant(
    books: Books, account: Account, command: GrantCluster | GrantProject, at: int
) -> Refused | None:
    subject = f"{account} {command.grant}"
    if command.amount <= 0 or not command.grant:
        return Refused(Reason.AMOUNT, subject, command.amount)
    if not max(command.starts, at) < command.expires:
        return Refused(Reason.PERIOD, subject, command.starts, command.expires)
    if (account, command.grant) in books.grants:
        return Refused(Reason.GRANT_EXISTS, subject)
    return None


def _running(books: Books, project: str, grant: str, at: int) -> Lot | Refused:
    if wrong := wrong_project(books, project):
        return wrong
    lot = books.lot(Account(project), grant)
    return lot if lot and lot.is_open(at) else Refused(Reason.NO_GRANT, f"{project} {grant}")


def _gone(lot: Lot, command: Expire) -> int:
    """Return what expires of a grant: all that is available, or what is above the part kept."""
    kept = part_of(max(lot.given, 0), command.keep_percent) if command.keep_until else 0
    return max(lot.available - kept, 0)
