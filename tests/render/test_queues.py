from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from tallyard.render.flavors import all_flavors, cpu_flavors, pool_flavors
from tallyard.render.queues import cluster_queue_manifests
from tallyard.spec.model import Borrowed, Platform

type Objects = Mapping[tuple[str, str], Mapping[str, Any]]


def _quotas(obj: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, str]]]:
    for group in obj["spec"].get("resourceGroups", []):
        for flavor in group["flavors"]:
            for resource in flavor["resources"]:
                yield flavor["name"], resource["name"], resource


def _flavor_name(platform: Platform, pool: str, model: str) -> str:
    return next(f.name for f in pool_flavors(platform, pool) if f.model == model)


def _quota(obj: Mapping[str, Any], flavor: str, resource: str) -> Mapping[str, str]:
    return next(q for f, r, q in _quotas(obj) if (f, r) == (flavor, resource))


def test_a_tier_grants_its_cards_and_the_hosts_share_of_everything_else(
    platform: Platform, objects: Objects
) -> None:
    """Gold: 16 A800; a host has 128 vCPU and 2Ti for 8 of them."""
    queue = objects["ClusterQueue", "nlp-training"]
    flavor = _flavor_name(platform, "training", "A800-SXM4-80GB")
    assert _quota(queue, flavor, "nvidia.com/gpu")["nominalQuota"] == "16"
    assert _quota(queue, flavor, "cpu")["nominalQuota"] == "256"
    assert _quota(queue, flavor, "memory")["nominalQuota"] == "4Ti"


def test_borrowing_is_limited_to_what_the_tier_says_and_to_nothing_where_it_is_silent(
    platform: Platform, objects: Objects
) -> None:
    """Gold borrows up to 8 cards of a model in training; bronze says nothing."""
    flavor = _flavor_name(platform, "training", "A100-SXM4-40GB")
    gold = _quota(objects["ClusterQueue", "nlp-training"], flavor, "nvidia.com/gpu")
    bronze = _quota(objects["ClusterQueue", "vision-training"], flavor, "nvidia.com/gpu")
    assert (gold["nominalQuota"], gold["borrowingLimit"]) == ("16", "8")
    assert (bronze["nominalQuota"], bronze["borrowingLimit"]) == ("2", "0")


def test_the_quota_of_the_whole_tree_is_what_is_installed_for_every_model(
    platform: Platform, objects: Objects
) -> None:
    """Kueue overcommits in silence, so the sum over cohorts and queues must be exact."""
    nominal: Counter[str] = Counter()
    for (kind, _), obj in objects.items():
        if kind in ("Cohort", "ClusterQueue"):
            for flavor, resource, quota in _quotas(obj):
                if "/" in resource:
                    nominal[flavor] += int(quota["nominalQuota"])
    installed = {
        flavor.name: platform.cards_installed(pool.name, flavor.model)
        for pool in platform.pools.values()
        for flavor in pool_flavors(platform, pool.name)
    }
    assert sum(installed.values()) > 0
    assert {name: nominal[name] for name in installed} == installed


def test_every_flavor_of_a_group_lists_the_same_resources_in_the_same_order(
    objects: Objects,
) -> None:
    groups = [
        group
        for (kind, _), obj in objects.items()
        if kind in ("Cohort", "ClusterQueue")
        for group in obj["spec"].get("resourceGroups", [])
    ]
    assert groups
    for group in groups:
        for flavor in group["flavors"]:
            assert [r["name"] for r in flavor["resources"]] == group["coveredResources"]


def test_two_vendors_in_one_pool_share_a_group_and_give_nothing_of_each_others_cards(
    platform: Platform, objects: Objects
) -> None:
    queue = objects["ClusterQueue", "nlp-domestic"]
    iluvatar = _flavor_name(platform, "domestic", "BI-V150")
    assert _quota(queue, iluvatar, "iluvatar.ai/gpu")["nominalQuota"] == "4"
    assert _quota(queue, iluvatar, "cambricon.com/mlu") == {
        "name": "cambricon.com/mlu",
        "nominalQuota": "0",
        "borrowingLimit": "0",
    }


def test_elastic_queues_own_nothing_and_try_the_cpu_hosts_first(
    platform: Platform, objects: Objects
) -> None:
    queue = objects["ClusterQueue", "vision-elastic"]
    assert queue["spec"]["cohortName"] == "training"
    quotas = list(_quotas(queue))
    assert quotas
    assert {q["nominalQuota"] for _, _, q in quotas} == {"0"}
    assert not any("borrowingLimit" in q for _, _, q in quotas)
    assert quotas[0][0] == cpu_flavors(platform)[0].name


def test_the_cpu_hosts_stand_on_the_cohort_and_not_in_any_queue(
    platform: Platform, objects: Objects
) -> None:
    cpu = cpu_flavors(platform)[0].name
    assert _quota(objects["Cohort", "training"], cpu, "cpu")["nominalQuota"] == "128"
    granted = [
        q["nominalQuota"]
        for (kind, _), obj in objects.items()
        if kind == "ClusterQueue"
        for flavor, _, q in _quotas(obj)
        if flavor == cpu
    ]
    assert granted
    assert set(granted) == {"0"}


@pytest.mark.parametrize(
    ("borrowed", "reclaim"), [(Borrowed.KEEP, "LowerPriority"), (Borrowed.RECLAIM, "Any")]
)
def test_a_pool_says_whether_borrowed_cards_are_kept(
    platform: Platform, borrowed: Borrowed, reclaim: str
) -> None:
    training = replace(platform.pools["training"], borrowed=borrowed)
    changed = replace(platform, pools={**platform.pools, "training": training})
    queues = {m.name: m.object for m in cluster_queue_manifests(changed)}
    assert queues["nlp-training"]["spec"]["preemption"]["reclaimWithinCohort"] == reclaim
    assert queues["nlp-elastic"]["spec"]["preemption"]["reclaimWithinCohort"] == "Never"


def test_a_queue_serves_only_its_projects_namespace_by_a_label_no_tenant_can_write(
    objects: Objects,
) -> None:
    selector = objects["ClusterQueue", "nlp-training"]["spec"]["namespaceSelector"]
    assert selector == {"matchLabels": {"kubernetes.io/metadata.name": "nlp"}}


def test_a_project_has_a_queue_in_each_pool_of_its_tier_and_in_each_that_borrows(
    objects: Objects,
) -> None:
    vision = {name for kind, name in objects if kind == "LocalQueue" and name.startswith("vision/")}
    assert vision == {"vision/training", "vision/elastic"}


def test_every_flavor_a_queue_names_is_rendered(platform: Platform, objects: Objects) -> None:
    rendered = {name for kind, name in objects if kind == "ResourceFlavor"}
    named = {
        flavor
        for (kind, _), obj in objects.items()
        if kind in ("Cohort", "ClusterQueue")
        for flavor, _, _ in _quotas(obj)
    }
    assert named == rendered == {f.name for f in all_flavors(platform)}
