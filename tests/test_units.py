"""Quantities are exact, and times are short."""

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


@pytest.mark.parametrize(
    ("text", "millis"),
    [
        *(("2", 2000), ("500m", 500), ("1.5", 1500), ("1k", 1_000_000), ("0", 0)),
        *(("100u", 1), ("1500000n", 2), ("1e2", 100_000), ("2.", 2000)),
    ],
)
def test_cpu_is_read_in_thousandths_as_the_api_server_counts_it(text: str, millis: int) -> None:
    assert units.parse_cpu(text) == millis


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        *(("8", 8), ("1k", 1000), ("1e1", 10), ("8000m", 8), ("0", 0), ("4Gi", 4 * 2**30)),
        # The API server takes these for memory, and counts them so.
        *(("0.5", 1), ("1500m", 2)),
    ],
)
def test_all_but_cpu_is_counted_in_whole_ones(text: str, amount: int) -> None:
    assert units.parse_amount("memory", text) == amount


def test_cpu_is_told_from_the_rest_by_its_name() -> None:
    assert units.parse_amount("cpu", "1.5") == 1500


@pytest.mark.parametrize("text", ["", "-1", "many", "8 ", "1e999"])
def test_no_other_text_is_an_amount(text: str) -> None:
    with pytest.raises(units.QuantityError):
        units.parse_amount("memory", text)


@pytest.mark.parametrize(
    ("millis", "quantity", "said"),
    [(2000, "2", "2"), (1500, "1500m", "1.5"), (20, "20m", "0.02"), (100_000, "100", "100")],
)
def test_cpu_is_written_for_kubernetes_and_for_people(
    millis: int, quantity: str, said: str
) -> None:
    assert (units.format_cpu(millis), units.vcpu(millis)) == (quantity, said)


@given(st.integers(0, 10**9))
def test_cpu_that_is_written_reads_back(millis: int) -> None:
    assert units.parse_cpu(units.format_cpu(millis)) == millis
    assert units.parse_cpu(units.vcpu(millis)) == millis


@given(st.integers(0, 10**9))
def test_a_rate_that_is_written_reads_back(millis: int) -> None:
    assert units.parse_thousandths(units.thousandths(millis)) == millis


@pytest.mark.parametrize("text", ["", "1.", ".5", "1.5555", "-1", "1e3", "1,5", "\u0661"])
def test_what_is_no_number_of_at_most_three_decimals_is_no_rate(text: str) -> None:
    with pytest.raises(units.QuantityError):
        units.parse_thousandths(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        *((0, "0s"), (59.9, "59s"), (60, "1m00s"), (185, "3m05s"), (370, "6m10s")),
        *((3600, "1h00m"), (3900, "1h05m"), (86_400, "1d00h"), (277_200, "3d05h"), (-5, "0s")),
    ],
)
def test_a_time_has_at_most_two_units(seconds: float, text: str) -> None:
    assert units.duration(seconds) == text
