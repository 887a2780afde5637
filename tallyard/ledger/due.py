"""What the spec and the time ask of the books: grants, their change and their end, prices, debts.

Asking again after it was done finds nothing, and two that ask at once do it once: by the key,
or because the second finds nothing to change.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction

from tallyard.ledger import amounts, periods
from tallyard.ledger.accounts import CLUSTER, Account, Level
from tallyard.ledger.amounts import part_of
from tallyard.ledger.books import Books
from tallyard.ledger.commands import (
    AnyCommand,
    Expire,
    GrantCluster,
    GrantProject,
    Regrant,
    Rename,
    Repay,
    SetPrice,
    Share,
)
from tallyard.ledger.lots import Lot
from tallyard.ledger.periods import Span
from tallyard.spec.model import Period, Platform, Project

_MILLI = 1000
_HOUR = 3600


def due(platform: Platform, books: Books, at: int) -> Iterator[AnyCommand]:
    """Yield what has to be done now; the end of the old comes before the new.

    A debt is repaid from what is available now, so after a grant `due` is asked once more.
    """
    at = max(at, books.at)
    yield from _prices(platform, books, at)
    yield from _ends(platform, books, at)
    yield from _capacity(platform, books, at)
    for project in platform.projects.values():
        record = books.projects.get(project.id)
        if record is None or not record.merged_into:
            yield from _grants(platform, project, books, at)
    yield from _debts(books, at)


def is_left(books: Books, account: Account, grant: str) -> bool:
    """Say whether something of a grant that is over can expire, or nothing is frozen in it."""
    lots = books.shared(account.project, grant).values()
    return any(lot.available for lot in lots) or not any(lot.frozen for lot in lots)


def capacity(platform: Platform, span: Span) -> int:
    """Return what the cluster's cards can give in a month, with what `overcommit` adds.

    A month counts at least as long as the mean one, by which the spec compares grants.
    """
    rate_milli = sum(
        node.cards * platform.accelerators[node.model].rate_milli
        for node in platform.nodes
        if node.model is not None
    )
    hours = max(Fraction(span.ends - span.starts, _HOUR), Period.MONTH.hours)
    per_hour = rate_milli * (amounts.CORE_HOUR // _MILLI)
    factor = Fraction(platform.availability * platform.overcommit.core_hours_milli, 100 * _MILLI)
    return math.floor(per_hour * hours * factor)


def _prices(platform: Platform, books: Books, at: int) -> Iterator[SetPrice]:
    for model, card in sorted(platform.accelerators.items()):
        rates = books.prices.get(model, [])
        # One that was set for later stays; else the spec's holds from now on.
        if not rates or (rates[-1].since <= at and rates[-1].rate_milli != card.rate_milli):
            key = f"price/{model}/{books.seq}"
            yield SetPrice(key=key, model=model, rate_milli=card.rate_milli, since=0)


def _ends(platform: Platform, books: Books, at: int) -> Iterator[Expire]:
    projects = {project.id: project for project in platform.projects.values()}
    for account in sorted(a for a in books.lots if a.level is not Level.USER):
        for lot in books.lots_of(account):
            if at < lot.expires or not is_left(books, account, lot.grant):
                continue
            key = f"expire/{account}/{lot.grant}/{lot.expires}"
            record = books.projects.get(account.project)
            project = None if record and record.merged_into else projects.get(account.project)
            kept, until = _kept(platform, project, lot, at)
            yield Expire(
                key=key,
                project=account.project,
                grant=lot.grant,
                keep_percent=kept,
                keep_until=until,
            )


def _kept(platform: Platform, project: Project | None, lot: Lot, at: int) -> tuple[int, int]:
    """Return which part of a period's grant is kept, and until when; nothing of other grants."""
    if project is None or lot.has_rolled or not project.limits.rollover:
        return 0, 0
    period = project.limits.core_hours.period
    own = periods.span(period, lot.starts, platform.time_zone)
    following = periods.span(period, lot.expires, platform.time_zone)
    if own.name != lot.grant or following.ends <= at:
        return 0, 0
    return project.limits.rollover, following.ends


def _capacity(platform: Platform, books: Books, at: int) -> Iterator[GrantCluster | Regrant]:
    span = periods.span(Period.MONTH, at, platform.time_zone)
    amount = capacity(platform, span)
    lot = books.lot(CLUSTER, span.name)
    if (CLUSTER, span.name) not in books.grants and amount:
        yield GrantCluster(
            key=f"grant/{CLUSTER}/{span.name}",
            grant=span.name,
            amount=amount,
            starts=span.starts,
            expires=span.ends,
        )
    elif lot is not None and lot.is_open(at) and lot.base != amount:
        key = f"regrant/{CLUSTER}/{span.name}/{books.seq}"
        yield Regrant(key=key, project="", grant=span.name, amount=amount, shares=())


def _grants(
    platform: Platform, project: Project, books: Books, at: int
) -> Iterator[GrantProject | Regrant | Rename]:
    hours = project.limits.core_hours
    span = periods.span(hours.period, at, platform.time_zone)
    amount = amounts.of_core_hours(hours.amount)
    shares = tuple(Share(user.name, user.share) for user in project.users)
    account, record = Account(project.id), books.projects.get(project.id)
    running = _of_another_period(platform, books, account, hours.period, at)
    lot = running or books.lot(account, span.name)
    if not running and (account, span.name) not in books.grants:
        yield GrantProject(
            key=f"grant/{project.id}/{span.name}",
            project=project.id,
            grant=span.name,
            amount=amount,
            starts=span.starts,
            expires=span.ends,
            shares=shares,
        )
    elif lot and lot.is_open(at):
        amount = lot.base if running else amount
        if lot.base != amount or _is_unsettled(books, project.id, lot, shares):
            key = f"regrant/{project.id}/{lot.grant}/{books.seq}"
            yield Regrant(
                key=key, project=project.id, grant=lot.grant, amount=amount, shares=shares
            )
    if project.key != (record.name if record else project.id):
        key = f"rename/{project.id}/{project.key}/{books.seq}"
        yield Rename(key=key, project=project.id, name=project.key)


def _of_another_period(
    platform: Platform, books: Books, account: Account, period: Period, at: int
) -> Lot | None:
    """Return the spec's grant that goes on although the spec now counts by another period.

    A month that was begun is finished: a week's grant beside it would be given on top.
    """
    for lot in books.open_lots(account, at):
        others = (other for other in Period if other is not period and not lot.has_rolled)
        if any(periods.span(o, lot.starts, platform.time_zone).name == lot.grant for o in others):
            return lot
    return None


def _is_unsettled(books: Books, project: str, lot: Lot, shares: Iterable[Share]) -> bool:
    """Say whether the shares are others, or something that could not be taken has come back."""
    record = books.projects.get(project)
    percents = {share.user: share.percent for share in shares}
    if record is None or record.shares != percents or (lot.untaken and lot.available):
        return True
    return any(
        mine.available and mine.in_force > part_of(lot.in_force, percents.get(account.user, 0))
        for account in books.users_of(project)
        if (mine := books.lot(account, lot.grant))
    )


def _debts(books: Books, at: int) -> Iterator[Repay]:
    for account, owed in sorted(books.owed.items()):
        if account.level is not Level.USER or not owed:
            continue
        levels = [CLUSTER, Account(account.project)]
        if books.is_member(account):
            levels.append(account)
        amount = min(owed, *(books.available(level, at) for level in levels))
        if amount:
            key = f"repay/{account}/{books.seq}"
            yield Repay(key=key, project=account.project, user=account.user, amount=amount)
