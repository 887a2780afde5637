"""The process that writes a ledger, as the life that kills it sees it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tallyard.ledger.commands import AnyCommand
from tallyard.ledger.transactions import command_text
from tests.soak.ledger_model import LifeError
from tests.soak.ledger_points import Point

_WRITER = "tests.soak.ledger_writer"
# A group takes some milliseconds, a start a second, the wait for another writer 30 s; more than this
# is a writer that hangs.
_ANSWER_SECONDS_MAX = 180.0


@dataclass
class Writer:
    """It is started when there is something to write and none runs: first, and after each kill.

    `seconds` is how long the last group took.
    """

    address: str
    pages_max: int = 0
    process: subprocess.Popen[str] | None = None
    seconds: float = 0.0

    def send(self, line: str) -> None:
        """Hand over a group; starts a process where there is none.

        Raises:
            LifeError: It has ended by itself.
        """
        process = self._running()
        assert process.stdin is not None
        try:
            process.stdin.write(line + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            raise self._ended(process) from None

    def answer(self) -> dict[str, Any]:
        """Wait for what a group came to.

        Raises:
            LifeError: None came.
        """
        process, begin = self._running(), time.monotonic()
        found = _answer_in(self._line(process))
        if found is None:
            raise self._ended(process)
        self.seconds = time.monotonic() - begin
        return found

    def die(self, point: Point) -> None:
        """Wait until it has killed itself where it was told to.

        Raises:
            LifeError: It did something else.
        """
        process = self._running()
        if line := self._line(process):
            raise LifeError(f"the writer was to die {point} and answered {line.strip()[:200]}")
        if process.wait() != -signal.SIGKILL:
            raise self._ended(process)
        self.stop()

    def kill(self, seconds: float) -> dict[str, Any] | None:
        """End it after a time, as a power cut would, in the middle of whatever it does.

        Returns:
            What it had answered by then, whole; None when it had not.

        Raises:
            LifeError: It had ended by itself.
        """
        process = self._running()
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        line = self._line(process)
        if process.wait() != -signal.SIGKILL:
            raise self._ended(process)
        self.stop()
        return _answer_in(line)

    def stop(self) -> None:
        """Let it end by itself, where it runs."""
        if self.process is not None:
            self.process.communicate()
            self.process = None

    def _running(self) -> subprocess.Popen[str]:
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-m", _WRITER, self.address, str(self.pages_max)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=os.environ,
            )
        return self.process

    def _line(self, process: subprocess.Popen[str]) -> str:
        """Return its next line; one without an end, or nothing, when it ended before."""
        assert process.stdout is not None
        watch = threading.Timer(_ANSWER_SECONDS_MAX, process.terminate)
        watch.start()
        try:
            return process.stdout.readline()
        finally:
            watch.cancel()

    def _ended(self, process: subprocess.Popen[str]) -> LifeError:
        code = process.wait()
        hung = f", after {_ANSWER_SECONDS_MAX:.0f} s without an answer"
        return LifeError(
            f"the writer ended by itself with {code}{hung if code == -signal.SIGTERM else ''}"
        )


def line_of(commands: Sequence[AnyCommand], at: int, dies: Point | None = None) -> str:
    """Return a group as its line."""
    texts = [command_text(command) for command in commands]
    return json.dumps({"at": at, "commands": texts, "dies": dies})


def said(answer: dict[str, Any]) -> str:
    """Return the error that was answered."""
    return f"{answer['error']}: {answer['why']}"


def _answer_in(line: str) -> dict[str, Any] | None:
    if not line.endswith("\n"):
        return None
    found: dict[str, Any] = json.loads(line)
    return found
