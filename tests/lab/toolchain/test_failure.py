"""The cause of a failed build, as its log tells it."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from lab.toolchain.failure import build_failure, diagnose


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("verifying example.test/tiny@v1.0.0: checksum mismatch", "checksum stands in go.sum"),
        ("missing go.sum entry for module providing package x", "do not agree"),
        ("write x.a: no space left on device", "the disk is full"),
        ("link: signal: killed", "ran out of memory"),
        ("dial tcp: lookup proxy.example.test: no such host", "could not be downloaded"),
        ("open pkg/x: permission denied", "may not be written by this user"),
        ("undefined: thing", "the compiler gave up"),
    ],
)
def test_a_log_tells_its_cause(line: str, why: str) -> None:
    assert why in diagnose(["go: downloading", line], 1).why


def test_a_killed_go_ran_out_of_memory() -> None:
    assert "ran out of memory" in diagnose([], -signal.SIGKILL).why


def test_the_message_has_the_last_lines_the_log_and_the_way_out() -> None:
    lines = [f"line {n}" for n in range(20)] + ["write: no space left on device"]
    text = str(build_failure("Building kwok", lines, 1, Path("/cache/logs/kwok.log")))
    assert text.startswith("Building kwok failed: the disk is full.\n")
    assert "line 19" in text
    assert "line 5\n" not in text
    assert "  log: /cache/logs/kwok.log\n" in text
    assert "Free some space" in text
