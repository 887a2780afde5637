"""How long work is shown, on stderr: a live line on a terminal, dated lines elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from tallyard.cli import session

if TYPE_CHECKING:
    from rich.status import Status

# Often enough that nobody takes a slow step for a hang.
HEARTBEAT_SECONDS = 10.0


class Progress(Protocol):
    """What the lab tells its steps to."""

    def step(self, text: str) -> None:
        """Something begins."""

    def done(self, text: str) -> None:
        """Something ended well."""


class Lines:
    """One line an event with the time of day, and a heartbeat with the step it is at.

    Steps alone are not printed: Pulumi has hundreds.
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

    def step(self, text: str) -> None:
        """Show the step."""
        from rich.text import Text  # noqa: PLC0415

        # As Text, because the lines of other programs may hold what looks like markup.
        line = Text(text)
        line.truncate(max(self._status.console.width - 4, 20), overflow="ellipsis")
        self._status.update(line)

    def done(self, text: str) -> None:
        """Leave a line with a tick."""
        self._status.console.print(f"✓ {text}")


@contextmanager
def progress(heartbeat_seconds: float = HEARTBEAT_SECONDS) -> Iterator[Progress]:
    """Give the progress that suits stderr."""
    if sys.stderr.isatty():
        with session.err().status("") as status:
            yield Live(status)
        return
    lines, over = Lines(), threading.Event()

    def beat() -> None:
        while not over.wait(heartbeat_seconds):
            lines.beat()

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield lines
    finally:
        over.set()
        thread.join()
