"""Why a command was not done. Nothing is written of it, and its key stays free."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tallyard.ledger.accounts import Account


class Reason(StrEnum):
    """What was wrong with a command whatever the balances are."""

    TYPE = "type"
    AMOUNT = "amount"
    TEXT = "text"
    KEY_REUSED = "key-reused"
    PERIOD = "period"
    GRANT_EXISTS = "grant-exists"
    NO_GRANT = "no-grant"
    NOT_OVER = "not-over"
    PROJECT_CLOSED = "project-closed"
    IN_DEBT = "in-debt"
    DEBT_LIMIT = "debt-limit"
    FREEZE_EXISTS = "freeze-exists"
    NO_FREEZE = "no-freeze"
    RESOLVED = "resolved"
    NOT_RESOLVED = "not-resolved"
    MORE_THAN_FROZEN = "more-than-frozen"
    MORE_THAN_CHARGED = "more-than-charged"
    MORE_THAN_OWED = "more-than-owed"
    SHARE = "share"
    PERCENT = "percent"
    SAME_PROJECT = "same-project"
    NO_PROJECT = "no-project"
    PAST = "past"


@dataclass(frozen=True)
class NotEnough:
    """An account has less available than is needed; it is the narrowest such account."""

    account: Account
    need: int
    available: int


@dataclass(frozen=True)
class OverCap:
    """A queue would have more frozen than the part of the project's grants that it may have."""

    project: str
    queue: str
    need: int
    cap: int
    frozen: int

    @property
    def can_ever_fit(self) -> bool:
        """Say whether it fits when the queue has nothing else frozen."""
        return self.need <= self.cap


@dataclass(frozen=True)
class Refused:
    """A command that contradicts the books; `subject` names what, `found` and `bound` how far."""

    reason: Reason
    subject: str
    found: int = 0
    bound: int = 0


type Refusal = NotEnough | OverCap | Refused
