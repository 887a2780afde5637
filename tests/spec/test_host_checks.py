"""Hosts: each stands once, in one rack and one block, with cards that its pool lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallyard.spec.hosts import HOSTS_MAX
from tests.spec.specs import LOCAL, changed
from tests.spec.variations import told, values

GROUP = "  - {{hosts: {hosts}, pool: training, model: A100, cards: 8, cpu: 128, memory: 1Ti, block: b0, rack: {rack}}}\n"


def more(*groups: tuple[str, str]) -> str:
    """Return the hosts with more groups of A100 behind them."""
    return LOCAL + "".join(GROUP.format(hosts=hosts, rack=rack) for hosts, rack in groups)


def test_ranges_that_only_touch_are_right(tmp_path: Path) -> None:
    assert told(tmp_path, local=more(('"a100-[02-03]"', "r1"))) == []


def test_numbers_of_another_width_are_other_hosts(tmp_path: Path) -> None:
    assert told(tmp_path, local=more(('"a100-[0-1]"', "r0"))) == []


def test_a_range_over_two_groups_is_told_of_both(tmp_path: Path) -> None:
    """a100-01 is an A100 of the same pool, bi-00 another pool's."""
    local = changed(LOCAL, "bi-00", "a100-02") + GROUP.format(hosts='"a100-[01-02]"', rack="r0")
    found = told(tmp_path, local=local)
    assert found == [("SPEC404", "nodes[3].hosts"), ("SPEC414", "nodes[3].hosts")]


def test_exactly_as_many_hosts_as_a_cluster_may_have(tmp_path: Path) -> None:
    rest = HOSTS_MAX - 4
    local = more((f'"gpu-[0001-{rest}]"', "r9"))
    assert told(tmp_path, local=local) == []
    one_more = local + GROUP.format(hosts="gpu-x", rack="r9")
    assert told(tmp_path, local=one_more) == [("SPEC402", "nodes[4].hosts")]


def test_each_host_beyond_a_clusters_limit_is_not_told_again(tmp_path: Path) -> None:
    local = more((f'"gpu-[0001-{HOSTS_MAX - 4}]"', "r9"), ("x-0", "r9"), ("x-1", "r9"))
    assert told(tmp_path, local=local) == [("SPEC402", "nodes[4].hosts")]


@pytest.mark.parametrize(
    ("hosts", "code", "place"),
    [
        ("a100-00..01", "SPEC403", "nodes[0].hosts"),
        ("A100_00..01", "SPEC403", "nodes[0].hosts"),
        ("a100-[00..01]", "SPEC115", "nodes[0].hosts"),
        ("a100-{00..01}", "SPEC115", "nodes[0].hosts"),
        ("a100-[01-00]", "SPEC401", "nodes[0].hosts"),
        ("a100-00-01", "SPEC405", "nodes[0].rack"),
    ],
)
def test_hosts_whose_name_is_refused_are_counted_nowhere(
    tmp_path: Path, hosts: str, code: str, place: str
) -> None:
    """More cards are granted than one host has, and it has two racks: neither is told."""
    local = changed(LOCAL, "a100-[00-01]", hosts)
    assert told(tmp_path, local=local) == [(code, place)]
    if code != "SPEC401":
        assert values(tmp_path, local=local)["nearest"] == "a100-[00-01]"


def test_one_host_too_few_is_still_told_of_the_cards(tmp_path: Path) -> None:
    """The near miss: a name that hosts have, in one rack."""
    local = changed(changed(LOCAL, '"a100-[00-01]"', "a100-00"), '"r[0-1]"', "r0")
    found = told(tmp_path, local=changed(local, "cards: 8, cpu: 128", "cards: 4, cpu: 128"))
    assert ("SPEC501", "tiers.gold.cards.training.A100") in found


def test_hosts_of_a_borrower_are_told_so_and_not_what_they_lack(tmp_path: Path) -> None:
    local = changed(LOCAL, "pool: training, model: A100, cards: 8,", "pool: elastic,")
    assert told(tmp_path, local=local) == [("SPEC407", "nodes[0].pool")]


def test_links_that_nobody_looked_up_contradict_nobody(tmp_path: Path) -> None:
    known = GROUP.replace("cards: 8", "cards: 8, links: nvswitch")
    local = LOCAL + known.format(hosts="a100-02", rack="r0")
    assert told(tmp_path, local=local) == []
    other = local + known.replace("nvswitch", "pcie").format(hosts="a100-03", rack="r0")
    assert told(tmp_path, local=other) == [("SPEC415", "nodes[4].links")]


def test_links_of_other_pools_may_differ(tmp_path: Path) -> None:
    local = changed(LOCAL, "A100, cards: 8", "A100, cards: 8, links: nvswitch")
    local = changed(local, "BI-V150, cards: 8", "BI-V150, cards: 8, links: pcie")
    assert told(tmp_path, local=local) == []


@pytest.mark.parametrize(("rack", "codes"), [("r0", []), ("r2", ["SPEC416"])])
def test_groups_may_share_a_rack_within_a_block(
    tmp_path: Path, rack: str, codes: list[str]
) -> None:
    """r0 is the training block's own, r2 is of the block b1."""
    found = told(tmp_path, local=more(("a100-02", rack)))
    assert [code for code, _ in found] == codes


def test_a_range_of_racks_is_compared_rack_by_rack(tmp_path: Path) -> None:
    """r1 and r2 are shared out over two hosts: r1 is in b0 as before, r2 was in b1."""
    found = values(tmp_path, local=more(('"a100-[02-03]"', '"r[1-2]"')))
    assert (found["found"], found["block"], found["other"]) == ("r2", "b0", "b1")


def test_a_rack_in_two_blocks_is_told_once_for_a_group(tmp_path: Path) -> None:
    local = changed(
        LOCAL, "block: b1, rack: r2}\n  - {hosts: cpu", "block: b1, rack: r0}\n  - {hosts: cpu"
    )
    assert told(tmp_path, local=local) == [("SPEC416", "nodes[1].rack")]


def test_many_hosts_in_a_range_that_is_refused_take_no_time(tmp_path: Path) -> None:
    """A hundred million hosts: the count is told, and they are not written out."""
    wide = ",".join(["0-999999"] * 100)
    found = told(tmp_path, local=more((f'"h[{wide}]"', '"r[0-1]"')))
    assert found == [("SPEC402", "nodes[3].hosts")]
