"""Spans of time in tables."""

from __future__ import annotations

from datetime import timedelta

from tallyard.cli.views.durations import short


def test_a_span_is_told_in_at_most_two_units() -> None:
    assert short(timedelta(hours=2, minutes=10, seconds=7)) == "2h10m"


def test_no_span_is_no_text() -> None:
    assert short(None) == ""
