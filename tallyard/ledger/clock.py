"""What time it is, for a ledger that must not be moved by a clock that is set.

Within one process the time goes on as the machine counts it, whatever the wall clock does
meanwhile; a jump is told and not followed. Between processes the journal's own last moment is
the floor (`Books.at`).
"""

from __future__ import annotations

import time
from collections.abc import Callable

# A clock that is set by NTP in small steps differs by less.
JUMP_SECONDS_MIN = 60


class Clock:
    """Seconds since 1970 (UTC) that never go back and never jump, counted from its making.

    Args:
        wall: The machine's clock, which may be set.
        steady: Seconds that only go on.
    """

    def __init__(
        self,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._wall, self._steady = wall, steady
        self._begun_wall, self._begun_steady = wall(), steady()

    def __call__(self) -> int:
        """Return the time."""
        return int(self._begun_wall + self._steady() - self._begun_steady)

    def jump(self) -> int:
        """Return by how many seconds the machine's clock was set since, if by more than a little.

        Above nothing is forward. Who is sure that the new time is right makes a new clock.
        """
        gone = self._wall() - (self._begun_wall + self._steady() - self._begun_steady)
        return int(gone) if abs(gone) >= JUMP_SECONDS_MIN else 0
