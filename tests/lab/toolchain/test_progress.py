"""What a person sees while the toolchain is built."""

from __future__ import annotations

import io
import re
import time

import pytest
from rich.console import Console

from lab.toolchain.progress import (
    LineReport,
    LiveReport,
    plan_of,
    report_to,
    status,
)

PLAN = plan_of([("etcd", 60), ("kwok", 120), ("kueue", 180)])


def test_the_first_estimate_is_the_measured_sum() -> None:
    assert PLAN.remaining_seconds(0) == 360
    assert PLAN.remaining_seconds(20) == 340


def test_a_faster_machine_shortens_the_rest() -> None:
    assert PLAN.finished(30).remaining_seconds(0) == 150


def test_a_step_that_takes_longer_never_counts_below_nothing() -> None:
    assert PLAN.remaining_seconds(1000) == 300


def test_nothing_remains_at_the_end() -> None:
    assert PLAN.finished(1).finished(2).finished(3).remaining_seconds(5) == 0


def test_the_status_names_which_of_how_many_elapsed_and_left() -> None:
    text = status(PLAN.finished(60), 30, "linking")
    assert text == "building kwok (2 of 3), 30s, about 4m30s left: linking"


def test_without_a_terminal_lines_and_a_heartbeat_are_printed() -> None:
    stream = io.StringIO()
    report = LineReport(stream, heartbeat_seconds=0.05)
    with report.step(PLAN) as note:
        note("k8s.io/api")
        time.sleep(0.3)
    lines = stream.getvalue().splitlines()
    assert all(re.match(r"\d\d:\d\d:\d\d ", line) for line in lines)
    assert lines[0].endswith("building etcd (1 of 3), 0s, about 6m00s left")
    assert any(line.endswith("left: k8s.io/api") for line in lines[1:-1])
    assert lines[-1].endswith("built etcd in 0s")
    assert isinstance(report_to(stream), LineReport)


def test_a_failing_step_is_not_called_built() -> None:
    stream = io.StringIO()
    with pytest.raises(ZeroDivisionError), LineReport(stream).step(PLAN):
        raise ZeroDivisionError
    assert "built" not in stream.getvalue()


def test_on_a_terminal_one_line_changes_in_place() -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=60)
    with LiveReport(console).step(PLAN) as note:
        note("a/very/long/package/name/that/does/not/fit/on/the/line/of/a/terminal")
        time.sleep(0.3)
    shown = stream.getvalue()
    assert "building etcd (1 of 3)" in shown
    assert "\x1b[2K" in shown  # the line was erased
    assert shown.rstrip().endswith("built etcd in 0s")
