"""What pods get by themselves is counted by a queue, or said to be counted by none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallyard.render.kueue_manager import configuration
from tests.spec.specs import PLATFORM, changed, load_texts
from tests.spec.variations import loaded, told, values, varied


def with_default(resource: str, uncounted: str = "", platform: str = PLATFORM) -> str:
    """Give each pod one of a resource, and name what no queue counts."""
    text = changed(platform, "storage: 20Gi}", f"storage: 20Gi, resources: {{{resource}: 1}}}}")
    return changed(text, "tiers:", f"uncounted: [{uncounted}]\ntiers:") if uncounted else text


def test_a_default_resource_that_no_queue_covers_is_refused(tmp_path: Path) -> None:
    """As with a LimitRange: what a pod gets without asking would make all work wait for ever."""
    found = values(tmp_path, with_default("rdma/hca"))
    assert (found["found"], found["usual"]) == ("rdma/hca", "rdma/")


@pytest.mark.parametrize("uncounted", ["rdma/", "rdma/hca", "rdma", "roce/, rdma/"])
def test_a_default_resource_whose_prefix_is_uncounted_is_excluded_in_kueue(
    tmp_path: Path, uncounted: str
) -> None:
    """What `uncounted` names, Kueue's manager leaves out of every workload."""
    platform = loaded(tmp_path, with_default("rdma/hca", uncounted))
    resources = configuration(platform)["resources"]
    excluded = resources["excludeResourcePrefixes"]
    assert excluded == uncounted.split(", ")
    assert any("rdma/hca".startswith(prefix) for prefix in excluded)


def test_without_uncounted_resources_kueue_counts_all(tmp_path: Path) -> None:
    assert "resources" not in configuration(loaded(tmp_path))


def test_a_prefix_of_another_resource_does_not_help(tmp_path: Path) -> None:
    assert told(tmp_path, with_default("rdma/hca", "rdma/hcb")) == [
        ("SPEC515", 'defaults.resources."rdma/hca"')
    ]


def test_a_way_out_never_takes_the_cards_out_of_counting(tmp_path: Path) -> None:
    """`nvidia.com/` would; so the whole name is proposed, and it is accepted."""
    assert values(tmp_path, with_default("nvidia.com/gds"))["usual"] == "nvidia.com/gds"
    assert told(tmp_path, with_default("nvidia.com/gds", "nvidia.com/gds")) == []


@pytest.mark.parametrize("prefix", ["nvidia.com/", "cpu", "mem", "iluvatar.ai/gpu", "pods", "e"])
def test_what_quotas_are_made_of_stays_counted(tmp_path: Path, prefix: str) -> None:
    listed = changed(PLATFORM, "tiers:", f"uncounted: [{prefix}]\ntiers:")
    assert told(tmp_path, listed) == [("SPEC516", "uncounted[0]")]


SLICED = varied(
    PLATFORM,
    ("[A100], priority", "[A100], sharing: {time-slicing: 4}, priority"),
    ("borrows-from: training", "borrows-from: domestic"),
)


def test_slices_are_counted_where_a_pool_has_them(tmp_path: Path) -> None:
    slices = "nvidia.com/gpu.shared"
    listed = changed(SLICED, "tiers:", f"uncounted: [{slices}]\ntiers:")
    assert told(tmp_path, listed) == [("SPEC516", "uncounted[0]")]
    assert told(tmp_path, with_default(slices, platform=SLICED)) == [
        ("SPEC517", f'defaults.resources."{slices}"')
    ]
    assert told(tmp_path, with_default(slices)) == [("SPEC515", f'defaults.resources."{slices}"')]


def test_no_pod_gets_a_card_that_it_did_not_ask_for(tmp_path: Path) -> None:
    assert told(tmp_path, with_default("iluvatar.ai/gpu")) == [
        ("SPEC517", 'defaults.resources."iluvatar.ai/gpu"')
    ]


def test_the_prefixes_that_hide_cards_are_each_told_with_one_that_they_hide(
    tmp_path: Path,
) -> None:
    """Also one that comes last in the alphabet, and one that is a resource's whole name."""
    listed = changed(PLATFORM, "tiers:", "uncounted: [pod, rdma/, iluvatar.ai/gpu, z]\ntiers:")
    found = load_texts(tmp_path, listed).problems
    assert [(p.path, p.values["name"]) for p in found] == [
        ("uncounted[0]", "pods"),
        ("uncounted[2]", "iluvatar.ai/gpu"),
    ]
