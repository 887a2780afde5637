"""Pools and accelerators: what a pool may say about the cards that it has or borrows."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tallyard import labels
from tallyard.ledger import pricing
from tallyard.ledger.pricing import Ask
from tallyard.render.flavors import CardFlavor, all_flavors, flavor_manifests
from tallyard.spec.model import Platform
from tallyard.units import parse_thousandths, thousandths
from tests.spec.specs import LOCAL, PLATFORM, changed, load_texts
from tests.spec.variations import INFERENCE, loaded, told, values, varied

SLICED = varied(
    PLATFORM,
    ("[A100], priority", "[A100], sharing: {time-slicing: 4}, priority"),
    ("borrows-from: training", "borrows-from: domestic"),
)


def test_a_sliced_pool_keeps_its_number_of_slices(tmp_path: Path) -> None:
    pools = loaded(tmp_path, SLICED).pools
    assert (pools["training"].slices, pools["domestic"].slices) == (4, 1)


def test_a_borrowing_pool_may_name_one_of_its_lenders_models_as_usual(tmp_path: Path) -> None:
    usual = changed(PLATFORM, "cpu: true,", "cpu: true, default-model: A100,")
    assert loaded(tmp_path, usual).pools["elastic"].default_model == "A100"


def test_a_default_model_that_is_no_accelerator_is_told_as_unknown_only(tmp_path: Path) -> None:
    unknown = changed(PLATFORM, "cpu: true,", "cpu: true, default-model: A101,")
    assert told(tmp_path, unknown) == [("SPEC201", "pools.elastic.default-model")]


def test_exclusive_may_be_written_out_by_a_pool_that_owns(tmp_path: Path) -> None:
    plain = changed(PLATFORM, "[BI-V150], priority", "[BI-V150], sharing: exclusive, priority")
    assert told(tmp_path, plain) == []


def test_all_models_of_a_pool_that_cannot_be_sliced_are_told_in_one_message(
    tmp_path: Path,
) -> None:
    two = varied(
        PLATFORM,
        ("topology:", "  MLU370: {vendor: cambricon, memory: 48Gi, resource: cambricon.com/mlu, rate: 18, origin: vendor}\ntopology:"),
        ("[BI-V150], priority", "[BI-V150, MLU370], sharing: {time-slicing: 2}, priority"),
    )  # fmt: skip
    codes = [code for code, _ in told(tmp_path, two)]
    assert codes.count("SPEC318") == 1


def test_burst_and_scaling_are_for_pools_that_serve(tmp_path: Path) -> None:
    pool = loaded(tmp_path, INFERENCE).pools["domestic"]
    assert (pool.burst, pool.scale_within_seconds) == (50, 30)


def test_batch_slices_that_shall_scale_are_told_once(tmp_path: Path) -> None:
    scaling = changed(SLICED, "{time-slicing: 4},", "{time-slicing: 4}, scale-within: 30s,")
    assert told(tmp_path, scaling) == [("SPEC322", "pools.training.scale-within")]


@pytest.mark.parametrize("key", ["pods-per-agent: 10", "backoff-limit: 0"])
def test_what_bounds_agents_is_for_pools_that_borrow(tmp_path: Path, key: str) -> None:
    agents = changed(PLATFORM, "cpu: true,", f"cpu: true, {key},")
    assert told(tmp_path, agents) == []


def test_one_vendors_models_share_a_resource(tmp_path: Path) -> None:
    """An A100 in no pool is told, as a warning, and nothing else."""
    more = changed(
        PLATFORM,
        "topology:",
        "  H20: {vendor: nvidia, memory: 96Gi, rate: 60, origin: vendor}\ntopology:",
    )
    assert told(tmp_path, more) == [("SPEC315", "accelerators.H20")]


def test_another_vendors_resource_may_end_like_slices(tmp_path: Path) -> None:
    other = changed(PLATFORM, "iluvatar.ai/gpu", "iluvatar.ai/gpu.shared")
    assert told(tmp_path, other) == []


def test_hosts_without_cards_serve_one_pool(tmp_path: Path) -> None:
    two = changed(PLATFORM, "  elastic: {", "  more: {borrows-from: training, cpu: true, priority: elastic}\n  elastic: {")  # fmt: skip
    assert told(tmp_path, two) == [("SPEC309", "pools.elastic.cpu")]


def test_slices_are_a_resource_that_no_other_vendor_offers(tmp_path: Path) -> None:
    """Only where a pool cuts its cards; else nothing offers that name."""
    taken = changed(SLICED, "iluvatar.ai/gpu", "nvidia.com/gpu.shared")
    assert told(tmp_path, taken) == [("SPEC329", "accelerators.BI-V150.resource")]
    free = changed(PLATFORM, "iluvatar.ai/gpu", "nvidia.com/gpu.shared")
    assert told(tmp_path, free) == []


SEVENTHS = changed(SLICED, "time-slicing: 4", "time-slicing: 7")
AT_SLICES = "pools.training.sharing.time-slicing"


def test_slices_that_would_not_add_up_to_their_card_are_refused_with_ways_out(
    tmp_path: Path,
) -> None:
    """7 x 1.714 are 11.998; 11.998 and 12.005 can be divided by 7, and 12 by 4 or 6."""
    found = values(tmp_path, changed(SEVENTHS, "rate: 30,", "rate: 12,"))
    assert (found["found"], found["other"], found["rate"], found["line"]) == (7, "A100", "12", 5)
    assert (found["each"], found["total"], found["right"]) == ("1.714", "11.998", "11.998, 12.005")
    assert found["choices"] == [2, 3, 4, 5, 6, 8, 10, 12, 15, 16]


@pytest.mark.parametrize("rate", ["11.998", "12.005", "0.007", "14"])
def test_slices_that_divide_their_cards_rate_are_right(tmp_path: Path, rate: str) -> None:
    codes = [code for code, _ in told(tmp_path, changed(SEVENTHS, "rate: 30,", f"rate: {rate},"))]
    assert "SPEC331" not in codes


@pytest.mark.parametrize(
    ("rate", "near"), [("0.004", "0.007"), ("100000", "99999.998"), ("29.989", "29.988, 29.995")]
)
def test_a_rate_that_no_spec_may_have_is_not_proposed(tmp_path: Path, rate: str, near: str) -> None:
    dear = changed(SEVENTHS, "rate: 30,", f"rate: {rate},")
    problems = load_texts(tmp_path, dear).problems
    assert [p.values["right"] for p in problems if p.code == "SPEC331"] == [near]


def test_whole_cards_may_have_any_rate(tmp_path: Path) -> None:
    assert told(tmp_path, changed(PLATFORM, "rate: 30,", "rate: 29.989,")) == []


def test_each_model_whose_rate_cannot_be_divided_is_told_and_the_pool_fits_all(
    tmp_path: Path,
) -> None:
    """Of 30 and 0.9 the thousandths have 2, 3, 4, 5, 6, 10, 12 and 15 in common."""
    two = varied(
        SEVENTHS,
        ("topology:", "  L4: {vendor: nvidia, memory: 24Gi, rate: 0.9, origin: vendor}\ntopology:"),
        ("[A100], sharing", "[A100, L4], sharing"),
    )
    local = f"{LOCAL}  - {{hosts: l4, pool: training, model: L4, cards: 8, cpu: 128, memory: 1Ti, block: b0, rack: r9}}\n"  # fmt: skip
    problems = load_texts(tmp_path, two, local).problems
    assert [(each.code, each.path, each.values["other"]) for each in problems] == [
        ("SPEC331", AT_SLICES, "A100"),
        ("SPEC331", AT_SLICES, "L4"),
    ]
    assert [each.values["choices"] for each in problems] == [[2, 3, 4, 5, 6, 10, 12, 15]] * 2


def test_cards_that_cannot_be_sliced_are_not_told_of_their_rate_too(tmp_path: Path) -> None:
    other = changed(PLATFORM, "[BI-V150], ", "[BI-V150], sharing: {time-slicing: 7}, ")
    assert told(tmp_path, other) == [("SPEC318", "pools.domestic.sharing")]


@pytest.mark.parametrize("slip", ["rate: many,", "rate: 0,", "rate: 30.0001,"])
def test_a_rate_that_is_none_is_not_divided(tmp_path: Path, slip: str) -> None:
    codes = [code for code, _ in told(tmp_path, changed(SEVENTHS, "rate: 30,", slip))]
    assert len(codes) == 1
    assert codes != ["SPEC331"]


def test_an_environment_changes_neither_slices_nor_rates(tmp_path: Path) -> None:
    """So what is seen of the platform's file holds in each environment."""
    pools = f"{LOCAL}pools: {{training: {{sharing: {{time-slicing: 7}}}}}}\n"
    assert told(tmp_path, SLICED, pools) == [("SPEC102", "pools")]
    rates = f"{LOCAL}accelerators: {{A100: {{rate: 29.989}}}}\n"
    assert told(tmp_path, SLICED, rates) == [("SPEC102", "accelerators")]


