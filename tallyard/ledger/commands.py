"""What may be wanted of the ledger. Each has a key: the same key twice is the same command once.

Amounts are thousandths of a core-second, moments seconds since 1970 (UTC), parts whole per
cent. The moment of a command is not in it: it is the writer's, and the same command again a
second later is the same command.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Purpose(StrEnum):
    """What a freeze is for: the work itself, its wait in the queue, a window of endless work."""

    JOB = "job"
    WAIT = "wait"
    WINDOW = "window"


class Share(Struct, frozen=True, gc=False):
    """What part of a project's core-hours one user may use, in per cent."""

    user: str
    percent: int


class FreezePart(Struct, frozen=True, gc=False):
    """One freeze of several that are made together: its id, what it is for, how much."""

    id: str
    purpose: Purpose
    amount: int


class Command(Struct, frozen=True, kw_only=True, tag_field="do", omit_defaults=True):
    """The base of all; `key` names the command for ever, `by` the person who asked, if one did.

    What has its default is not in the text of a command, so that a field that comes later, with
    a default, changes the digest of none that was written before.
    """

    key: str
    by: str = ""


class GrantCluster(Command, frozen=True, kw_only=True, tag="grant-cluster"):
    """Give the cluster what its cards can give in a period."""

    grant: str
    amount: int
    starts: int
    expires: int


class GrantProject(Command, frozen=True, kw_only=True, tag="grant-project"):
    """Give a project core-hours for a time, and each user its share of them."""

    project: str
    grant: str
    amount: int
    starts: int
    expires: int
    shares: tuple[Share, ...]


class Regrant(Command, frozen=True, kw_only=True, tag="regrant"):
    """Change what a running grant gives (another tier, an override) or who has which share.

    The difference is given or taken for the rest of the period, in proportion; what is frozen
    or charged already is never taken.
    """

    project: str
    grant: str
    amount: int
    shares: tuple[Share, ...]


class Adjust(Command, frozen=True, kw_only=True, tag="adjust"):
    """Give or take core-hours by hand, within a running grant; it says why."""

    project: str
    grant: str
    amount: int
    reason: str


class Expire(Command, frozen=True, kw_only=True, tag="expire"):
    """End a grant whose time is over, or keep a part of what was given for another period.

    `project` is empty for the cluster's. With `keep_until` at most `keep_percent` of what was
    given stays, once; the rest expires.
    """

    project: str
    grant: str
    keep_percent: int = 0
    keep_until: int = 0


class Freeze(Command, frozen=True, kw_only=True, tag="freeze"):
    """Set core-hours aside for work before it runs: all parts or none.

    What the queue has frozen may not exceed `cap_percent` of the project's grants, except for
    short work (`is_fast_lane`). `job` is the name that people know it by; `seconds` its limit.
    """

    project: str
    user: str
    queue: str
    job: str
    seconds: int
    parts: tuple[FreezePart, ...]
    cap_percent: int
    is_fast_lane: bool = False


class Settle(Command, frozen=True, kw_only=True, tag="settle"):
    """End a freeze: charge what was used, at most what was frozen, and release the rest."""

    freeze: str
    amount: int


class Reduce(Command, frozen=True, kw_only=True, tag="reduce"):
    """Lower a freeze while its work goes on; `amount` is what stays frozen.

    Work is frozen for the most that it may come to, and then is given less: a cheaper model,
    fewer pods.
    """

    freeze: str
    amount: int


class Refund(Command, frozen=True, kw_only=True, tag="refund"):
    """Give back what was charged, at most all of it; it says why."""

    freeze: str
    amount: int
    reason: str


class Owe(Command, frozen=True, kw_only=True, tag="owe"):
    """Record use that could not be frozen, up to a bound on what the project owes."""

    project: str
    user: str
    amount: int
    debt_max: int


class Repay(Command, frozen=True, kw_only=True, tag="repay"):
    """Pay what is owed from what is available."""

    project: str
    user: str
    amount: int


class Rename(Command, frozen=True, kw_only=True, tag="rename"):
    """Call a project by another name; its id and its balances stay."""

    project: str
    name: str


class MoveUser(Command, frozen=True, kw_only=True, tag="move-user"):
    """Take a user's share in one project and give one in another; what is frozen stays there."""

    user: str
    source: str
    target: str
    percent: int


class Merge(Command, frozen=True, kw_only=True, tag="merge"):
    """Move what a project has available into another, and close it for new work.

    Running work is settled where it was frozen; the same merge by another key takes over what
    that has released.
    """

    source: str
    target: str


class SetPrice(Command, frozen=True, kw_only=True, tag="set-price"):
    """Let a model's card cost another rate (thousandths of a core-hour per hour) from a moment.

    `since` is nothing for the moment at which it is done.
    """

    model: str
    rate_milli: int
    since: int


type AnyCommand = (
    GrantCluster
    | GrantProject
    | Regrant
    | Adjust
    | Expire
    | Freeze
    | Settle
    | Reduce
    | Refund
    | Owe
    | Repay
    | Rename
    | MoveUser
    | Merge
    | SetPrice
)


def freezes_of(command: AnyCommand) -> tuple[str, ...]:
    """Return the ids of the freezes that a command makes, changes or refunds."""
    match command:
        case Freeze(parts=parts):
            return tuple(part.id for part in parts)
        case Settle(freeze=freeze) | Reduce(freeze=freeze) | Refund(freeze=freeze):
            return (freeze,)
        case _:
            return ()
