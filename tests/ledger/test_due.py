"""What the spec and the time ask of the books."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from tallyard.ledger import periods
from tallyard.ledger.accounts import CLUSTER, Account
from tallyard.ledger.commands import (
    AnyCommand,
    Expire,
    Merge,
    Owe,
    Regrant,
    Rename,
    Repay,
    SetPrice,
)
from tallyard.ledger.due import capacity, due
from tallyard.spec.model import CoreHours, Limits, Period, Platform
from tests.ledger.ledgers import DAY, DECEMBER, NOVEMBER, H, Ledger

JANUARY = DECEMBER + 31 * DAY


def _run(ledger: Ledger, platform: Platform) -> list[AnyCommand]:
    """Do what is due until nothing is, and say what it was."""
    done: list[AnyCommand] = []
    while commands := list(due(platform, ledger.books, ledger.now)):
        for command in commands:
            ledger.done(command)
        done += commands
        assert len(done) < 100
    return done


def _limited(platform: Platform, change: Callable[[Limits], Limits]) -> Platform:
    """Return the platform with other limits for nlp."""
    nlp = platform.projects["nlp"]
    changed = replace(nlp, limits=change(nlp.limits))
    return replace(platform, projects={**platform.projects, "nlp": changed})


def test_the_books_begin_with_prices_and_the_months_grants(
    empty: Ledger, platform: Platform
) -> None:
    _run(empty, platform)
    assert empty.lot("nlp", "2026-11").granted == 600_000 * H
    assert empty.lot("nlp/li.wei", "2026-11").granted == 240_000 * H
    assert empty.lot("vision", "2026-11").expires == DECEMBER
    assert empty.books.rate_at("A100-SXM4-40GB", NOVEMBER) == 30_000
    assert not list(due(platform, empty.books, empty.now + 10 * DAY))


def test_the_clusters_grant_is_what_its_cards_can_give(empty: Ledger, platform: Platform) -> None:
    _run(empty, platform)
    rate = sum(
        n.cards * platform.accelerators[n.model].rate_milli for n in platform.nodes if n.model
    )
    # 730.5 hours, of which nine in ten; thousandths of a core-hour are 3,600 of our units.
    assert empty.lot("cluster").granted == rate * 3600 * 7305 * 9 // 100
    assert empty.lot("cluster").granted >= sum(
        empty.lot(project.id).granted for project in platform.projects.values()
    )


def test_a_long_month_gives_more(platform: Platform) -> None:
    zone = platform.time_zone
    november, december, february = (
        capacity(platform, periods.span(Period.MONTH, at, zone))
        for at in (NOVEMBER, DECEMBER, DECEMBER + 70 * DAY)
    )
    assert november == february
    assert december * 7305 == november * 7440


def test_at_midnight_the_old_month_ends_and_the_new_one_begins(
    empty: Ledger, platform: Platform
) -> None:
    _run(empty, platform)
    empty.freeze("train", 30_000 * H)
    empty.now = DECEMBER
    _run(empty, platform)
    assert empty.lot("nlp", "2026-11").expired == 570_000 * H
    assert empty.available("nlp") == 600_000 * H
    assert empty.available("cluster") == empty.lot("cluster", "2026-12").granted
    empty.settle("train", 10_000 * H)
    assert empty.lot("nlp", "2026-11").expired == 590_000 * H
    assert not list(due(platform, empty.books, empty.now))


def test_a_rollover_keeps_its_part_for_one_more_month(empty: Ledger, platform: Platform) -> None:
    rolling = _limited(platform, lambda limits: replace(limits, rollover=10))
    _run(empty, rolling)
    empty.now = DECEMBER
    _run(empty, rolling)
    assert empty.available("nlp") == 660_000 * H
    assert empty.lot("nlp", "2026-11").expires == JANUARY
    empty.now = JANUARY
    _run(empty, rolling)
    # Of December's a part is kept again, of November's nothing.
    assert empty.available("nlp") == 660_000 * H
    assert empty.lot("nlp", "2026-11").available == 0


def test_a_grant_by_hand_does_not_roll_over(empty: Ledger, platform: Platform) -> None:
    rolling = _limited(platform, lambda limits: replace(limits, rollover=10))
    _run(empty, rolling)
    shares = {"li.wei": 40, "chen.yu": 100}
    empty.grant("nlp", 100 * H, shares, grant="release", ends=NOVEMBER + DAY)
    empty.now = NOVEMBER + DAY
    (ended,) = _run(empty, rolling)
    assert isinstance(ended, Expire)
    assert empty.lot("nlp", "release").expired == 100 * H


def test_a_ledger_that_slept_for_months_keeps_nothing_of_the_first(
    empty: Ledger, platform: Platform
) -> None:
    rolling = _limited(platform, lambda limits: replace(limits, rollover=10))
    _run(empty, rolling)
    empty.now = JANUARY + 40 * DAY
    _run(empty, rolling)
    assert empty.available("nlp") == 600_000 * H


def test_another_tier_changes_the_rest_of_the_month(empty: Ledger, platform: Platform) -> None:
    _run(empty, platform)
    empty.now = NOVEMBER + 15 * DAY
    half = _limited(
        platform,
        lambda limits: replace(limits, core_hours=replace(limits.core_hours, amount=300_000)),
    )
    (changed,) = _run(empty, half)
    assert isinstance(changed, Regrant)
    assert empty.available("nlp") == 450_000 * H


def test_a_user_who_leaves_the_spec_and_one_who_joins(empty: Ledger, platform: Platform) -> None:
    _run(empty, platform)
    nlp = platform.projects["nlp"]
    joined = replace(nlp.users[0], name="zhao.min", share=50)
    changed = replace(nlp, users=(joined,))
    _run(empty, replace(platform, projects={**platform.projects, "nlp": changed}))
    assert empty.available("nlp/zhao.min") == 300_000 * H
    assert empty.available("nlp/li.wei") == 0


def test_a_rename_is_told_once(empty: Ledger, platform: Platform) -> None:
    _run(empty, platform)
    renamed = replace(platform.projects["nlp"], key="language")
    (told,) = _run(empty, replace(platform, projects={**platform.projects, "nlp": renamed}))
    assert isinstance(told, Rename)
    assert empty.books.projects["nlp"].name == "language"


def test_another_price_holds_from_now_and_one_set_for_later_stays(
    empty: Ledger, platform: Platform
) -> None:
    _run(empty, platform)
    empty.now = NOVEMBER + DAY
    card = replace(platform.accelerators["RTX-4090"], rate_milli=13_000)
    dearer = replace(platform, accelerators={**platform.accelerators, "RTX-4090": card})
    _run(empty, dearer)
    rates = [empty.books.rate_at("RTX-4090", at) for at in (NOVEMBER, NOVEMBER + DAY)]
    assert rates == [12_000, 13_000]
    later = SetPrice(key="x", model="RTX-4090", rate_milli=20_000, since=NOVEMBER + 5 * DAY)
    empty.done(later)
    assert not list(due(dearer, empty.books, empty.now))


def test_a_debt_is_repaid_from_the_next_grant(empty: Ledger, platform: Platform) -> None:
    _run(empty, platform)
    empty.freeze("all", empty.available("nlp/li.wei"), is_fast_lane=True)
    empty.settle("all", empty.lot("nlp/li.wei").frozen)
    empty.done(Owe(key="o", project="nlp", user="li.wei", amount=700 * H, debt_max=1000 * H))
    assert not list(due(platform, empty.books, empty.now))
    empty.now = DECEMBER
    (repaid,) = [c for c in _run(empty, platform) if isinstance(c, Repay)]
    assert repaid.amount == 700 * H
    assert empty.books.debt(Account("nlp")) == empty.books.debt(CLUSTER) == 0


def test_a_merged_project_gets_nothing_new(empty: Ledger, platform: Platform) -> None:
    _run(empty, platform)
    empty.done(Merge(key="m", source="nlp", target="vision"))
    empty.now = DECEMBER
    _run(empty, platform)
    assert empty.available("nlp") == 0
    assert empty.available("vision") == 30_000 * H


@pytest.mark.parametrize(
    ("before", "after", "hours"),
    [
        ("2026-03-29T00:00:00", "2026-03-30T00:00:00", 23),
        ("2026-10-25T00:00:00", "2026-10-26T00:00:00", 25),
    ],
)
def test_a_day_on_which_the_clocks_change_is_granted_once(
    empty: Ledger, platform: Platform, before: str, after: str, hours: int
) -> None:
    """Every half hour of that day is looked at, the double one twice."""
    zone = "Europe/Berlin"
    daily = _limited(
        replace(platform, time_zone=zone),
        lambda limits: replace(
            limits, core_hours=replace(limits.core_hours, amount=1000, period=Period.DAY)
        ),
    )
    begin, end = (
        int(datetime.fromisoformat(t).replace(tzinfo=ZoneInfo(zone)).timestamp())
        for t in (before, after)
    )
    assert end - begin == hours * 3600
    for at in range(begin, end, 1800):
        empty.now = at
        _run(empty, daily)
        assert empty.available("nlp") == 1000 * H
    empty.now = end
    _run(empty, daily)
    assert empty.available("nlp") == 1000 * H
    assert empty.lot("nlp", before[:10]).expired == 1000 * H


def _of(platform: Platform, amount: int, period: Period) -> Platform:
    return _limited(platform, lambda limits: replace(limits, core_hours=CoreHours(amount, period)))


def test_another_period_begins_when_the_old_one_ends(empty: Ledger, platform: Platform) -> None:
    _run(empty, platform)
    empty.now = NOVEMBER + 15 * DAY
    weekly = _of(platform, 140_000, Period.WEEK)
    assert _run(empty, weekly) == []
    assert empty.available("nlp") == 600_000 * H
    assert _run(empty, platform) == []
    empty.now = DECEMBER
    _run(empty, weekly)
    assert empty.available("nlp") == 140_000 * H
    # And back, within that week: the month waits for the week's end.
    assert _run(empty, platform) == []
    empty.now = DECEMBER + 7 * DAY
    _run(empty, platform)
    assert empty.available("nlp") == 600_000 * H


def test_shares_change_in_the_period_that_goes_on(empty: Ledger, platform: Platform) -> None:
    _run(empty, platform)
    weekly = _of(platform, 140_000, Period.WEEK)
    nlp = weekly.projects["nlp"]
    alone = replace(nlp, users=(replace(nlp.users[0], share=10),))
    _run(empty, replace(weekly, projects={**weekly.projects, "nlp": alone}))
    assert empty.available("nlp/li.wei") == 60_000 * H
    assert empty.available("nlp") == 600_000 * H


def test_a_lower_tier_takes_what_was_in_use_when_it_comes_back(
    empty: Ledger, platform: Platform
) -> None:
    _run(empty, platform)
    everything = empty.available("nlp/chen.yu")
    empty.freeze("all", everything, user="chen.yu", is_fast_lane=True)
    _run(empty, _of(platform, 60_000, Period.MONTH))
    empty.settle("all", 0)
    _run(empty, _of(platform, 60_000, Period.MONTH))
    assert empty.available("nlp") == 60_000 * H
    assert empty.available("nlp/chen.yu") == 60_000 * H


def test_a_clock_that_ticks_or_goes_back_while_it_is_done_does_no_harm(
    empty: Ledger, platform: Platform
) -> None:
    _run(empty, platform)
    card = replace(platform.accelerators["RTX-4090"], rate_milli=13_000)
    dearer = replace(platform, accelerators={**platform.accelerators, "RTX-4090": card})
    for command in list(due(dearer, empty.books, empty.now)):
        empty.now += 1
        empty.done(command)
    assert empty.books.rate_at("RTX-4090", empty.now) == 13_000
    assert empty.books.rate_at("RTX-4090", NOVEMBER) == 12_000
    empty.now -= 3600
    assert _run(empty, dearer) == []


def test_who_has_left_does_not_hold_the_project_by_a_debt(
    empty: Ledger, platform: Platform
) -> None:
    _run(empty, platform)
    empty.done(Owe(key="o", project="nlp", user="li.wei", amount=7 * H, debt_max=1000 * H))
    nlp = platform.projects["nlp"]
    without = replace(nlp, users=tuple(user for user in nlp.users if user.name != "li.wei"))
    left = replace(platform, projects={**platform.projects, "nlp": without})
    _run(empty, left)
    assert empty.books.debt(Account("nlp")) == 0
