from __future__ import annotations

from dataclasses import replace

import pytest

from tallyard import labels
from tallyard.render.flavors import (
    CardFlavor,
    all_flavors,
    cpu_flavors,
    flavor_manifests,
    pool_flavors,
    topology_manifest,
)
from tallyard.spec.model import Level, Platform


def test_a_flavor_selects_by_labels_that_only_administrators_write_and_by_those_users_select_on(
    platform: Platform,
) -> None:
    flavor = pool_flavors(platform, "training")[0]
    assert flavor.node_labels == {
        labels.NODE_POOL: "training",
        labels.NODE_MODEL: "A100-SXM4-40GB",
        "gpu.model": "A100-SXM4-40GB",
        "gpu.memory": "40Gi",
    }


def test_the_toleration_for_a_pools_hosts_comes_with_the_flavor(platform: Platform) -> None:
    for flavor in pool_flavors(platform, "inference"):
        assert [t["value"] for t in flavor.tolerations] == ["inference"]


def test_no_two_flavors_select_the_same_hosts(platform: Platform) -> None:
    flavors = all_flavors(platform)
    selected = {
        flavor.name: frozenset(
            node.name
            for node in platform.nodes
            if node.pool == flavor.pool and node.model == flavor.node_labels.get(labels.NODE_MODEL)
        )
        for flavor in flavors
    }
    assert all(selected.values())
    assert sum(map(len, selected.values())) == len(platform.nodes)


def test_a_changed_topology_gives_new_names_because_the_old_objects_are_immutable(
    platform: Platform,
) -> None:
    flat = replace(platform, topology=(Level.RACK, Level.HOST))
    assert topology_manifest(flat).name != topology_manifest(platform).name
    before = {f.name for f in all_flavors(platform)}
    after = {f.name for f in all_flavors(flat)}
    assert before.isdisjoint(after)


def test_names_do_not_change_when_hosts_are_added(platform: Platform) -> None:
    fewer = replace(platform, nodes=platform.nodes[1:])
    assert [f.name for f in all_flavors(fewer)] == [f.name for f in all_flavors(platform)]


def test_a_flavor_says_what_a_card_costs_and_a_sliced_one_what_a_slice_does(
    platform: Platform,
) -> None:
    """RTX-4090: 12 core-hours a card and hour, and of four slices 3 for each."""
    told = {
        manifest.name: manifest.object["metadata"]["annotations"].get(labels.RATE)
        for manifest in flavor_manifests(platform)
    }
    by_pool = {
        (flavor.pool, flavor.model): told[flavor.name]
        for flavor in all_flavors(platform)
        if isinstance(flavor, CardFlavor)
    }
    assert by_pool["training", "A800-SXM4-80GB"] == "54"
    assert (by_pool["inference", "RTX-4090"], by_pool["shared", "RTX-4090"]) == ("12", "3")
    (cpu,) = cpu_flavors(platform)
    assert told[cpu.name] is None


@pytest.mark.parametrize(
    ("rate_milli", "slices", "told"), [(999, 3, "0.333"), (1001, 7, "0.143"), (16, 16, "0.001")]
)
def test_a_slices_rate_is_told_to_the_thousandth(
    platform: Platform, rate_milli: int, slices: int, told: str
) -> None:
    card = replace(platform.accelerators["RTX-4090"], rate_milli=rate_milli)
    shared = replace(platform.pools["shared"], slices=slices)
    changed = replace(
        platform,
        accelerators={**platform.accelerators, "RTX-4090": card},
        pools={**platform.pools, "shared": shared},
    )
    (name,) = (f.name for f in pool_flavors(changed, "shared"))
    found = {m.name: m.object["metadata"]["annotations"] for m in flavor_manifests(changed)}
    assert found[name][labels.RATE] == told


def test_another_price_is_the_same_flavor(platform: Platform) -> None:
    """It is an annotation: a flavor of another name would be one beside the old."""
    cards = {
        name: replace(card, rate_milli=card.rate_milli * 2)
        for name, card in platform.accelerators.items()
    }
    dearer = replace(platform, accelerators=cards)
    assert [f.name for f in all_flavors(dearer)] == [f.name for f in all_flavors(platform)]
