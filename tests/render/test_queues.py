from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tallyard.render.flavors import all_flavors, cpu_flavors, pool_flavors
from tallyard.render.queues import cluster_queue_manifests, cohort_manifests
from tallyard.spec.model import Borrowed, Platform
from tests.spec.specs import LOCAL, NOW, PLATFORM, changed, load_texts
from tests.spec.variations import varied, with_override

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
    # A sliced card counts as its slices.
    installed = {
        flavor.name: platform.cards_installed(pool.name, flavor.model) * flavor.slices
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


def test_a_pool_that_owns_cards_may_run_the_work_without_cards_too(platform: Platform) -> None:
    training = replace(platform.pools["training"], cpu=True)
    elastic = replace(platform.pools["elastic"], cpu=False)
    pools = {**platform.pools, "training": training, "elastic": elastic}
    changed_platform = replace(platform, pools=pools)
    cpu = cpu_flavors(platform)[0].name
    queues = {m.name: m.object for m in cluster_queue_manifests(changed_platform)}
    cohorts = {m.name: m.object for m in cohort_manifests(changed_platform)}
    assert _quota(cohorts["training"], cpu, "cpu")["nominalQuota"] == "128"
    assert next(_quotas(queues["nlp-training"]))[0] == cpu
    assert _quota(queues["nlp-training"], cpu, "cpu")["nominalQuota"] == "0"
    assert cpu not in {flavor for flavor, _, _ in _quotas(queues["nlp-elastic"])}


@pytest.mark.parametrize(
    ("borrowed", "reclaim"), [(Borrowed.KEEP, "LowerPriority"), (Borrowed.RECLAIM, "Any")]
)
def test_a_pool_says_whether_borrowed_cards_are_kept(
    platform: Platform, borrowed: Borrowed, reclaim: str
) -> None:
    training = replace(platform.pools["training"], borrowed=borrowed)
    keeping = replace(platform, pools={**platform.pools, "training": training})
    queues = {m.name: m.object for m in cluster_queue_manifests(keeping)}
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


def test_a_sliced_pool_counts_slices_under_a_resource_of_their_own(
    platform: Platform, objects: Objects
) -> None:
    """Gold: 2 RTX-4090 of the pool `shared`, each cut into 4, and the hosts' share of 2 cards."""
    queue = objects["ClusterQueue", "nlp-shared"]
    flavor = _flavor_name(platform, "shared", "RTX-4090")
    resources = {resource: quota["nominalQuota"] for _, resource, quota in _quotas(queue)}
    assert resources["nvidia.com/gpu.shared"] == "8"
    assert "nvidia.com/gpu" not in resources
    assert _quota(queue, flavor, "cpu")["nominalQuota"] == "32"


def test_whole_cards_of_the_same_model_are_another_resource(
    platform: Platform, objects: Objects
) -> None:
    """Nobody who asks for a card is given a slice, and the other way round."""
    queue = objects["ClusterQueue", "nlp-inference"]
    flavor = _flavor_name(platform, "inference", "RTX-4090")
    assert flavor != _flavor_name(platform, "shared", "RTX-4090")
    assert _quota(queue, flavor, "nvidia.com/gpu")["nominalQuota"] == "4"
    assert "nvidia.com/gpu.shared" not in {resource for _, resource, _ in _quotas(queue)}


@pytest.mark.parametrize(
    ("cards", "burst", "limit"), [(4, 50, 2), (3, 50, 1), (1, 99, 0), (4, 300, 12)]
)
def test_burst_is_a_limit_for_borrowing_in_whole_cards(
    platform: Platform, cards: int, burst: int, limit: int
) -> None:
    """Half of 3 cards is one card: a limit is never more than what was said."""
    bursting = _with_burst(platform, burst)
    nlp = bursting.projects["nlp"]
    granted = {**nlp.limits.cards, "inference": {"RTX-4090": cards}}
    limits = replace(nlp.limits, cards=granted, borrow={**nlp.limits.borrow, "inference": 7})
    projects = {**bursting.projects, "nlp": replace(nlp, limits=limits)}
    bursting = replace(bursting, projects=projects)
    queues = {m.name: m.object for m in cluster_queue_manifests(bursting)}
    flavor = _flavor_name(bursting, "inference", "RTX-4090")
    quota = _quota(queues["nlp-inference"], flavor, "nvidia.com/gpu")
    assert (quota["nominalQuota"], quota["borrowingLimit"]) == (str(cards), str(limit))


def _with_burst(platform: Platform, burst: int) -> Platform:
    pool = replace(platform.pools["inference"], burst=burst)
    return replace(platform, pools={**platform.pools, "inference": pool})


def test_an_override_replaces_the_tiers_quota_while_it_holds(tmp_path: Path) -> None:
    """Gold has 8 A100 and borrows 4; until the end of 2026 it is 12 and 2, and bronze the same."""
    spec = with_override(
        "{cards: {training: {A100: 12}}, borrow: {training: 2}, until: 2026-12-31, reason: release}"
    )
    assert _training(tmp_path, spec, NOW) == {"nlp": ("12", "2"), "vision": ("2", "0")}


def test_the_tiers_quota_holds_again_when_an_override_has_ended(tmp_path: Path) -> None:
    """What the project gave up is free for others again, without anybody's doing."""
    spec = with_override("{cards: {training: {A100: 12}}, until: 2026-12-31, reason: release}")
    after = datetime(2027, 1, 1, tzinfo=UTC)
    assert _training(tmp_path, spec, after - timedelta(seconds=1))["nlp"] == ("12", "4")
    assert _training(tmp_path, spec, after)["nlp"] == ("8", "4")


def _training(folder: Path, spec: str, now: datetime) -> dict[str, tuple[str, str]]:
    """Return each project's A100 in the pool training: what it owns and what it may borrow."""
    platform = load_texts(folder, spec, now=now).platform
    assert platform is not None
    flavor = _flavor_name(platform, "training", "A100")
    found = {}
    for queue in cluster_queue_manifests(platform):
        project, _, pool = queue.name.partition("-")
        if pool == "training":
            quota = _quota(queue.object, flavor, "nvidia.com/gpu")
            found[project] = (quota["nominalQuota"], quota["borrowingLimit"])
    return found


def test_with_overcommit_nothing_is_left_on_the_cohort(tmp_path: Path) -> None:
    """16 A100 and two projects that own 12 each: the cohort keeps none, and not less than none."""
    spec = varied(PLATFORM, ("{A100: 8}", "{A100: 12}"), ("{A100: 2}", "{A100: 12}"))
    spec = changed(spec, "borrow: {training: 4}, ", "")
    platform = load_texts(tmp_path, spec, LOCAL + "overcommit: {cards: 1.5}\n").platform
    assert platform is not None
    flavor = _flavor_name(platform, "training", "A100")
    (cohort,) = (m.object for m in cohort_manifests(platform) if m.name == "training")
    assert _quota(cohort, flavor, "nvidia.com/gpu")["nominalQuota"] == "0"
    assert _quota(cohort, flavor, "cpu")["nominalQuota"] == "0"


@pytest.mark.parametrize(
    ("pool", "borrowed", "lends"),
    [
        ("inference", Borrowed.KEEP, False),
        ("inference", Borrowed.RECLAIM, True),
        ("training", Borrowed.KEEP, True),
        ("training", Borrowed.RECLAIM, True),
    ],
)
def test_a_reservation_for_services_is_lent_only_where_it_can_be_taken_back(
    platform: Platform, pool: str, borrowed: Borrowed, *, lends: bool
) -> None:
    """A service never ends by itself: what it has borrowed would be gone for its owner."""
    changed_pool = replace(platform.pools[pool], borrowed=borrowed)
    changed_platform = replace(platform, pools={**platform.pools, pool: changed_pool})
    queues = {m.name: m.object for m in cluster_queue_manifests(changed_platform)}
    limits = {quota.get("lendingLimit") for _, _, quota in _quotas(queues[f"nlp-{pool}"])}
    assert limits == ({None} if lends else {"0"})
    # What no queue owns is always there to be lent.
    cohorts = {m.name: m.object for m in cohort_manifests(changed_platform)}
    assert not any("lendingLimit" in quota for _, _, quota in _quotas(cohorts[pool]))


def test_a_queue_has_flavors_of_its_own_pool_or_of_its_lender_and_the_cpu_hosts(
    platform: Platform, objects: Objects
) -> None:
    pool_of = {flavor.name: flavor.pool for flavor in all_flavors(platform)}
    seen = 0
    for project in platform.projects.values():
        for pool in platform.pools_of(project):
            queue = objects["ClusterQueue", f"{project.id}-{pool.name}"]
            found = {pool_of[flavor] for flavor, _, _ in _quotas(queue)}
            assert found <= {pool.borrows_from or pool.name, *({"cpu"} if pool.cpu else ())}
            seen += 1
    assert seen > 5
