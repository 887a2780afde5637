"""What an account has of core-hours now, as people and programs are told it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from tallyard.ledger.amounts import text
from tallyard.ledger.lots import Lot


def figures(lots: Collection[Lot], owed: int, at: int) -> Mapping[str, str]:
    """Return an account's figures in core-hours, with two decimals, by what they are.

    `granted` is what it was given and can still use some of, `used` what was charged of that and
    not given back; `granted` is `used`, `frozen` and `available` together, but for work that began
    in the period before, which may have some frozen there.

    Args:
        lots: All its lots that have not ended.
        owed: What it owes, in thousandths of a core-second.
        at: Now.
    """
    open_ = [lot for lot in lots if lot.is_open(at)]
    return {
        "granted": text(sum(lot.in_force for lot in open_)),
        "used": text(sum(lot.charged - lot.refunded for lot in open_)),
        "frozen": text(sum(lot.frozen for lot in lots)),
        "available": text(sum(lot.available for lot in open_)),
        "owed": text(owed),
    }
