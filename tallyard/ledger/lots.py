"""One grant as one account has it, with all that became of it."""

from __future__ import annotations

from msgspec import Struct

from tallyard.ledger.entries import Entry, Kind

# Field and sign, by the kind of entry; `owed` is the account's.
_MOVES: dict[Kind, tuple[tuple[str, int], ...]] = {
    Kind.GRANT: (("granted", 1), ("available", 1)),
    Kind.REFUND: (("refunded", 1), ("available", 1)),
    Kind.ADJUST: (("adjusted", 1), ("available", 1)),
    Kind.EXPIRE: (("available", -1), ("expired", 1)),
    Kind.FREEZE: (("available", -1), ("frozen", 1)),
    Kind.CHARGE: (("frozen", -1), ("charged", 1)),
    Kind.RELEASE: (("frozen", -1), ("available", 1)),
    Kind.REPAY: (("available", -1), ("charged", 1)),
}
BALANCES = ("granted", "refunded", "adjusted", "available", "frozen", "charged", "expired")
NEVER_NEGATIVE = tuple(name for name in BALANCES if name != "adjusted")


class Lot(Struct):
    """The balances of one grant in one account, in thousandths of a core-second.

    It can be frozen from `starts` until before `expires` (seconds since 1970, UTC). `base` is
    the amount that the spec gives for the whole period; `untaken` is what a lower one should have
    taken and could not, because it was in use. `has_rolled` says that its period is
    over and the rest of it was kept for another one.
    """

    grant: str
    starts: int
    expires: int
    base: int = 0
    untaken: int = 0
    has_rolled: bool = False
    granted: int = 0
    refunded: int = 0
    adjusted: int = 0
    available: int = 0
    frozen: int = 0
    charged: int = 0
    expired: int = 0

    @property
    def given(self) -> int:
        """Return what was given for the period: the grant with what changed it."""
        return self.granted + self.adjusted

    @property
    def in_force(self) -> int:
        """Return what counts of it now: what was given, less what expired when it was rolled over."""
        return self.given - self.expired

    def is_open(self, at: int) -> bool:
        """Say whether core-hours may be frozen from it."""
        return self.starts <= at < self.expires

    def has_ended(self, at: int) -> bool:
        """Say whether nothing can become of it any more."""
        return at >= self.expires and not self.available and not self.frozen

    def change_to(self, base: int, at: int) -> int:
        """Return what another amount for the period gives or takes for the rest of it.

        In proportion and toward nothing, so that nobody gains by changing to and fro.
        """
        difference = base - self.base
        part = abs(difference) * (self.expires - at) // (self.expires - self.starts)
        return part if difference > 0 else -part

    def move(self, entry: Entry) -> None:
        """Move the balances as an entry says."""
        for field, sign in _MOVES[entry.kind]:
            setattr(self, field, getattr(self, field) + sign * entry.amount)

    def faults(self) -> list[str]:
        """Return what is wrong with the balances, as the design's section 4 has them."""
        found = [f"{name} is {n}" for name in NEVER_NEGATIVE if (n := getattr(self, name)) < 0]
        came = self.granted + self.refunded + self.adjusted
        went = self.available + self.frozen + self.charged + self.expired
        if came != went:
            found.append(f"granted + refunded + adjusted is {came}, and the rest is {went}")
        return found
