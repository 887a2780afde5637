"""Amounts are whole and exact; only their text is rounded."""

from __future__ import annotations

import pytest

from tallyard.ledger import amounts


@pytest.mark.parametrize(
    ("rate_milli", "seconds", "said"),
    [
        (12_000, 7200, "24.00"),
        (16_000, 300, "1.33"),
        (30_000, 3600, "30.00"),
        (54_000, 3600, "54.00"),
        (3_000, 3600, "3.00"),
        (1, 1, "0.00"),
        (0, 3600, "0.00"),
    ],
)
def test_a_rate_for_a_time_is_exact_and_said_with_two_decimals(
    rate_milli: int, seconds: int, said: str
) -> None:
    amount = amounts.of_rate(rate_milli, seconds)
    assert amount == rate_milli * seconds
    assert amounts.text(amount) == said


@pytest.mark.parametrize(
    ("amount", "said"),
    [
        (18_000, "0.00"),  # half of a cent, to even
        (18_001, "0.01"),
        (54_000, "0.02"),  # one and a half
        (-54_000, "-0.02"),
        (-17_999, "0.00"),
        (3_600_000_000_000, "1000000.00"),
    ],
)
def test_a_text_is_rounded_half_to_even(amount: int, said: str) -> None:
    assert amounts.text(amount) == said


def test_no_time_is_negative() -> None:
    with pytest.raises(ValueError, match="never negative"):
        amounts.of_rate(1, -1)


def test_a_rate_is_said_by_the_hour() -> None:
    assert amounts.rate_text(12_500) == "12.50"
