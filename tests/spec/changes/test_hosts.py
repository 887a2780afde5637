"""Hosts that come, go, move or become others."""

from __future__ import annotations

import pytest

from tallyard.spec.changes.hosts import Move, ranges
from tallyard.spec.changes.whole import changes
from tallyard.spec.hosts import expand
from tests.spec.changes.conftest import NOW, PROMISED, Load, facts_of


def test_hosts_are_told_by_what_happens_to_them(loaded: Load) -> None:
    after = loaded(
        local=(
            ("a100-[00-01]", "a100-[01-03]"),
            ("memory: 1Ti, block: b0", "memory: 2Ti, block: b0"),
        )
    )
    (hosts,) = changes(loaded(), after, NOW).hosts
    assert (hosts.pool, hosts.model) == ("training", "A100")
    assert (hosts.hosts_before, hosts.hosts_after) == (2, 3)
    assert (hosts.cards_before, hosts.cards_after) == (16, 24)
    assert (hosts.joined, hosts.left) == (("a100-02", "a100-03"), ("a100-00",))
    (altered,) = hosts.altered
    assert altered.hosts == ("a100-01",)
    assert facts_of(altered.changes) == {
        "memory": (2**40, 2**41, 2**40),
        "rack": ("r1", "r0", None),
    }


def test_hosts_that_stand_in_another_pool_are_moved(loaded: Load) -> None:
    rest = '"a100-00", pool: training'
    moved = (
        "nodes:\n  - {hosts: a100-01, pool: domestic, model: BI-V150, cards: 8, cpu: 128, "
        "memory: 1Ti, block: b0, rack: r0}"
    )
    local = (('"a100-[00-01]", pool: training', rest), ('"r[0-1]"', "r0"), ("nodes:", moved))
    found = changes(loaded(PROMISED), loaded(PROMISED, local=local), NOW)
    assert found.moves == (Move(("a100-01",), "training", "domestic", "A100", "BI-V150"),)
    assert {each.pool: (each.joined, each.left) for each in found.hosts} == {
        "training": ((), ("a100-01",)),
        "domestic": (("a100-01",), ()),
    }


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (("a-00", "a-01", "a-02", "a-07"), ("a-[00-02,07]",)),
        (("a-9", "a-10", "a-11"), ("a-9", "a-[10-11]")),
        (("r1.x", "r2.x", "gw"), ("r[1-2].x", "gw")),
        (("b-02", "b-01"), ("b-[01-02]",)),
        ((), ()),
    ],
)
def test_hosts_are_named_in_ranges_that_the_spec_reads(
    names: tuple[str, ...], shown: tuple[str, ...]
) -> None:
    assert ranges(names) == shown
    assert sorted(name for each in shown for name in expand(each)) == sorted(names)