_HOSTS = "".join(
    f"  - {{hosts: {pool}, pool: {pool}, model: L4, cards: 8, cpu: 128, memory: 1Ti, block: b0, rack: r9}}\n"
    for pool in ("one", "two")
)
_SLICES = st.integers(2, 16)


@given(st.integers(1, 50_000) | st.integers(1, 100_000_000), _SLICES, _SLICES)
@example(12_000, 7, 7)
@example(12_000, 7, 4)
@example(12_000, 4, 6)
@example(720_720, 13, 16)
@settings(max_examples=60, deadline=None)
def test_whatever_loads_has_slices_whose_rates_add_up_to_the_cards(
    rate_milli: int, one: int, two: int
) -> None:
    """In the ledger and on the flavor; and what is refused is right with a rate that is told."""
    with tempfile.TemporaryDirectory() as folder:
        found = load_texts(Path(folder), *_cut_in_two_ways(rate_milli, one, two))
        if found.platform is not None:
            assert (rate_milli % one, rate_milli % two) == (0, 0)
            _assert_slices_add_up(found.platform)
        else:
            assert {problem.code for problem in found.problems} == {"SPEC331"}
            near = str(found.problems[0].values["right"]).split(", ")
            for rate in map(parse_thousandths, near):
                mended = load_texts(Path(folder), *_cut_in_two_ways(rate, one, two))
                assert mended.platform is not None
                _assert_slices_add_up(mended.platform)


