"""What a piece of work has cost so far: the sum of its freezes."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Engine

from tallyard.ledger.store import reading
from tallyard.ledger.store.engine import reads
from tallyard.ledger.work import Work


@dataclass(frozen=True)
class Cost:
    """What was frozen for work, and what became of it, in thousandths of a core-second.

    `charged` is without what was given back since. `is_open` while something is still frozen.
    """

    frozen: int
    charged: int
    is_open: bool

    @property
    def returned(self) -> int:
        """Return what of the frozen was not charged, or given back; 0 while it is not settled."""
        return 0 if self.is_open else self.frozen - self.charged


def cost_of(engine: Engine, work: Work) -> Cost | None:
    """Return what work has cost; None where nothing was ever frozen for it.

    Raises:
        StoreError: The store cannot be read.
    """
    with reads(engine) as connection:
        records = reading.freezes_of(connection, work)
    if not records:
        return None
    return Cost(
        sum(each.amount for each in records),
        sum(each.charged - each.refunded for each in records),
        any(each.is_open for each in records),
    )
