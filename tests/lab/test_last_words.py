"""What is told of a program that ended is the line that says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.last_words import last_words

STACK = (
    "\n\ngoroutine 1 [running]:\nmain.run(0xc0001, {0x1, 0x2})\n\t/src/main.go:33 +0x1d\n"
    "created by main.main in goroutine 1\n\t/src/main.go:12 +0x3f\n"
)
SCHEDULER = (
    "E1130 01:47:37.459402    7821 run.go:74] "
    '"command failed" err="failed to create listener: bind: address already in use"\n'
)
ZAP = (
    '{"level":"fatal","msg":"failed to open","error":"write db: no space left on device"}\n'
    '{"level":"info","msg":"closed","error-count":0}\n'
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def test_a_log_that_says_nothing_is_told_so(log: Path) -> None:
    assert last_words(log) == "it left no log"
    log.write_text("\n")
    assert last_words(log) == "its log is empty"


def test_without_a_telling_line_the_end_is_told_in_one(log: Path) -> None:
    log.write_text("one\n" * 1000 + "two\n  three\n")
    assert last_words(log) == "one one two three"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("panic: out of range" + STACK, "panic: out of range"),
        (
            "fatal error: all goroutines are asleep" + STACK,
            "fatal error: all goroutines are asleep",
        ),
        (
            ZAP,
            "failed to open: write db: no space left on device",
        ),
        (
            SCHEDULER + 'I1130 01:47:38.000001    7821 x.go:1] FLAG: --log-error="x"\n',
            '"command failed" err="failed to create listener: bind: address already in use"',
        ),
    ],
)
def test_the_telling_line_goes_before_what_follows_it(log: Path, text: str, told: str) -> None:
    log.write_text("I1130 01:00:00.000000 1 x.go:1] starting\n" + text)
    assert last_words(log) == told
