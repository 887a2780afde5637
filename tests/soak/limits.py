"""Time and memory that one piece of work in this process may take. Linux only."""

from __future__ import annotations

import ctypes
import gc
import resource
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

_AGAIN_SECONDS = 0.1
_CLEAR = Path("/proc/self/clear_refs")
# What makes the kernel forget the highest figure so far (proc(5)).
_FORGET_PEAK = "5"
_LIBC = ctypes.CDLL(None)


class TooSlow(BaseException):
    """The time is over. No `except Exception` on the way catches it."""


def own_seconds(process: int | str = "self") -> float:
    """Return a clock that stands still while a process waits for a processor.

    So a busy machine does not make anything slow; sleeping and waiting for a file do count.
    Only differences of it mean something.
    """
    waited = int(Path(f"/proc/{process}/schedstat").read_text().split()[1])
    return time.monotonic() - waited / 1e9


@contextmanager
def seconds(limit: float) -> Iterator[None]:
    """Raise `TooSlow` in the body after this time by `own_seconds`; main thread only."""
    end = own_seconds() + limit

    def check(_number: int, _frame: FrameType | None) -> None:
        if own_seconds() >= end:
            raise TooSlow

    before = signal.signal(signal.SIGALRM, check)
    # Again and again: it may have been too early, and somebody may swallow what is raised.
    signal.setitimer(signal.ITIMER_REAL, limit, _AGAIN_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def cap_address_space(limit_bytes: int) -> None:
    """Let allocations beyond this fail in this process, before the machine suffers."""
    resource.setrlimit(resource.RLIMIT_AS, (limit_bytes, limit_bytes))


def spare_what_is_here() -> None:
    """Let collections pass over what this process has imported, which takes most of their time."""
    gc.collect()
    gc.freeze()


def forget_peak() -> None:
    """Give back what is free, and begin to measure the highest memory anew."""
    gc.collect()
    # The allocator keeps freed pages, which the next piece of work would be blamed for.
    _LIBC.malloc_trim(0)
    _CLEAR.write_text(_FORGET_PEAK)


def peak_bytes(process: int | str = "self") -> int:
    """Return the highest resident memory of a process, of this one since `forget_peak`.

    0 of one that has ended.
    """
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    peak = next((line for line in lines if line.startswith("VmHWM:")), "VmHWM: 0")
    return int(peak.split()[1]) * 1024
