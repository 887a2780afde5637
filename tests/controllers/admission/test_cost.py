"""What a Workload costs: the users' numbers, the dearest hosts that it may get, what it was given."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tallyard.cluster.workloads import read
from tallyard.controllers.admission.cost import Cost, NoHosts, Tariff, as_given, at_most
from tallyard.ledger.books import Books
from tallyard.ledger.records import Rate
from tallyard.render.flavors import pool_flavors
from tallyard.spec.model import Platform
from tests.controllers.admission.workloads import pod_set, reserved, workload

NOW = 1_793_600_000
A100, A800, RTX = "A100-SXM4-40GB", "A800-SXM4-80GB", "RTX-4090"


@pytest.fixture
def tariff(platform: Platform) -> Tariff:
    """The shipped spec's prices."""
    return Tariff(platform, Books(), NOW)


def _flavor(platform: Platform, pool: str, model: str) -> str:
    return next(f.name for f in pool_flavors(platform, pool) if f.model == model)


@pytest.mark.parametrize(
    ("queue", "asks", "asked", "rate_milli"),
    [
        ("inference", {"gpu": "1", "cpu": "4", "memory": "4Gi"}, f"1 x {RTX}", 12_000),
        ("inference", {"gpu": "1", "cpu": "8", "memory": "8Gi"}, f"1 x {RTX}", 16_000),
        ("shared", {"slice": "1", "cpu": "1", "memory": "1Gi"}, f"1 x {RTX} slice", 3_000),
        ("shared", {"slice": "4", "cpu": "4", "memory": "4Gi"}, f"4 x {RTX} slice", 12_000),
        ("elastic", {"cpu": "4", "memory": "2Gi"}, "4 vCPU", 4_000),
        ("elastic", {"cpu": "500m", "rdma/hca": "1"}, "0.5 vCPU", 500),
        # Nothing says which of the pool's models it gets: the dearest is frozen.
        ("training", {"gpu": "8", "cpu": "64", "memory": "512Gi"}, f"8 x {A800}", 8 * 54_000),
    ],
)
def test_a_pod_costs_the_dearest_hosts_that_it_may_get(
    tariff: Tariff, queue: str, asks: dict[str, Any], asked: str, rate_milli: int
) -> None:
    cost = at_most(tariff, read(workload(pod_set(**asks), queue=queue)))
    assert isinstance(cost, Cost)
    assert (cost.asked, cost.rate_milli, cost.pods) == (asked, rate_milli, {"main": rate_milli})


def test_who_names_a_model_pays_for_that_one(tariff: Tariff) -> None:
    one = pod_set(gpu="1", cpu="8", memory="64Gi", selector={"gpu.model": A100})
    cost = at_most(tariff, read(workload(one)))
    assert isinstance(cost, Cost)
    assert (cost.asked, cost.rate_milli) == (f"1 x {A100}", 30_000)


def test_all_pods_of_all_sets_are_added_up(tariff: Tariff) -> None:
    driver = pod_set("driver", cpu="2", memory="2Gi")
    workers = pod_set("workers", 3, gpu="2", cpu="8", memory="8Gi", selector={"gpu.model": A100})
    cost = at_most(tariff, read(workload(driver, workers)))
    assert cost == Cost(f"6 x {A100}", 2_000 + 3 * 60_000, {"driver": 2_000, "workers": 60_000})


@pytest.mark.parametrize(
    ("queue", "pods"),
    [
        ("inference", pod_set(gpu="1", selector={"gpu.model": A100})),
        ("inference", pod_set(slice="1")),
        ("training", pod_set("w", slice="1")),
        ("nowhere", pod_set(gpu="1")),
    ],
)
def test_what_fits_no_hosts_of_its_queue_can_never_run(
    tariff: Tariff, queue: str, pods: dict[str, Any]
) -> None:
    found = at_most(tariff, read(workload(pods, queue=queue)))
    assert found == NoHosts(pods["name"], queue)


def test_what_was_given_is_cheaper_and_fewer(tariff: Tariff, platform: Platform) -> None:
    item = workload(pod_set(count=8, gpu="1", cpu="8", memory="64Gi"))
    most = at_most(tariff, read(item))
    assert isinstance(most, Cost)
    assert most.rate_milli == 8 * 54_000
    assert as_given(tariff, read(item)) is None
    flavors = {"nvidia.com/gpu": _flavor(platform, "training", A100), "cpu": "cpu-1"}
    given = reserved(item, {"name": "main", "count": 4, "flavors": flavors})
    assert as_given(tariff, read(given)) == Cost(f"4 x {A100}", 4 * 30_000, {"main": 30_000})


def test_borrowed_cards_cost_what_they_cost_their_owner(tariff: Tariff, platform: Platform) -> None:
    item = workload(pod_set(gpu="1", cpu="8", memory="64Gi"), queue="elastic")
    flavors = {"nvidia.com/gpu": _flavor(platform, "training", A100)}
    given = as_given(tariff, read(reserved(item, {"name": "main", "count": 1, "flavors": flavors})))
    assert given is not None
    assert given.rate_milli == 30_000


def test_a_price_holds_from_its_moment(tariff: Tariff) -> None:
    item = read(workload(pod_set(gpu="1", cpu="1"), queue="inference"))
    tariff.books.prices[RTX] = [Rate(NOW - 60, 12_000), Rate(NOW + 60, 13_000)]
    before, after = at_most(tariff, item), at_most(replace(tariff, at=NOW + 60), item)
    assert isinstance(before, Cost)
    assert isinstance(after, Cost)
    assert (before.rate_milli, after.rate_milli) == (12_000, 13_000)
