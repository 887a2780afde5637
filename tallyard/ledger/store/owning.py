"""What one user has in a project, and what has become of it: nothing of anybody else's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Engine, select

from tallyard.ledger.accounts import Account
from tallyard.ledger.lots import Lot
from tallyard.ledger.records import FreezeRecord
from tallyard.ledger.store import reading, rows, schema
from tallyard.ledger.store.engine import reads

FREEZES_MAX = 500


@dataclass(frozen=True)
class Own:
    """A user's own of one project: lots that have not ended, what they owe, and freezes.

    `freezes` are the last ones, the newest first, open or resolved.
    """

    lots: Sequence[Lot]
    owed: int
    freezes: Sequence[FreezeRecord]


def own(engine: Engine, account: Account, last: int) -> Own:
    """Return what a user has in a project.

    Args:
        engine: The store's.
        account: The user's in the project.
        last: How many freezes at most; no more than `FREEZES_MAX` are read.

    Raises:
        ValueError: The account is no user's.
        StoreError: The store cannot be read.
    """
    if not account.user:
        raise ValueError(f"{account} is nobody's own")
    lots, debts, freezes = schema.lots.c, schema.debts.c, schema.freezes.c
    with reads(engine) as connection:
        of_lots = select(schema.lots).where(
            lots.project == account.project, lots.user_name == account.user, ~lots.is_ended
        )
        of_debts = select(debts.amount).where(
            debts.project == account.project, debts.user_name == account.user
        )
        of_freezes = (
            select(schema.freezes)
            .where(freezes.project == account.project, freezes.user_name == account.user)
            .order_by(freezes.made.desc(), freezes.id)
            .limit(min(last, FREEZES_MAX))
        )
        return Own(
            [rows.lot(row)[1] for row in connection.execute(of_lots.order_by(lots.expires))],
            connection.execute(of_debts).scalar() or 0,
            [*reading.records(connection.execute(of_freezes))],
        )
