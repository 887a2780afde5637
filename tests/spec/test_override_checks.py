"""Overrides: until when they hold, what they may change, and that nothing is said twice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.spec.specs import NOW, PLATFORM, changed, load_texts
from tests.spec.variations import loaded, told, values, varied, with_override

LONGER = "{max-time: 48h, until: 2026-12-31, reason: release}"
SHANGHAI = changed(PLATFORM, "accelerators:", "time-zone: Asia/Shanghai\naccelerators:")
# The last day of 2026 ends in Shanghai eight hours before it ends in UTC.
END = datetime(2026, 12, 31, 16, tzinfo=UTC)


def hours(folder: Path, platform: str, now: datetime) -> int:
    """Return the longest time limit of the project nlp at a moment, in hours."""
    found = load_texts(folder, platform, now=now).platform
    assert found is not None
    return found.projects["nlp"].limits.max_time_seconds // 3600


def test_an_override_holds_to_the_last_second_of_its_day_in_the_platforms_time_zone(
    tmp_path: Path,
) -> None:
    spec = with_override(LONGER, SHANGHAI)
    assert hours(tmp_path, spec, END - timedelta(seconds=1)) == 48
    assert told(tmp_path, spec, now=END - timedelta(seconds=1)) == []


def test_an_override_that_ends_this_second_has_ended(tmp_path: Path) -> None:
    spec = with_override(LONGER, SHANGHAI)
    assert hours(tmp_path, spec, END) == 24
    assert told(tmp_path, spec, now=END) == [("SPEC609", "projects.nlp.overrides[0].until")]


def test_a_moment_with_an_offset_is_that_moment_whatever_the_zone(tmp_path: Path) -> None:
    until = LONGER.replace("2026-12-31", "2026-12-31T18:00+02:00")
    spec = with_override(until, SHANGHAI)
    assert hours(tmp_path, spec, END - timedelta(seconds=1)) == 48
    assert hours(tmp_path, spec, END) == 24


def test_an_override_of_a_year_is_an_exception_still(tmp_path: Path) -> None:
    """366 days after noon of the first of September."""
    year = with_override(LONGER.replace("2026-12-31", "2027-09-02T12:00"))
    assert told(tmp_path, year) == []
    more = with_override(LONGER.replace("2026-12-31", "2027-09-02T12:01"))
    assert told(tmp_path, more) == [("SPEC612", "projects.nlp.overrides[0].until")]


def test_of_an_override_that_has_ended_only_that_is_told(tmp_path: Path) -> None:
    """Its pool is not granted any more, its numbers are the tier's: nobody needs to care."""
    stale = with_override(
        "{cards: {domestic: {BI-V150: 4}}, borrow: {training: 4}, max-time: 24h, "
        "until: 2026-08-31, reason: past}",
        varied(
            PLATFORM, ("{training: {A100: 8}, domestic: {BI-V150: 4}}", "{training: {A100: 8}}")
        ),
    )
    assert told(tmp_path, stale) == [("SPEC609", "projects.nlp.overrides[0].until")]


def test_what_follows_one_another_does_not_contradict(tmp_path: Path) -> None:
    """The first has ended, so the second alone counts."""
    two = with_override(
        "{max-time: 72h, until: 2026-08-31, reason: past}, " + LONGER,
    )
    assert told(tmp_path, two) == [("SPEC609", "projects.nlp.overrides[0].until")]
    assert hours(tmp_path, two, NOW) == 48


def test_two_overrides_of_different_things_add_up(tmp_path: Path) -> None:
    two = with_override(
        LONGER + ", {cards: {training: {A100: 12}}, core-hours: 250000/month, "
        "until: 2026-10-31, reason: demo}"
    )
    limits = loaded(tmp_path, two).projects["nlp"].limits
    assert limits.max_time_seconds == 48 * 3600
    assert limits.cards["training"]["A100"] == 12
    assert limits.cards["domestic"]["BI-V150"] == 4
    assert limits.core_hours.amount == 250000


def test_two_overrides_of_one_thing_are_refused_at_the_second(tmp_path: Path) -> None:
    two = with_override(LONGER + ", {max-time: 72h, until: 2026-10-31, reason: demo}")
    assert values(tmp_path, two)["other"] == "2026-12-31"
    assert told(tmp_path, two) == [("SPEC610", "projects.nlp.overrides[1].max-time")]


@pytest.mark.parametrize(
    ("override", "place"),
    [
        ("max-time: 1d", "max-time"),
        ("core-hours: 200000/month", "core-hours"),
        ("cards: {training: {A100: 8}}", "cards.training.A100"),
        ("borrow: {training: 4}", "borrow.training"),
        ("borrow: {domestic: 0}", "borrow.domestic"),
    ],
)
def test_what_the_tier_says_already_is_told(tmp_path: Path, override: str, place: str) -> None:
    spec = with_override(f"{{{override}, until: 2026-12-31, reason: nothing}}")
    assert told(tmp_path, spec) == [("SPEC615", f"projects.nlp.overrides[0].{place}")]


def test_core_hours_of_another_period_are_another_grant(tmp_path: Path) -> None:
    spec = with_override("{core-hours: 50000/week, until: 2026-12-31, reason: release}")
    assert told(tmp_path, spec) == []


def test_a_pool_that_is_not_granted_is_told_once(tmp_path: Path) -> None:
    pool = "{cards: {domestic: {BI-V150: 4}}, borrow: {domestic: 2}, until: 2026-12-31, reason: r}"
    spec = with_override(
        pool,
        varied(
            PLATFORM, ("{training: {A100: 8}, domestic: {BI-V150: 4}}", "{training: {A100: 8}}")
        ),
    )
    assert told(tmp_path, spec) == [("SPEC613", "projects.nlp.overrides[0].cards.domestic")]


def test_a_model_that_the_pool_does_not_have_is_told_as_that(tmp_path: Path) -> None:
    spec = with_override("{cards: {training: {BI-V150: 4}}, until: 2026-12-31, reason: r}")
    assert told(tmp_path, spec) == [("SPEC503", "projects.nlp.overrides[0].cards.training.BI-V150")]


def test_an_unknown_pool_in_an_override_is_told_once(tmp_path: Path) -> None:
    spec = with_override("{borrow: {trainig: 5}, until: 2026-12-31, reason: r}")
    assert told(tmp_path, spec) == [("SPEC202", "projects.nlp.overrides[0].borrow.trainig")]


def test_nothing_is_told_of_a_tier_that_is_not_known(tmp_path: Path) -> None:
    spec = with_override(LONGER, changed(PLATFORM, "tier: gold", "tier: golden"))
    assert [code for code, _ in told(tmp_path, spec)] == ["SPEC203"]


def test_who_pays_for_service_accounts_is_of_the_project(tmp_path: Path) -> None:
    own = changed(PLATFORM, "tier: bronze,", "tier: bronze, default-user: zhao.min,")
    assert loaded(tmp_path, own).projects["vision"].default_user == "zhao.min"
    other = changed(PLATFORM, "tier: bronze,", "tier: bronze, default-user: li.wei,")
    assert told(tmp_path, other) == [("SPEC608", "projects.vision.default-user")]


def test_no_override_has_ended_where_the_time_zone_is_mistyped(tmp_path: Path) -> None:
    """UTC stands in for it, and by that an end may have passed or not."""
    over = with_override("{max-time: 48h, until: 2026-08-31, reason: past}", PLATFORM)
    zone = changed(over, "accelerators:", "time-zone: Asia/Shanghay\naccelerators:")
    assert [path for _, path in told(tmp_path, zone)] == ["time-zone"]
