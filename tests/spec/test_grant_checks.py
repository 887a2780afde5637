"""Core-hours: grants that last, jobs that can be frozen, and no more than the cards can give.

The small spec's 16 A100 at 30 and 8 BI-V150 at 20 core-hours an hour give 640 an hour; in
730.5 hours of a month at 90% that is 420768.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tallyard import units
from tests.spec.specs import LOCAL, PLATFORM, changed, load_texts
from tests.spec.variations import INFERENCE, told, values, varied, with_override

GOLD = "core-hours: 200000/month, max-time: 24h"
BRONZE = "core-hours: 30000/month, max-time: 8h"


def test_core_hours_for_exactly_a_day_are_enough(tmp_path: Path) -> None:
    """Bronze: 2 A100 at 30 for 24 hours are 1440; a job of 4h30m and its wait stay below 30%."""
    day = changed(PLATFORM, BRONZE, "core-hours: 1440/month, max-time: 4h30m")
    assert told(tmp_path, day) == []
    less = changed(PLATFORM, BRONZE, "core-hours: 1439/month, max-time: 4h30m")
    found = values(tmp_path, less)
    assert (found["value"], found["length"], found["least"]) == ("60", "23h59m", 1440)


def test_the_least_grant_is_a_whole_number(tmp_path: Path) -> None:
    """2 x 30.001 x 24 are 1440.048."""
    fine = varied(
        PLATFORM, ("rate: 30,", "rate: 30.001,"), (BRONZE, "core-hours: 1440/month, max-time: 4h")
    )
    assert values(tmp_path, fine)["least"] == 1441
    enough = changed(fine, "1440/month", "1441/month")
    assert told(tmp_path, enough) == []


def test_a_grant_that_does_not_last_a_day_is_not_told_of_its_largest_job_too(
    tmp_path: Path,
) -> None:
    short = changed(PLATFORM, "200000/month", "2000/month")
    assert told(tmp_path, short) == [("SPEC509", "tiers.gold.core-hours")]


def test_a_grant_counts_by_its_period(tmp_path: Path) -> None:
    """7700 a day are 234376 a month: together with bronze within what the cards give."""
    daily = varied(PLATFORM, (GOLD, "core-hours: 9700/day, max-time: 8h"))
    assert told(tmp_path, daily) == []
    weekly = varied(PLATFORM, (GOLD, "core-hours: 60000/week, max-time: 24h"))
    assert told(tmp_path, weekly) == []
    much = varied(PLATFORM, (GOLD, "core-hours: 100000/week, max-time: 24h"))
    assert told(tmp_path, much) == [("SPEC511", "tiers.gold.core-hours")]


def test_a_job_that_freezes_exactly_the_cap_is_permitted(tmp_path: Path) -> None:
    """12 A100 (8 and 4 borrowed) at 30 for 24h and 5m of wait are 8670: 30% of 28900."""
    exact = changed(PLATFORM, "200000/month", "28900/month")
    assert told(tmp_path, exact) == []
    found = values(tmp_path, changed(PLATFORM, "200000/month", "28899/month"))
    assert (found["cards"], found["total"], found["limit"]) == (12, "8670", "8669.7")


def test_the_wait_is_frozen_as_far_as_it_is_charged(tmp_path: Path) -> None:
    """Without a charge for waiting the same job freezes 8640, 30% of 28800."""
    free = varied(
        PLATFORM,
        ("200000/month", "28800/month"),
        ("accelerators:", "price: {wait: {charged: 0%}}\naccelerators:"),
    )
    assert told(tmp_path, free) == []
    half = changed(free, "0%}", "50%}")
    assert values(tmp_path, half)["total"] == "8655"


@pytest.mark.parametrize(
    ("rate", "wait"), [("30", "5m"), ("7", "17m"), ("29.999", "0s"), ("54", "30s")]
)
def test_the_longest_time_that_is_told_fits_and_a_minute_more_does_not(
    tmp_path: Path, rate: str, wait: str
) -> None:
    platform = varied(
        PLATFORM,
        ("rate: 30,", f"rate: {rate},"),
        ("200000/month", "28000/month"),
        ("max-time: 24h", "max-time: 90d"),
        ("accelerators:", f"price: {{wait: {{up-to: {wait}}}}}\naccelerators:"),
    )
    found = values(tmp_path, platform)
    assert (found["terms"], found["length"]) == ("8 + 4", wait)
    longest = units.parse_duration(str(found["right"]))
    assert told(tmp_path, changed(platform, "90d", f"{longest // 60}m")) == []
    more = changed(platform, "90d", f"{longest // 60 + 1}m")
    assert told(tmp_path, more) == [("SPEC510", "tiers.gold.max-time")]


def test_cards_that_are_not_there_are_taken_off_the_largest_job(tmp_path: Path) -> None:
    """8 own and 4000 borrowed would be more than the 16 there are; half a wait is charged."""
    vast = varied(
        PLATFORM,
        ("{training: 4}", "{training: 4000}"),
        ("max-time: 24h", "max-time: 90d"),
        ("accelerators:", "price: {wait: {charged: 50%}}\naccelerators:"),
    )
    (found,) = (p for p in load_texts(tmp_path, vast).problems if p.code == "SPEC510")
    assert (found.values["terms"], found.values["cards"]) == ("8 + 4000 > 16", 16)
    assert found.values["length"] == "5m x 50%"


def test_a_limit_is_never_shown_as_high_as_what_is_above_it(tmp_path: Path) -> None:
    """12 x 30.001 for 24h05m are 8670.289; the cap of 28900 is 8670."""
    fine = varied(PLATFORM, ("200000/month", "28900/month"), ("rate: 30,", "rate: 30.001,"))
    found = values(tmp_path, fine)
    assert (found["total"], found["limit"]) == ("8670.29", "8670")


def test_a_job_is_not_larger_than_the_hosts(tmp_path: Path) -> None:
    """Borrowing 4000 has no effect beyond the 16 cards there are, and that alone is told."""
    vast = changed(PLATFORM, "{training: 4}", "{training: 4000}")
    assert told(tmp_path, vast) == [("SPEC508", "tiers.gold.borrow.training")]


def test_a_cap_that_is_too_low_for_every_tier_is_told_at_the_cap(tmp_path: Path) -> None:
    low = varied(
        PLATFORM,
        ("defaults:", "freeze: {cap: 1%}\ndefaults:"),
        ("30000/month", "40000/month"),
    )
    assert told(tmp_path, low) == [("SPEC510", "freeze.cap")]


def test_a_pool_that_serves_has_no_largest_job(tmp_path: Path) -> None:
    """Services freeze an hour at a time: 4 BI-V150 for 90 days would be 172800."""
    serving = varied(
        INFERENCE,
        ("training: {A100: 8}, domestic", "domestic"),
        ("borrow: {training: 4}, ", ""),
        ("max-time: 24h", "max-time: 90d"),
    )
    assert told(tmp_path, serving) == []
    assert told(tmp_path, varied(PLATFORM, ("max-time: 24h", "max-time: 90d"))) == [
        ("SPEC510", "tiers.gold.max-time")
    ]


def test_grants_of_exactly_what_the_cards_give_are_right(tmp_path: Path) -> None:
    exact = changed(PLATFORM, "30000/month", "220768/month")
    assert told(tmp_path, exact) == []
    found = values(tmp_path, changed(PLATFORM, "30000/month", "220769/month"))
    assert (found["total"], found["installed"], found["limit"]) == ("420769", "420768", "420768")
    assert found["terms"] == "bronze 220769/month x 1 + gold 200000/month x 1"


def test_core_hours_may_be_overcommitted(tmp_path: Path) -> None:
    """420768 x 1.2 are 504921.6."""
    said = changed(PLATFORM, "tiers:", "overcommit: {core-hours: 1.2}\ntiers:")
    assert told(tmp_path, changed(said, "30000/month", "304921/month")) == []
    found = values(tmp_path, changed(said, "30000/month", "304922/month"))
    assert (found["installed"], found["limit"]) == ("420768", "504921.6")


def test_the_environments_availability_counts(tmp_path: Path) -> None:
    assert told(tmp_path, local=LOCAL + "availability: 50%\n") == []
    found = values(tmp_path, local=LOCAL + "availability: 49%\n")
    assert (found["total"], found["limit"], found["value"]) == ("230000", "229084.8", "49%")


def test_an_overrides_core_hours_count_while_it_holds(tmp_path: Path) -> None:
    much = "{core-hours: 400000/month, until: 2026-12-31, reason: release}"
    found = values(tmp_path, with_override(much))
    assert found["terms"] == "nlp.overrides[0] 400000/month x 1 + bronze 30000/month x 1"
    ended = with_override(much.replace("2026-12-31", "2026-08-31"))
    assert [code for code, _ in told(tmp_path, ended)] == ["SPEC609"]


def test_core_hours_are_not_compared_with_hosts_that_miss_cards(tmp_path: Path) -> None:
    """If hosts were left out, they are why the core-hours do not fit either."""
    both = varied(PLATFORM, ("{A100: 2}", "{A100: 9}"), ("30000/month", "300000/month"))
    assert [code for code, _ in told(tmp_path, both)] == ["SPEC501"]


def test_a_tiers_time_may_be_that_of_a_job_that_names_none(tmp_path: Path) -> None:
    assert told(tmp_path, changed(PLATFORM, "max-time: 8h", "max-time: 4h")) == []
    assert told(tmp_path, changed(PLATFORM, "max-time: 8h", "max-time: 3h59m")) == [
        ("SPEC512", "tiers.bronze.max-time")
    ]


def test_a_usual_time_beyond_every_tier_is_told_once(tmp_path: Path) -> None:
    long = changed(PLATFORM, "defaults:", "freeze: {max-time-default: 25h}\ndefaults:")
    assert told(tmp_path, long) == [("SPEC512", "freeze.max-time-default")]
    assert values(tmp_path, long)["tier"] == "gold"


def test_tiers_that_are_all_too_short_for_the_unwritten_usual_time_are_each_told(
    tmp_path: Path,
) -> None:
    short = varied(PLATFORM, ("max-time: 24h", "max-time: 3h"), ("max-time: 8h", "max-time: 2h"))
    assert told(tmp_path, short) == [
        ("SPEC512", "tiers.gold.max-time"),
        ("SPEC512", "tiers.bronze.max-time"),
    ]


def test_the_fast_lane_ends_before_the_usual_time(tmp_path: Path) -> None:
    lane = "freeze: {fast-lane: {up-to: 4h}}\ndefaults:"
    assert told(tmp_path, changed(PLATFORM, "defaults:", lane)) == [
        ("SPEC513", "freeze.fast-lane.up-to")
    ]
    below = lane.replace("4h", "3h59m")
    assert told(tmp_path, changed(PLATFORM, "defaults:", below)) == []


def test_core_hours_that_an_override_frees_are_not_granted_beyond_its_end(tmp_path: Path) -> None:
    """250000 and gold's 200000 are more than 420768; while nlp has 100000 they are not."""
    more = changed(PLATFORM, "30000/month", "250000/month")
    room = with_override("{core-hours: 100000/month, until: 2026-12-31, reason: room}", more)
    found = values(tmp_path, room)
    assert (found["until"], found["total"], found["limit"]) == ("2026-12-31", "450000", "420768")
    assert found["terms"] == "bronze 250000/month x 1 + gold 200000/month x 1"
    assert told(tmp_path, room) == [("SPEC519", "projects.nlp.overrides[0].core-hours")]
    fits = changed(room, "250000/month", "220768/month")
    assert told(tmp_path, fits) == []


