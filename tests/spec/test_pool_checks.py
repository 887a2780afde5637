"""Pools and accelerators: what a pool may say about the cards that it has or borrows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.spec.specs import PLATFORM, changed
from tests.spec.variations import INFERENCE, loaded, told, varied

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
