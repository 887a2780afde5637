"""Tells a person how far the build is: which set, which of how many, elapsed, still to go.

On a terminal one line changes in place; elsewhere (CI, a file) each step is a line with the
time and a heartbeat follows, so that nobody takes a long compile for a hang.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from tallyard.units import duration

HEARTBEAT_SECONDS = 10


@dataclass(frozen=True)
class Step:
    """One piece of work and how long it takes on a common machine."""

    name: str
    seconds: int


@dataclass(frozen=True)
class Plan:
    """All steps of this run, and how many seconds each finished one really took."""

    steps: tuple[Step, ...]
    taken: tuple[float, ...] = ()

    def finished(self, seconds: float) -> Plan:
        """Return the plan after its next step took this long."""
        return Plan(self.steps, (*self.taken, seconds))

    def remaining_seconds(self, elapsed: float) -> float:
        """Estimate what is left, with the present step running for `elapsed` seconds.

        The pace of the finished steps scales the rest: a machine with more cores, or with a
        warm compile cache, is believed after its first step. The present step never counts
        below nothing.
        """
        done = len(self.taken)
        expected = sum(step.seconds for step in self.steps[:done])
        pace = sum(self.taken) / expected if expected else 1.0
        if done == len(self.steps):
            return 0.0
        present = max(self.steps[done].seconds * pace - elapsed, 0.0)
        return present + pace * sum(step.seconds for step in self.steps[done + 1 :])


def status(plan: Plan, elapsed: float, note: str) -> str:
    """Return the line that says where the present step stands."""
    position = len(plan.taken)
    left = duration(plan.remaining_seconds(elapsed))
    text = (
        f"building {plan.steps[position].name} ({position + 1} of {len(plan.steps)}), "
        f"{duration(elapsed)}, about {left} left"
    )
    return f"{text}: {note}" if note else text


class Report(Protocol):
    """Where the toolchain says what it does."""

    def say(self, text: str) -> None:
        """Tell one thing."""

    def step(self, plan: Plan) -> contextlib.AbstractContextManager[Callable[[str], None]]:
        """Show the plan's present step while the context lasts; call the value with notes."""


class LineReport:
    """One line per event, with the time of day, and a heartbeat."""

    def __init__(self, stream: TextIO, heartbeat_seconds: float = HEARTBEAT_SECONDS) -> None:
        self._stream = stream
        self._heartbeat_seconds = heartbeat_seconds

    def say(self, text: str) -> None:
        """Tell one thing."""
        print(f"{time.strftime('%H:%M:%S')} {text}", file=self._stream, flush=True)

    @contextlib.contextmanager
    def step(self, plan: Plan) -> Iterator[Callable[[str], None]]:
        """Say that a step begins, that it goes on, and that it ended."""
        began, last, over = time.monotonic(), [""], threading.Event()

        def beat() -> None:
            while not over.wait(self._heartbeat_seconds):
                self.say(status(plan, time.monotonic() - began, last[0]))

        self.say(status(plan, 0, ""))
        thread = threading.Thread(target=beat, daemon=True)
        thread.start()
        try:
            yield lambda note: last.__setitem__(0, note)
        finally:
            over.set()
            thread.join()
        self.say(f"built {plan.steps[len(plan.taken)].name} in {_since(began)}")


class LiveReport:
    """One line that changes in place, on a terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def say(self, text: str) -> None:
        """Tell one thing."""
        self._console.print(Text(text))

    @contextlib.contextmanager
    def step(self, plan: Plan) -> Iterator[Callable[[str], None]]:
        """Show the step's line, refreshed until it ends; then say how long it took."""
        began, last = time.monotonic(), [""]

        def line() -> Text:
            text = Text(status(plan, time.monotonic() - began, last[0]))
            text.truncate(max(self._console.width - 1, 20), overflow="ellipsis")
            return text

        with Live(get_renderable=line, console=self._console, transient=True):
            yield lambda note: last.__setitem__(0, note)
        self.say(f"built {plan.steps[len(plan.taken)].name} in {_since(began)}")


def report_to(stream: TextIO = sys.stderr) -> Report:
    """Return the report that suits a stream."""
    return LiveReport(Console(file=stream)) if stream.isatty() else LineReport(stream)


def plan_of(steps: Sequence[tuple[str, int]]) -> Plan:
    """Return the plan of steps given as name and seconds."""
    return Plan(tuple(Step(name, seconds) for name, seconds in steps))


def _since(began: float) -> str:
    return duration(time.monotonic() - began)
