"""A random life of a ledger: everything that may be done to it, and much that may not.

What comes next depends on the seed and on the balances only, so the same seed is the same life.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tallyard.ledger.accounts import CLUSTER, Account
from tallyard.ledger.books import Books
from tallyard.ledger.commands import (
    Adjust,
    AnyCommand,
    Expire,
    Freeze,
    FreezePart,
    GrantCluster,
    GrantProject,
    Merge,
    MoveUser,
    Owe,
    Purpose,
    Reduce,
    Refund,
    Regrant,
    Rename,
    Repay,
    SetPrice,
    Settle,
    Share,
)
from tallyard.ledger.due import is_left
from tallyard.ledger.lots import Lot
from tests.ledger.ledgers import DAY, NOVEMBER, H

HOUR = 3600
PROJECTS = 4
USERS = ("li.wei", "chen.yu", "zhao.min")
QUEUES = ("training", "inference", "elastic")
# How often an old command is said again, rightly or with another amount.
_AGAIN, _ALTERED = 0.04, 0.02
_REMEMBERED = 200


class Operations:
    """The commands of one life. `books` is where they are done; `now` moves on by itself."""

    def __init__(self, seed: int, books: Books) -> None:
        self.books = books
        self.now = NOVEMBER
        self._random = Random(seed)  # noqa: S311 - reproducible, nothing secret
        self._number = 0
        self._may_be_due = True
        self._projects = [f"p{n}" for n in range(PROJECTS)]
        self._open: list[str] = []
        self._place: dict[str, int] = {}
        self._noted: set[str] = set()
        self._resolved: list[str] = []
        self._said: list[AnyCommand] = []
        self._kinds: dict[Callable[[], AnyCommand], int] = {
            self._freeze: 38,
            self._settle: 33,
            self._reduce: 5,
            self._refund: 6,
            self._regrant: 3,
            self._adjust: 3,
            self._owe: 1,
            self._repay: 6,
            self._extra: 2,
            self._rename: 1,
            self._move: 2,
            self._merge: 1,
            self._price: 2,
            self._too_early: 1,
        }

    def next(self) -> AnyCommand:
        """Return what comes next: what is due first, then anything."""
        if self._random.random() < 0.2:
            self._tick()
            self._may_be_due = True
        if self._may_be_due:
            if command := self._due():
                return command
            self._may_be_due = False
        if self._said and self._random.random() < _AGAIN:
            return self._random.choice(self._said)
        kinds, weights = list(self._kinds), list(self._kinds.values())
        command = self._random.choices(kinds, weights)[0]()
        if self._said and self._random.random() < _ALTERED:
            command = _with_key(command, self._random.choice(self._said).key)
        if len(self._said) == _REMEMBERED:
            self._said[self._random.randrange(_REMEMBERED)] = command
        else:
            self._said.append(command)
        return command

    def was_done(self, command: AnyCommand) -> None:
        """Take note of what was done, so that later commands can name it; twice is once."""
        if command.key in self._noted:
            return
        self._noted.add(command.key)
        match command:
            case Freeze(parts=parts):
                for part in parts:
                    self._place[part.id] = len(self._open)
                    self._open.append(part.id)
            case Settle(freeze=freeze):
                # The last one takes its place, so that a long list is not moved.
                place, last = self._place.pop(freeze), self._open.pop()
                if last != freeze:
                    self._open[place], self._place[last] = last, place
                self._resolved.append(freeze)
                del self._resolved[:-_REMEMBERED]

    def _tick(self) -> None:
        """Let time go by; now and then a clock is set, or midnight is just now."""
        luck = self._random.random()
        if luck < 0.01:
            self.now -= HOUR
        elif luck < 0.012:
            self.now += DAY
        elif luck < 0.02:
            self.now += -self.now % DAY
        else:
            self.now += self._random.randrange(900)

    def _due(self) -> AnyCommand | None:
        """Return the end of a grant that is over, or a new day's grant that is missing."""
        now = max(self.now, self.books.at)
        day = now // DAY
        for account in (CLUSTER, *map(Account, self._projects)):
            for lot in self.books.lots_of(account):
                if now >= lot.expires and is_left(self.books, account, lot.grant):
                    return self._expire(account, lot, now)
            if (account, f"d{day}") not in self.books.grants:
                return self._daily(account, day)
        return None

    def _expire(self, account: Account, lot: Lot, now: int) -> Expire:
        keeps = account.project and not lot.has_rolled and self._random.random() < 0.5
        until = lot.expires + DAY
        percent, until = (20, until) if keeps and until > now else (0, 0)
        return Expire(
            key=self._key(),
            project=account.project,
            grant=lot.grant,
            keep_percent=percent,
            keep_until=until,
        )

    def _daily(self, account: Account, day: int) -> AnyCommand:
        grant, starts, expires = f"d{day}", day * DAY, (day + 1) * DAY
        if account == CLUSTER:
            amount = self._random.randrange(300, 500) * H
            key = self._key()
            return GrantCluster(key=key, grant=grant, amount=amount, starts=starts, expires=expires)
        return GrantProject(
            key=self._key(),
            project=account.project,
            grant=grant,
            amount=self._random.randrange(50, 150) * H + self._random.randrange(1000),
            starts=starts,
            expires=expires,
            shares=self._shares(),
        )

    def _shares(self) -> tuple[Share, ...]:
        users = self._random.sample(USERS, self._random.randrange(1, len(USERS) + 1))
        return tuple(Share(user, self._random.randrange(10, 101)) for user in users)

    def _freeze(self) -> Freeze:
        ids = [self._id() for _ in range(self._random.choice((1, 1, 2)))]
        if self._open and self._random.random() < 0.01:
            ids[0] = self._random.choice(self._open)
        size = self._random.choice((1, H, 5 * H, 20 * H, 60 * H))
        amounts = [self._random.randrange(1, size + 1) for _ in ids]
        if self._random.random() < 0.01:
            amounts[0] = -amounts[0]
        purposes = (Purpose.JOB, Purpose.WAIT)
        return Freeze(
            key=self._key(),
            project=self._project(),
            user=self._user(),
            queue=self._random.choice(QUEUES),
            job=ids[0],
            seconds=HOUR,
            parts=tuple(FreezePart(*each) for each in zip(ids, purposes, amounts, strict=False)),
            cap_percent=self._random.choice((30, 60, 100)),
            is_fast_lane=self._random.random() < 0.2,
        )

    def _settle(self) -> AnyCommand:
        if not self._open and self._random.random() < 0.9:
            return self._freeze()
        freeze = self._a_freeze()
        record = self.books.freezes.get(freeze)
        amount = record.amount if record else H
        part = self._random.randrange(amount + 1)
        # Nothing, a part, all, and now and then a thousandth more than all.
        amount = self._random.choice((0, part, part, amount))
        if record and self._random.random() < 0.02:
            amount = record.amount + 1
        return Settle(key=self._key(), freeze=freeze, amount=amount)

    def _reduce(self) -> Reduce:
        freeze = self._a_freeze()
        record = self.books.freezes.get(freeze)
        # From nothing, which is refused, to a thousandth more than there is.
        amount = self._random.randrange((record.amount if record else H) + 2)
        return Reduce(key=self._key(), freeze=freeze, amount=amount)

    def _a_freeze(self) -> str:
        if not self._open or self._random.random() < 0.02:
            return self._random.choice(self._resolved) if self._resolved else "nobody's"
        return self._random.choice(self._open)

    def _refund(self) -> Refund:
        freezes = self._resolved or ["nobody's"]
        amount = self._random.choice((1, H, 5 * H, 0))
        freeze = self._random.choice(freezes)
        return Refund(key=self._key(), freeze=freeze, amount=amount, reason="node failure")

    def _regrant(self) -> Regrant:
        project, grant = self._a_grant()
        amount = self._random.randrange(0, 200) * H
        return Regrant(
            key=self._key(), project=project, grant=grant, amount=amount, shares=self._shares()
        )

    def _adjust(self) -> Adjust:
        project, grant = self._a_grant()
        amount = self._random.randrange(-40, 40) * H
        return Adjust(key=self._key(), project=project, grant=grant, amount=amount, reason="asked")

    def _a_grant(self) -> tuple[str, str]:
        project = self._project()
        lots = self.books.open_lots(Account(project), max(self.now, self.books.at))
        return project, self._random.choice([lot.grant for lot in lots] or ["none"])

    def _owe(self) -> Owe:
        amount = self._random.randrange(0, 4) * H
        project, user = self._project(), self._user()
        return Owe(key=self._key(), project=project, user=user, amount=amount, debt_max=5 * H)

    def _repay(self) -> AnyCommand:
        owing = [a for a, owed in sorted(self.books.owed.items()) if owed and a.user]
        if not owing and self._random.random() < 0.9:
            return self._freeze()
        account = self._random.choice(owing or [Account(self._project(), self._user())])
        amount = self.books.debt(account) + self._random.choice((0, 0, 0, -1, 1))
        return Repay(key=self._key(), project=account.project, user=account.user, amount=amount)

    def _extra(self) -> GrantProject:
        starts = max(self.now, self.books.at) - self._random.randrange(HOUR)
        return GrantProject(
            key=self._key(),
            project=self._project(),
            grant=f"extra-{self._random.randrange(10_000)}",
            amount=self._random.randrange(20) * H,
            starts=starts,
            expires=starts + self._random.randrange(2 * DAY),
            shares=self._shares(),
        )

    def _rename(self) -> Rename:
        name = self._random.choice(("language", "vision", "", "speech"))
        return Rename(key=self._key(), project=self._project(), name=name)

    def _move(self) -> MoveUser:
        return MoveUser(
            key=self._key(),
            user=self._user(),
            source=self._project(),
            target=self._project(),
            percent=self._random.randrange(0, 103),
        )

    def _merge(self) -> Merge:
        """Merge rarely, and let a new project take the place of the one that closes."""
        source, target = self._project(), self._project()
        if source != target and self._random.random() < 0.2:
            self._projects[self._projects.index(source)] = f"p{self._number}"
        else:
            closed = [p.id for p in self.books.projects.values() if p.merged_into]
            source = self._random.choice(closed or [source])
            record = self.books.projects.get(source)
            target = record.merged_into if record and record.merged_into else source
        return Merge(key=self._key(), source=source, target=target)

    def _price(self) -> SetPrice:
        since = max(self.now, self.books.at) + self._random.randrange(-HOUR, DAY)
        rate = self._random.randrange(-1, 60_000)
        model = self._random.choice(("A100", "RTX-4090"))
        return SetPrice(key=self._key(), model=model, rate_milli=rate, since=since)

    def _too_early(self) -> Expire:
        project, grant = self._a_grant()
        return Expire(key=self._key(), project=project, grant=grant)

    def _project(self) -> str:
        return self._random.choice(self._projects)

    def _user(self) -> str:
        return self._random.choice(USERS)

    def _key(self) -> str:
        self._number += 1
        return f"k{self._number}"

    def _id(self) -> str:
        self._number += 1
        return f"f{self._number}"


def _with_key(command: AnyCommand, key: str) -> AnyCommand:
    fields = {name: getattr(command, name) for name in command.__struct_fields__}
    return type(command)(**{**fields, "key": key})
