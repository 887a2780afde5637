"""What stands in the journal: immutable movements of one amount in one grant of one account.

                granted refunded adjusted  available frozen charged expired   owed
    grant          +                           +
    refund                  +                  +
    adjust                           ±         ±
    expire                                     -                       +
    freeze                                     -        +
    charge                                              -      +
    release                                    +        -
    owe                                                                         +
    repay                                      -               +                -

So granted + refunded + adjusted = available + frozen + charged + expired holds by each entry.
What is owed was used without a freeze and stands beside; repaying it makes it a charge.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from tallyard.ledger.accounts import Account


class Kind(StrEnum):
    """What an entry does."""

    GRANT = "grant"
    EXPIRE = "expire"
    FREEZE = "freeze"
    CHARGE = "charge"
    RELEASE = "release"
    REFUND = "refund"
    ADJUST = "adjust"
    OWE = "owe"
    REPAY = "repay"


class Entry(Struct, frozen=True, array_like=True, gc=False):
    """One movement. `amount` is above nothing, and below it only for `adjust`.

    `grant` is empty for `owe`, which is in no grant; `freeze` names the freeze that was made,
    resolved or refunded, and is empty elsewhere.
    """

    kind: Kind
    account: Account
    grant: str
    amount: int
    freeze: str = ""
