"""Times as a person reads them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tallyard.cli.views.durations import short


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        *((0, "0s"), (59.9, "59s"), (60, "1m00s"), (185, "3m05s"), (3600, "1h00m")),
        *((7800, "2h10m"), (86_400, "1d00h"), (277_200, "3d05h"), (-5, "0s")),
    ],
)
def test_a_span_has_at_most_two_units(seconds: float, text: str) -> None:
    assert short(timedelta(seconds=seconds)) == text


def test_no_span_is_no_text() -> None:
    assert short(None) == ""
