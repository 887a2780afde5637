"""Quantities are exact."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallyard import units


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("24Gi", 24 * 2**30),
        ("1.5Ti", 3 * 2**39),
        ("512M", 512_000_000),
        ("0.1k", 100),
        ("1024", 1024),
        ("0", 0),
        ("4Pi", 2**52),
    ],
)
def test_a_quantity_is_read_exactly(text: str, amount: int) -> None:
    assert units.parse_bytes(text) == amount


@pytest.mark.parametrize(
    "text",
    ["", "Gi", "4 Gi", "4gi", "-4Gi", "1e3", "0.3Ki", ".5Gi", "4GiB", "9000Pi", "٤Gi", "4Gi\n"],
)
def test_what_is_no_whole_number_of_bytes_is_refused(text: str) -> None:
    with pytest.raises(units.QuantityError):
        units.parse_bytes(text)


@given(st.integers(0, units.BYTES_MAX))
def test_writing_and_reading_gives_the_amount_back(amount: int) -> None:
    text = units.format_bytes(amount)
    if len(text) <= 15:  # longer plain numbers are no quantities of a spec
        assert units.parse_bytes(text) == amount


def test_the_largest_exact_unit_is_chosen() -> None:
    assert units.format_bytes(24 * 2**30) == "24Gi"
    assert units.format_bytes(1536 * 2**20) == "1536Mi"
    assert units.format_bytes(1000) == "1000"
    assert units.format_bytes(0) == "0"


def test_a_negative_amount_has_no_text() -> None:
    with pytest.raises(ValueError, match="never negative"):
        units.format_bytes(-1)
