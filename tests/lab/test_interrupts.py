"""Ctrl-C at a terminal is heard, whatever the shell behind it has let programs ignore."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time

from lab.folder import CHECKOUT

# As `tally lab up` does, in a process of its own.
WAITING = """
import signal, time
from lab.interrupts import heard_at_terminal
signal.signal(signal.SIGINT, signal.SIG_IGN)
try:
    with heard_at_terminal():
        print("waits", flush=True)
        time.sleep(20)
    print("slept")
except KeyboardInterrupt:
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    print("ended", flush=True)
"""


def _read(terminal: int, until: str) -> str:
    told, deadline = "", time.monotonic() + 20
    while until not in told and time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                told += os.read(terminal, 4096).decode()
            except OSError:  # the other end is closed
                break
    return told


def test_who_is_in_front_of_a_terminal_hears_ctrl_c_though_a_shell_has_let_it_be_ignored() -> None:
    """`script -c "make up" &` in a script."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(CHECKOUT)
        os.execv(sys.executable, [sys.executable, "-c", WAITING])  # noqa: S606
    try:
        assert "waits" in _read(terminal, "waits")
        os.write(terminal, b"\x03")
        assert "ended" in _read(terminal, "ended")
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


def test_without_a_terminal_what_is_ignored_stays_ignored() -> None:
    command = [sys.executable, "-c", WAITING.replace("sleep(20)", "sleep(1)")]
    with subprocess.Popen(
        command, cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"waits\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (out, err, process.returncode) == (b"slept\n", b"", 0)
