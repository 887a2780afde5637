"""What goes with cards: a request for all cards of a host can have it."""

from __future__ import annotations

from pathlib import Path

from tests.spec.specs import LOCAL, PLATFORM, changed
from tests.spec.variations import told, values


def test_a_host_may_give_all_that_it_has_to_its_cards(tmp_path: Path) -> None:
    """8 cards at 8 vCPU are the 64 of the smallest host, at 64Gi its 512Gi."""
    all_of_it = changed(PLATFORM, "{cpu: 4, memory: 4Gi}", "{cpu: 8, memory: 64Gi}")
    assert told(tmp_path, all_of_it) == []


def test_one_vcpu_more_is_told_at_the_host_that_lacks_it(tmp_path: Path) -> None:
    """The A100 hosts have 128, so the default is right for them."""
    assert told(tmp_path, changed(PLATFORM, "{cpu: 4,", "{cpu: 9,")) == [
        ("SPEC417", "nodes[1].cpu")
    ]


def test_a_default_that_no_host_has_is_told_once_at_the_default(tmp_path: Path) -> None:
    """The BI-V150 host lacks most: 8 x 17 of 64."""
    found = values(tmp_path, changed(PLATFORM, "{cpu: 4,", "{cpu: 17,"))
    assert (found["host"], found["wanted"], found["found"]) == ("bi-00", 136, 64)


def test_a_host_too_small_for_default_and_rate_is_told_as_one(tmp_path: Path) -> None:
    priced = changed(PLATFORM, "rate: 30,", "rate: 30, includes: {cpu: 8, memory: 64Gi},")
    small = changed(LOCAL, "cpu: 128", "cpu: 16")
    assert told(tmp_path, priced, small) == [("SPEC417", "nodes[0].cpu")]
    assert told(tmp_path, priced, changed(LOCAL, "cpu: 128", "cpu: 60")) == [
        ("SPEC418", "nodes[0].cpu")
    ]


def test_what_a_rate_includes_may_be_the_whole_host(tmp_path: Path) -> None:
    priced = changed(PLATFORM, "rate: 30,", "rate: 30, includes: {cpu: 16, memory: 128Gi},")
    assert told(tmp_path, priced) == []


def test_a_rate_that_includes_more_than_any_host_has_is_told_once(tmp_path: Path) -> None:
    priced = changed(PLATFORM, "rate: 30,", "rate: 30, includes: {cpu: 8, memory: 256Gi},")
    second = LOCAL + LOCAL.splitlines()[2].replace("[00-01]", "[02-03]") + "\n"
    assert told(tmp_path, priced, second) == [("SPEC418", "accelerators.A100.includes.memory")]


def test_hosts_without_cards_are_not_asked(tmp_path: Path) -> None:
    assert told(tmp_path, local=changed(LOCAL, "memory: 256Gi", "memory: 1Gi")) == []
