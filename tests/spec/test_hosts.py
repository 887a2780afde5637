"""Ranges of hosts and their places."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallyard.spec import hosts


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("bi-00", ("bi-00",)),
        ("a-[00-02]", ("a-00", "a-01", "a-02")),
        ("a-[08-10]", ("a-08", "a-09", "a-10")),
        ("a-[8-10].dc", ("a-8.dc", "a-9.dc", "a-10.dc")),
        ("a-[1,4-5]", ("a-1", "a-4", "a-5")),
        ("[7]", ("7",)),
    ],
)
def test_a_range_is_written_out_in_order(pattern: str, names: tuple[str, ...]) -> None:
    assert hosts.expand(pattern) == names
    assert hosts.count(pattern) == len(names)


@pytest.mark.parametrize(
    ("pattern", "code"),
    [
        ("a-[2-1]", "SPEC401"),
        ("a-[0-5000]", "SPEC402"),
        ("a-[", "SPEC115"),
        ("a-[]", "SPEC115"),
        ("a-[1-2-3]", "SPEC115"),
        ("a-[1][2]", "SPEC115"),
        ("a b", "SPEC115"),
        ("a\n", "SPEC115"),
        ("a-[0-9999999]", "SPEC115"),
    ],
)
def test_what_is_no_range_is_refused(pattern: str, code: str) -> None:
    with pytest.raises(hosts.RangeError) as caught:
        hosts.expand(pattern)
    assert caught.value.code == code


def test_a_cluster_of_the_supported_size_is_accepted() -> None:
    assert len(hosts.expand("h-[0001-5000]")) == hosts.HOSTS_MAX


def test_hosts_are_shared_out_in_order() -> None:
    assert hosts.spread(4, "r[0-1]", "b0") == (
        ("b0", "r0"),
        ("b0", "r0"),
        ("b0", "r1"),
        ("b0", "r1"),
    )


@given(st.integers(1, 40), st.integers(1, 12), st.integers(1, 5))
def test_a_rack_lies_in_one_block_and_no_rack_is_empty(count: int, racks: int, blocks: int) -> None:
    if not count >= racks >= blocks:
        return
    places = hosts.spread(count, f"r[1-{racks}]", f"b[1-{blocks}]")
    assert len(places) == count
    assert len({rack for _, rack in places}) == len(set(places)) == racks
    assert len({block for block, _ in places}) == blocks
    by_rack = Counter(rack for _, rack in places)
    assert max(by_rack.values()) - min(by_rack.values()) <= 1
    order = [int(rack[1:]) for _, rack in places]
    assert order == sorted(order)
