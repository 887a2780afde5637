"""Moments and time zones: the same on every machine."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tallyard.spec import moments


@pytest.mark.parametrize(
    ("text", "zone", "end"),
    [
        ("2026-12-31", "UTC", datetime(2027, 1, 1, tzinfo=UTC)),
        ("2026-12-31", "Asia/Shanghai", datetime(2026, 12, 31, 16, tzinfo=UTC)),
        ("2026-12-31T18:00", "Asia/Shanghai", datetime(2026, 12, 31, 10, tzinfo=UTC)),
        ("2026-12-31T18:00+00:00", "Asia/Shanghai", datetime(2026, 12, 31, 18, tzinfo=UTC)),
        ("2026-12-31T18:00:30Z", "Asia/Shanghai", datetime(2026, 12, 31, 18, 0, 30, tzinfo=UTC)),
        # The day on which the clocks go back has 25 hours.
        ("2026-10-25", "Europe/Berlin", datetime(2026, 10, 25, 23, tzinfo=UTC)),
        ("2026-10-24", "Europe/Berlin", datetime(2026, 10, 24, 22, tzinfo=UTC)),
    ],
)
def test_a_day_ends_at_midnight_in_the_platforms_zone(text: str, zone: str, end: datetime) -> None:
    assert moments.end(text, zone) == end


def test_every_zone_can_be_read() -> None:
    assert len(moments.zones()) > 400
    for name in moments.zones():
        assert moments.zone(name).key == name


def test_what_only_a_machine_knows_is_no_zone() -> None:
    assert {"Asia/Shanghai", "UTC"} <= moments.zones()
    assert moments.zones().isdisjoint({"localtime", "posixrules", "Factory", "right/UTC"})


def test_an_end_is_told_as_it_is_written_in_the_spec() -> None:
    """`until: 2026-12-31` holds to the end of that day in the platform's time zone."""
    assert moments.until(datetime(2026, 12, 31, 16, tzinfo=UTC), "Asia/Shanghai") == "2026-12-31"
    half = datetime(2026, 12, 31, 10, tzinfo=UTC)
    assert moments.until(half, "Asia/Shanghai") == "2026-12-31 18:00 (Asia/Shanghai)"