def test_core_hours_may_be_lent_for_as_long_as_they_are_free(tmp_path: Path) -> None:
    room = with_override("{core-hours: 100000/month, until: 2026-12-31, reason: room}")
    own = "overrides: [{core-hours: 300000/month, until: 2026-12-31, reason: r}]"
    lent = changed(room, "{tier: bronze,", f"{{tier: bronze, {own},")
    assert told(tmp_path, lent) == []
    longer = changed(lent, "2026-12-31, reason: r}]", "2027-01-31, reason: r}]")
    assert told(tmp_path, longer) == [("SPEC519", "projects.nlp.overrides[0].core-hours")]


@pytest.mark.parametrize(
    ("override", "code", "key"),
    [
        ("max-time: 90d", "SPEC510", "max-time"),
        ("core-hours: 28899/month", "SPEC510", "core-hours"),
        ("max-time: 1h", "SPEC512", "max-time"),
        ("core-hours: 7679/month", "SPEC509", "core-hours"),
    ],
)
def test_what_no_tier_could_say_is_told_of_an_override_too(
    tmp_path: Path, override: str, code: str, key: str
) -> None:
    """With gold's cards a day takes 7680, and its largest job 30% of 28900."""
    spec = with_override(f"{{{override}, until: 2026-12-31, reason: r}}")
    assert told(tmp_path, spec) == [(code, f"projects.nlp.overrides[0].{key}")]
    ended = spec.replace("2026-12-31", "2026-08-31")
    assert [each for each, _ in told(tmp_path, ended)] == ["SPEC609"]


