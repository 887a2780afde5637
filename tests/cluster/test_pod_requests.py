"""What a pod asks for: all that runs at once, or what one init container needs alone."""

from __future__ import annotations

from typing import Any

from tallyard.cluster.pod_requests import requests

GIB = 2**30
GPU = "nvidia.com/gpu"


def _container(restart: str | None = None, **requests: str) -> dict[str, Any]:
    names = {name.replace("gpu", GPU): amount for name, amount in requests.items()}
    always = {"restartPolicy": restart} if restart else {}
    return {"resources": {"requests": names}, **always}


def test_containers_run_side_by_side() -> None:
    spec = {"containers": [_container(cpu="1500m", gpu="1"), _container(cpu="1", memory="1Gi")]}
    assert requests(spec) == {"cpu": 2500, GPU: 1, "memory": GIB}


def test_a_limit_alone_is_a_request_too() -> None:
    container = {"resources": {"limits": {GPU: "2", "cpu": "4"}, "requests": {"cpu": "1"}}}
    assert requests({"containers": [container]}) == {"cpu": 1000, GPU: 2}


def test_init_containers_run_one_after_another_before() -> None:
    spec = {
        "initContainers": [_container(cpu="3", memory="1Gi"), _container(cpu="1", gpu="1")],
        "containers": [_container(cpu="2", memory="2Gi")],
    }
    assert requests(spec) == {"cpu": 3000, "memory": 2 * GIB, GPU: 1}


def test_one_that_goes_on_counts_beside_all_that_comes_after_it() -> None:
    spec = {
        "initContainers": [
            _container(cpu="8"),
            _container("Always", cpu="2"),
            _container(cpu="5"),
            _container("Always", cpu="1"),
        ],
        "containers": [_container(cpu="4")],
    }
    # 8 alone; 5 beside 2; 4 beside 2 and 1.
    assert requests(spec) == {"cpu": 8000}
    spec["initContainers"][2] = _container(cpu="7")
    assert requests(spec) == {"cpu": 9000}
    spec["containers"] = [_container(cpu="7")]
    assert requests(spec) == {"cpu": 10_000}


def test_what_the_pod_asks_as_a_whole_goes_before_the_sum_and_overhead_is_on_top() -> None:
    spec = {
        "containers": [_container(cpu="4", gpu="1")],
        "resources": {"requests": {"cpu": "6"}},
        "overhead": {"cpu": "250m", "memory": "64Mi"},
    }
    assert requests(spec) == {"cpu": 6250, GPU: 1, "memory": 64 * 2**20}


def test_memory_that_is_no_whole_number_of_bytes_is_what_kubernetes_makes_of_it() -> None:
    assert requests({"containers": [_container(memory="0.5")]}) == {"memory": 1}
    assert requests({"containers": [_container(memory="1500m")]}) == {"memory": 2}


def test_a_pod_that_asks_for_nothing() -> None:
    assert requests({"containers": [{}]}) == {}
    assert requests({}) == {}
