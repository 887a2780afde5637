"""Days, weeks and months where the clocks change and where they do not."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from tallyard.ledger.periods import span
from tallyard.spec.model import Period

SHANGHAI, BERLIN = "Asia/Shanghai", "Europe/Berlin"
HOUR = 3600


def _at(text: str, zone: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp())


@pytest.mark.parametrize(
    ("period", "moment", "zone", "name", "hours"),
    [
        (Period.MONTH, "2026-11-30T23:59:59", SHANGHAI, "2026-11", 720),
        (Period.MONTH, "2026-12-01T00:00:00", SHANGHAI, "2026-12", 744),
        (Period.MONTH, "2028-02-29T12:00:00", SHANGHAI, "2028-02", 696),
        (Period.DAY, "2026-12-31T23:00:00", SHANGHAI, "2026-12-31", 24),
        (Period.WEEK, "2027-01-01T00:00:00", SHANGHAI, "2026-W53", 168),
        # The clocks go forward, and back.
        (Period.DAY, "2026-03-29T12:00:00", BERLIN, "2026-03-29", 23),
        (Period.DAY, "2026-10-25T12:00:00", BERLIN, "2026-10-25", 25),
        (Period.MONTH, "2026-10-25T02:30:00", BERLIN, "2026-10", 745),
    ],
)
def test_a_moment_is_in_one_period(
    period: Period, moment: str, zone: str, name: str, hours: int
) -> None:
    found = span(period, _at(moment, zone), zone)
    assert (found.name, found.ends - found.starts) == (name, hours * HOUR)


@pytest.mark.parametrize("zone", [SHANGHAI, BERLIN, "America/Sao_Paulo", "Pacific/Apia"])
@pytest.mark.parametrize("period", list(Period))
def test_periods_follow_each_other_without_gap_or_overlap(period: Period, zone: str) -> None:
    """Over two years, also where a whole day was left out (Samoa, 2011-12-30)."""
    at = _at("2011-01-01T12:00:00", zone)
    names = set()
    for _ in range(30):
        found = span(period, at, zone)
        assert found.starts <= at < found.ends
        assert span(period, found.ends - 1, zone) == found
        following = span(period, found.ends, zone)
        assert following.starts == found.ends
        assert following.name not in names
        names.add(found.name)
        at = found.ends


def test_the_same_moment_is_in_another_month_elsewhere() -> None:
    at = _at("2026-12-01T03:00:00", SHANGHAI)
    assert span(Period.MONTH, at, BERLIN).name == "2026-11"
