"""A clock that is set does not move the ledger."""

from __future__ import annotations

import pytest

from tallyard.ledger.clock import JUMP_SECONDS_MIN, Clock


class Machine:
    """A wall clock that may be set, and seconds that only go on."""

    def __init__(self) -> None:
        self.wall, self.steady = 1_800_000_000.0, 500.0
        self.clock = Clock(lambda: self.wall, lambda: self.steady)

    def pass_by(self, seconds: float) -> None:
        """Let time go by."""
        self.wall += seconds
        self.steady += seconds


@pytest.mark.parametrize("jump", [-3600, 86_400])
def test_a_clock_that_is_set_is_told_and_not_followed(jump: int) -> None:
    machine = Machine()
    begun = machine.clock()
    machine.pass_by(100)
    machine.wall += jump
    machine.pass_by(5)
    assert machine.clock() - begun == 105
    assert machine.clock.jump() == jump


def test_small_steps_are_no_jump() -> None:
    machine = Machine()
    machine.wall += JUMP_SECONDS_MIN - 1
    assert machine.clock.jump() == 0


def test_by_default_it_is_the_machines_time() -> None:
    import time  # noqa: PLC0415

    assert abs(Clock()() - time.time()) < 5
