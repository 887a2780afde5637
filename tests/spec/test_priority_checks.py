"""Priorities: who goes first, who gives cards back, and one message for one slip."""

from __future__ import annotations

from pathlib import Path

from tests.spec.specs import LOCAL, PLATFORM, changed
from tests.spec.variations import INFERENCE, told, varied

SHARED_HOST = "  - {hosts: bi-01, pool: shared, model: BI-V150, cards: 8, cpu: 64, memory: 512Gi, block: b1, rack: r2}\n"  # fmt: skip


def test_inference_above_all_batch_work_is_right(tmp_path: Path) -> None:
    assert told(tmp_path, INFERENCE) == []
    just_above = changed(INFERENCE, "inference, value: 10000", "inference, value: 1001")
    assert told(tmp_path, just_above) == []


def test_inference_of_the_same_value_as_batch_work_does_not_outrank_it(tmp_path: Path) -> None:
    """The two values are alike as well, which is the same fault."""
    same = changed(INFERENCE, "inference, value: 10000", "inference, value: 1000")
    assert told(tmp_path, same) == [("SPEC324", "pools.domestic.priority")]


def test_inference_under_the_batch_priority_is_told_and_not_the_unused_one(tmp_path: Path) -> None:
    slip = changed(INFERENCE, "priority: inference, burst", "priority: training, burst")
    assert told(tmp_path, slip) == [("SPEC324", "pools.domestic.priority")]


def test_a_priority_that_is_too_low_for_two_pools_is_told_once(tmp_path: Path) -> None:
    """The second pool for services has the same cards under slices."""
    two = varied(
        INFERENCE,
        ("  elastic: {", "  shared: {models: [BI-V150], work: inference, priority: inference}\n  elastic: {"),
        ("inference, value: 10000", "inference, value: 100"),
    )  # fmt: skip
    found = [code for code, _ in told(tmp_path, two)]
    assert found.count("SPEC324") == 1


def test_elastic_work_one_below_its_lender_is_right(tmp_path: Path) -> None:
    assert told(tmp_path, changed(PLATFORM, "value: 10,", "value: 999,")) == []


def test_elastic_work_of_the_lenders_value_is_told_once(tmp_path: Path) -> None:
    same = changed(PLATFORM, "value: 10,", "value: 1000,")
    assert told(tmp_path, same) == [("SPEC308", "pools.elastic.priority")]


def test_elastic_work_that_outranks_all_is_not_told_of_inference_too(tmp_path: Path) -> None:
    high = changed(INFERENCE, "value: 10,", "value: 100000,")
    assert told(tmp_path, high) == [("SPEC308", "pools.elastic.priority")]


def test_elastic_work_under_the_training_priority_is_told_and_not_the_unused_one(
    tmp_path: Path,
) -> None:
    slip = changed(PLATFORM, "cpu: true, priority: elastic", "cpu: true, priority: training")
    assert told(tmp_path, slip) == [("SPEC307", "pools.elastic.priority")]


def test_a_pool_whose_priority_is_mistyped_may_have_meant_the_unused_one(tmp_path: Path) -> None:
    slip = changed(PLATFORM, "cpu: true, priority: elastic", "cpu: true, priority: elastik")
    assert told(tmp_path, slip) == [("SPEC204", "pools.elastic.priority")]


def test_three_priorities_of_one_value_are_told_at_the_second_and_the_third(
    tmp_path: Path,
) -> None:
    three = varied(
        PLATFORM,
        (
            "  - {name: elastic,",
            "  - {name: a, value: 1000}\n  - {name: b, value: 1000}\n  - {name: elastic,",
        ),
        ("[BI-V150], priority: training", "[BI-V150], priority: a"),
        ("  elastic: {", "  more: {borrows-from: training, priority: b}\n  elastic: {"),
    )
    codes = told(tmp_path, three)
    assert ("SPEC328", "priorities[1].value") in codes
    assert ("SPEC328", "priorities[2].value") in codes


def test_a_pool_that_lost_its_work_is_not_told_as_batch_work_beside_inference(
    tmp_path: Path,
) -> None:
    """With `burst` and `scale-within` it serves; another pool that does is right."""
    two = varied(
        INFERENCE,
        ("work: inference, ", ""),
        (
            "  elastic: {",
            "  shared: {models: [BI-V150], work: inference, priority: inference}\n  elastic: {",
        ),
    )
    codes = [code for code, _ in told(tmp_path, two, LOCAL + SHARED_HOST)]
    assert codes == ["SPEC322"]
