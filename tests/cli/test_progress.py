"""What a person sees while something takes long."""

from __future__ import annotations

import io
import re
import time

import pytest
from rich.console import Console

from tallyard.cli.progress import Live, progress


def test_without_a_terminal_each_end_is_a_line_with_the_time(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with progress() as report:
        report.step("control plane")
        report.done("control plane ready in 3.1 s")
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"\d\d:\d\d:\d\d control plane ready in 3\.1 s\n", err)


def test_a_long_step_is_named_again_by_the_heartbeat(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(heartbeat_seconds=0.05) as report:
        report.step("pulumi up")
        deadline = time.monotonic() + 5
        err = ""
        while "... pulumi up" not in err and time.monotonic() < deadline:
            time.sleep(0.02)
            err += capsys.readouterr().err
    assert "... pulumi up" in err


def test_on_a_terminal_the_time_goes_on_while_a_step_is_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = io.StringIO()
    console = Console(file=text, force_terminal=True, width=60, markup=False, highlight=False)
    now = 100.0
    monkeypatch.setattr("tallyard.cli.progress.time.monotonic", lambda: now)
    with console.status("") as status:
        live = Live(status)
        live.step("pulumi up: 47 objects, 32 s")
        now = 165.0
        live.beat()
        assert "pulumi up: 47 objects, 32 s  1m05s" in str(status.status)


def test_on_a_terminal_what_is_done_stays_and_nothing_is_taken_for_markup() -> None:
    """Pulumi prints `[urn=...]`, and a URL that ends a bracket would be broken markup."""
    text = io.StringIO()
    console = Console(file=text, force_terminal=True, width=40, markup=False, highlight=False)
    with console.status("") as status:
        live = Live(status)
        live.step("[/urn] " + "x" * 100)
        live.done("[red]queues made")
    assert "✓ [red]queues made" in text.getvalue()
    assert "[/urn] xxx" in text.getvalue()
    assert "x" * 40 not in text.getvalue()
