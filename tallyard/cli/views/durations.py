"""Times as a person reads them. Pure."""

from __future__ import annotations

from datetime import timedelta

_MINUTE = 60
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR


def short(span: timedelta | None) -> str:
    """Return a span in at most two units: `7s`, `3m05s`, `2h10m`, `3d04h`; empty for None."""
    if span is None:
        return ""
    seconds = max(0, int(span.total_seconds()))
    if seconds < _MINUTE:
        return f"{seconds}s"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE}m{seconds % _MINUTE:02}s"
    if seconds < _DAY:
        return f"{seconds // _HOUR}h{seconds % _HOUR // _MINUTE:02}m"
    return f"{seconds // _DAY}d{seconds % _DAY // _HOUR:02}h"
