"""How long work is shown, on stderr: a live line on a terminal, dated lines elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from tallyard import units
from tallyard.cli import session

if TYPE_CHECKING:
    from rich.status import Status

# Often enough that nobody takes a slow step for a hang.
HEARTBEAT_SECONDS = 10.0
# The live line tells whole seconds.
LIVE_SECONDS = 1.0


class Progress(Protocol):
    """What the lab tells its steps to."""

    def step(self, text: str) -> None:
        """Something begins."""

    def done(self, text: str) -> None:
        """Something ended well."""


class Lines:
    """One line an event with the time of day, and a heartbeat with the step it is at.

    Steps alone are not printed: while Pulumi works there are hundreds.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._step = ""

    def step(self, text: str) -> None:
        """Remember the step for the heartbeat."""
        self._step = text

    def done(self, text: str) -> None:
        """Print what is done."""
        self._print(text)

    def beat(self) -> None:
        """Say that it goes on, and where it is."""
        self._print(f"... {self._step}")

    def _print(self, text: str) -> None:
        with self._lock:
            sys.stderr.write(f"{time.strftime('%H:%M:%S')} {text}\n")
            sys.stderr.flush()


class Live:
    """A line that changes in place; what is done stays above it."""

    def __init__(self, status: Status) -> None:
        self._status = status
        self._begun = time.monotonic()
        self._step = ""

    def step(self, text: str) -> None:
        """Show the step."""
        self._step = text
        self.beat()

    def done(self, text: str) -> None:
        """Leave a line with a tick."""
        self._status.console.print(f"✓ {text}")

    def beat(self) -> None:
        """Show the step and how long all of it has taken."""
        from rich.text import Text  # noqa: PLC0415

        elapsed = f"  {units.duration(time.monotonic() - self._begun)}"
        # As Text, because what is shown may hold what looks like markup.
        line = Text(self._step)
        room = max(self._status.console.width - 4, 20) - len(elapsed)
        line.truncate(room, overflow="ellipsis")
        self._status.update(line + Text(elapsed, style="dim"))


@contextmanager
def progress(heartbeat_seconds: float = HEARTBEAT_SECONDS) -> Iterator[Progress]:
    """Give the progress that suits stderr."""
    if sys.stderr.isatty():
        with session.err().status("") as status:
            live = Live(status)
            with _beating(live.beat, LIVE_SECONDS):
                yield live
        return
    lines = Lines()
    with _beating(lines.beat, heartbeat_seconds):
        yield lines


@contextmanager
def _beating(beat: Callable[[], None], seconds: float) -> Iterator[None]:
    over = threading.Event()

    def beats() -> None:
        while not over.wait(seconds):
            beat()

    thread = threading.Thread(target=beats, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
