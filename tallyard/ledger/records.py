"""What the books remember beside balances: freezes, projects, prices."""

from __future__ import annotations

from msgspec import Struct

from tallyard.ledger.accounts import Account
from tallyard.ledger.commands import Purpose


class Part(Struct, frozen=True, gc=False):
    """How much of a freeze stands in one grant of one account."""

    account: Account
    grant: str
    amount: int


class FreezeRecord(Struct):
    """One freeze: whose, for what, in which grants, and what became of it.

    `amount` and `parts` are what is frozen now, or was at its end.
    It ends once: then `is_open` is false, `charged` of its `amount` was charged and the rest
    released. `refunded` of what was charged has been given back since.
    """

    id: str
    project: str
    user: str
    queue: str
    job: str
    seconds: int
    purpose: Purpose
    amount: int
    made: int
    parts: tuple[Part, ...]
    is_open: bool = True
    charged: int = 0
    refunded: int = 0

    def parts_of(self, account: Account) -> tuple[Part, ...]:
        """Return the parts in one account, earliest expiry first."""
        return tuple(part for part in self.parts if part.account == account)


class ProjectRecord(Struct):
    """What is known of a project: its name, its users' shares, into what it was merged."""

    id: str
    name: str
    shares: dict[str, int]
    merged_into: str = ""


class Rate(Struct, frozen=True, gc=False):
    """What a card of a model costs from a moment on, in thousandths of a core-hour per hour."""

    since: int
    rate_milli: int
