"""What a command may hold and come to, so that every store can keep it.

A group of commands is written at once: one that a database cannot write would take the others
with it. The bounds of names are Kubernetes' (labels 63, objects 253); those of keys and ids the
ledger's own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from types import MappingProxyType

import msgspec
from msgspec import Struct

from tallyard.ledger.accounts import Account
from tallyard.ledger.books import Books
from tallyard.ledger.commands import Expire, Merge, Regrant, Share
from tallyard.ledger.entries import Entry
from tallyard.ledger.lots import BALANCES, Lot
from tallyard.ledger.refusals import Reason, Refused

# A key is an index's entry in two databases; the longest of ours is two UIDs and three words.
KEY_LENGTH_MAX = 200
# A DNS label or a label value of Kubernetes, and the name of an object.
NAME_LENGTH_MAX, OBJECT_LENGTH_MAX = 63, 253
_REASON_LENGTH_MAX = 1000
# With what a merge appends to it, a grant's name is no longer than a key; beyond that, see `moving`.
_GRANT_LENGTH_MAX = 100
# Some twenty-seven billion core-hours; and what a balance may come to, within the 64 bits of a
# database's column.
NUMBER_MAX = 10**17
BALANCE_MAX = 2**62
_LENGTHS: Mapping[str, int] = MappingProxyType(
    {
        **dict.fromkeys(("key", "id", "freeze"), KEY_LENGTH_MAX),
        **dict.fromkeys(("project", "user", "source", "target", "queue", "model"), NAME_LENGTH_MAX),
        **dict.fromkeys(("job", "name", "by"), OBJECT_LENGTH_MAX),
        "grant": _GRANT_LENGTH_MAX,
        "reason": _REASON_LENGTH_MAX,
    }
)
# These are for people.
_MAY_BE_EMPTY = frozenset({"by", "name", "reason"})
# The cluster is the project without a name, and only its grants can change and end.
_MAY_BE_THE_CLUSTER = frozenset({(Regrant, "project"), (Expire, "project")})
# Of these it is told as what it is there: a share of nobody, a merge with nothing.
_TOLD_ELSEWHERE = frozenset({(Share, "user"), (Merge, "source"), (Merge, "target")})
_EMPTY = _MAY_BE_THE_CLUSTER | _TOLD_ELSEWHERE
_PERCENTS = frozenset({"keep_percent", "cap_percent"})
_balances: Callable[[Lot], tuple[int, ...]] = attrgetter(*BALANCES)
_PER_CENT = 100


def out_of_bounds(command: Struct) -> Refused | None:
    """Return the first value of a command, or of what it holds, that no store could keep."""
    try:
        msgspec.convert(msgspec.to_builtins(command), type(command))
    except (msgspec.ValidationError, TypeError, OverflowError):
        return Refused(Reason.TYPE, type(command).__name__)
    return _beyond(command)


def beyond_balances(books: Books, entries: Iterable[Entry]) -> Refused | None:
    """Return the first account in which entries could come to more than a database's column holds."""
    added: defaultdict[tuple[Account, str], int] = defaultdict(int)
    for entry in entries:
        added[entry.account, entry.grant] += abs(entry.amount)
    for (account, grant), amount in added.items():
        held = books.debt(account)
        if lot := books.lot(account, grant):
            held = max(held, -lot.adjusted, *_balances(lot))
        if held + amount > BALANCE_MAX:
            return Refused(Reason.AMOUNT, f"{account} {grant}", held + amount, BALANCE_MAX)
    return None


def _beyond(holder: Struct) -> Refused | None:
    for name, shortest, longest in _fields(type(holder)):
        value = getattr(holder, name)
        if isinstance(value, tuple):
            for each in value:
                if wrong := _beyond(each):
                    return wrong
        elif isinstance(value, str):
            # One line that every database holds.
            if not shortest <= len(value) <= longest or not value.isprintable():
                return Refused(Reason.TEXT, name, len(value), longest)
        elif name in _PERCENTS and not 0 <= value <= _PER_CENT:
            return Refused(Reason.PERCENT, name, value, _PER_CENT)
        elif not -NUMBER_MAX <= value <= NUMBER_MAX:
            return Refused(Reason.AMOUNT, name, value, NUMBER_MAX)
    return None


@cache
def _fields(holder: type[Struct]) -> Sequence[tuple[str, int, int]]:
    """Return the fields of a command or a part, with how short and how long a text is there."""
    return [
        (
            name,
            0 if name in _MAY_BE_EMPTY or (holder, name) in _EMPTY else 1,
            _LENGTHS.get(name, KEY_LENGTH_MAX),
        )
        for name in holder.__struct_fields__
    ]
