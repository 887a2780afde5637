from __future__ import annotations

from dataclasses import replace

from tallyard import labels
from tallyard.render.flavors import all_flavors, pool_flavors, topology_manifest
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
