"""Spans of time in tables, where one may be unknown. Pure."""

from __future__ import annotations

from datetime import timedelta

from tallyard import units


def short(span: timedelta | None) -> str:
    """Return a span in at most two units (`units.duration`); empty for None."""
    return "" if span is None else units.duration(span.total_seconds())