def _cut_in_two_ways(rate_milli: int, *slices: int) -> tuple[str, str]:
    """Return a spec with cards of one model in two pools, granted to nobody: any rate is fine."""
    card = f"{{vendor: nvidia, memory: 24Gi, rate: {thousandths(rate_milli)}, origin: vendor}}"
    pools = "".join(
        f"  {name}: {{models: [L4], priority: training, sharing: {{time-slicing: {number}}}}}\n"
        for name, number in zip(("one", "two"), slices, strict=True)
    )
    platform = varied(
        PLATFORM,
        ("topology:", f"  L4: {card}\ntopology:"),
        ("  elastic: {", f"{pools}  elastic: {{"),
    )
    return platform, LOCAL + _HOSTS


def _assert_slices_add_up(platform: Platform) -> None:
    told = {
        each.name: each.object["metadata"]["annotations"] for each in flavor_manifests(platform)
    }
    sliced = [f for f in all_flavors(platform) if isinstance(f, CardFlavor) and f.slices > 1]
    assert sliced
    for flavor in sliced:
        card = platform.accelerators[flavor.model].rate_milli
        one = pricing.rate(platform, Ask(0, 0, flavor.model, 1, flavor.slices), card)
        assert one * flavor.slices == card
        assert parse_thousandths(told[flavor.name][labels.RATE]) == one
