"""What a pod costs, and for how long."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tallyard.ledger import amounts, pricing
from tallyard.ledger.pricing import Ask
from tallyard.spec.model import Platform, Uneven

GIB = 2**30
NOON = 1793505600
# The cards of the shipped spec by rate: the users' own numbers.
CARD, A100, A800 = "RTX-4090", "A100-SXM4-40GB", "A800-SXM4-80GB"


def _rate(platform: Platform, ask: Ask) -> int:
    card = platform.accelerators[ask.model].rate_milli if ask.model else 0
    return pricing.rate(platform, ask, card)


@pytest.mark.parametrize(
    ("ask", "rate_milli"),
    [
        (Ask(4000, 4 * GIB, CARD, 1), 12_000),
        (Ask(8000, 8 * GIB, CARD, 1), 16_000),
        # The larger of what is beyond; what is included and not asked is not given back.
        (Ask(1000, 10 * GIB, CARD, 1), 18_000),
        (Ask(8000, 64 * GIB, A100, 1), 30_000),
        (Ask(8000, 128 * GIB, A800, 1), 54_000),
        (Ask(64_000, 512 * GIB, A100, 8), 240_000),
        # Slices of a card that is cut into four, with their share of what it includes.
        (Ask(1000, GIB, CARD, 1, 4), 3_000),
        (Ask(4000, 4 * GIB, CARD, 4, 4), 12_000),
        (Ask(2000, GIB, CARD, 1, 4), 4_000),
        # Work without cards.
        (Ask(2000, 3 * GIB), 3_000),
        (Ask(500, 0), 500),
        (Ask(0, 0), 0),
    ],
)
def test_a_pod_pays_its_cards_and_what_is_beyond_them(
    platform: Platform, ask: Ask, rate_milli: int
) -> None:
    assert _rate(platform, ask) == rate_milli


def test_four_slices_of_a_card_cost_the_card(platform: Platform) -> None:
    one = _rate(platform, Ask(1000, GIB, CARD, 1, 4))
    assert amounts.text(amounts.of_rate(one, 3600)) == "3.00"
    assert amounts.text(amounts.of_rate(4 * one, 3600)) == "12.00"


def test_a_rate_is_rounded_once_half_to_even(platform: Platform) -> None:
    """A card includes 4 vCPU, its third 1 1/3: of 2.5 vCPU 1 1/6 are beyond, of 2 vCPU 2/3."""
    assert _rate(platform, Ask(2500, 0, CARD, 1, 3)) == 4000 + 1167
    assert _rate(platform, Ask(2000, 0, CARD, 1, 3)) == 4000 + 667
    mean = replace(platform, price=replace(platform.price, uneven=Uneven.MEAN))
    # Half a thousandth goes to the even one.
    assert [_rate(mean, Ask(cpu, 0)) for cpu in (1, 3, 5)] == [0, 2, 2]
    # 0.5 and 62.5 are 63; each rounded by itself, they would be 62.
    assert _rate(mean, Ask(1, GIB // 8)) == 63
    assert _rate(platform, Ask(0, GIB // 2000)) == 0


def test_the_mean_is_another_rule_of_the_spec(platform: Platform) -> None:
    price = replace(platform.price, uneven=Uneven.MEAN)
    mean = replace(platform, price=price)
    assert _rate(mean, Ask(2000, 4 * GIB)) == 3_000


def test_the_wait_costs_a_part_of_the_rate(platform: Platform) -> None:
    price = platform.price
    assert pricing.wait_rate(price, 16_000) == 16_000
    assert pricing.wait_rate(replace(price, wait_charged=50), 16_001) == 8_000
    wait = amounts.of_rate(pricing.wait_rate(price, 16_000), 300)
    assert amounts.text(wait) == "1.33"


@pytest.mark.parametrize(
    ("intervals", "seconds"),
    [
        ([], 0),
        ([(NOON, NOON + 3600)], 3600),
        # The clock went back an hour while the pod ran, or forward a day before it was set right.
        ([(NOON, NOON - 3600)], 0),
        ([(NOON, NOON - 3600), (NOON, NOON + 60)], 60),
        # Seen twice, seen in parts, in any order: no second counts double.
        ([(NOON, NOON + 3600)] * 2, 3600),
        ([(NOON + 1800, NOON + 5400), (NOON, NOON + 3600)], 5400),
        ([(NOON, NOON + 7200), (NOON + 600, NOON + 1200)], 7200),
        ([(NOON, NOON + 60), (NOON + 120, NOON + 180)], 120),
    ],
)
def test_each_second_counts_once_and_none_is_negative(
    intervals: list[tuple[int, int]], seconds: int
) -> None:
    assert pricing.seconds_of(intervals) == seconds


def test_use_is_the_rate_for_the_seconds() -> None:
    assert pricing.used(12_000, [(NOON, NOON + 7200)]) == 24 * amounts.CORE_HOUR
