"""Group commit: who comes while the disk is busy shares the next trip to it.

A caller waits for its own answer only. Nobody waits for company: a group is what has come in
the meantime, and one alone goes at once.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from tallyard.ledger.commands import AnyCommand
from tallyard.ledger.store.store import Outcome, Store

# A group is decided in memory; more than this would keep the first waiting for the last.
GROUP_MAX = 500


@dataclass(eq=False)
class _Slip:
    """A command that waits for its answer: an outcome, or what went wrong with its group."""

    command: AnyCommand
    outcome: Outcome | None = None
    error: BaseException | None = None

    @property
    def is_answered(self) -> bool:
        return self.outcome is not None or self.error is not None


class Desk:
    """Where many threads hand in commands for one store.

    One of those who wait works for all; when it has its own answers, another one goes on.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._changed = threading.Condition()
        self._waiting: list[_Slip] = []
        self._is_busy = False

    def do(self, command: AnyCommand) -> Outcome:
        """Do one command; it is on the disk when this returns.

        Raises:
            StoreError: As `Store.do`.
        """
        return self.do_all([command])[0]

    def do_all(self, commands: Sequence[AnyCommand]) -> list[Outcome]:
        """Do commands in their order, perhaps together with those of others.

        Raises:
            StoreError: As `Store.do`.
        """
        mine = [_Slip(command) for command in commands]
        with self._changed:
            self._waiting += mine
        while group := self._turn(mine):
            try:
                self._answer(group)
            finally:
                with self._changed:
                    self._is_busy = False
                    self._changed.notify_all()
        return [_answer_of(slip) for slip in mine]

    def _turn(self, mine: Sequence[_Slip]) -> list[_Slip]:
        """Wait for the answers or for a turn to work; return the group to work on, if any."""
        with self._changed:
            self._changed.wait_for(lambda: _are_answered(mine) or not self._is_busy)
            if _are_answered(mine):
                return []
            self._is_busy = True
            group = self._waiting[:GROUP_MAX]
            del self._waiting[:GROUP_MAX]
            return group

    def _answer(self, group: Sequence[_Slip]) -> None:
        try:
            outcomes = self._store.do([slip.command for slip in group])
        except BaseException as error:
            for slip in group:
                slip.error = error
            if not isinstance(error, Exception):
                raise
            return
        for slip, outcome in zip(group, outcomes, strict=True):
            slip.outcome = outcome


def _are_answered(slips: Sequence[_Slip]) -> bool:
    return all(slip.is_answered for slip in slips)


def _answer_of(slip: _Slip) -> Outcome:
    if slip.outcome is None:
        raise slip.error or RuntimeError("a command was not answered")
    return slip.outcome
