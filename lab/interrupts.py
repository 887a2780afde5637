"""Ctrl-C while the lab works: it is heard at a terminal, and a second one is in a hurry."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def heard_at_terminal() -> Iterator[None]:
    """Let Ctrl-C end what runs in here, if a person at the terminal can mean it.

    A shell without job control lets `make up &` ignore it, and whatever is started below inherits
    that: under `script`, tmux or a CI's terminal the one program in front of a person would be
    deaf to them. Without a terminal of its own in front, what is ignored stays ignored.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN or not _is_in_front():
        yield
        return
    signal.signal(signal.SIGINT, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def next_one(action: Callable[[], None]) -> Iterator[None]:
    """Do this at each Ctrl-C in here. Only for whoever was just interrupted, in the main thread."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: action())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _end(_number: int, _frame: FrameType | None) -> None:
    # A second one would break off the clean-up. Not SIG_IGN, which what is started would inherit.
    signal.signal(signal.SIGINT, lambda *_: None)
    raise KeyboardInterrupt


def _is_in_front() -> bool:
    try:
        return os.tcgetpgrp(sys.__stderr__.fileno()) == os.getpgrp()  # type: ignore[union-attr]
    except (AttributeError, OSError, ValueError):
        return False