@pytest.mark.parametrize(
    "override", ["max-time: 166h35m", "core-hours: 28900/month", "max-time: 4h"]
)
def test_an_override_that_a_tier_could_say_is_right(tmp_path: Path, override: str) -> None:
    spec = with_override(f"{{{override}, until: 2026-12-31, reason: r}}")
    assert told(tmp_path, spec) == []


def test_what_the_tier_tells_is_not_told_of_its_projects_override(tmp_path: Path) -> None:
    tier = changed(PLATFORM, "max-time: 24h", "max-time: 80d")
    spec = with_override("{max-time: 90d, until: 2026-12-31, reason: r}", tier)
    assert told(tmp_path, spec) == [("SPEC510", "tiers.gold.max-time")]


def test_a_users_share_is_enough_for_the_tiers_largest_job(tmp_path: Path) -> None:
    """12 A100 for 24h05m take 8670; of 86700 these are exactly 10%."""
    exact = varied(PLATFORM, (GOLD, "core-hours: 86700/month, max-time: 24h, user-share: 10%"))
    assert told(tmp_path, exact) == []
    less = changed(exact, "10%", "9%")
    found = values(tmp_path, less)
    assert (found["total"], found["limit"], found["least"]) == ("8670", "7803", 10)
    assert told(tmp_path, less) == [("SPEC520", "tiers.gold.user-share")]


def test_a_job_beyond_the_cap_is_not_told_of_the_users_share_too(tmp_path: Path) -> None:
    both = varied(PLATFORM, (GOLD, "core-hours: 28899/month, max-time: 24h, user-share: 9%"))
    assert told(tmp_path, both) == [("SPEC510", "tiers.gold.max-time")]


def test_what_a_project_gives_a_single_user_is_its_own_business(tmp_path: Path) -> None:
    own = changed(PLATFORM, "zhao.min: {}", "zhao.min: {share: 1%}")
    assert told(tmp_path, own) == []
