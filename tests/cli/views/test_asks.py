"""What a workload asks for."""

from __future__ import annotations

from typing import Any

from tallyard.cli.views.asks import ask_of, is_card, per_pod

MODELS = {"training-a100-1": "A100-SXM4-40GB"}


def _workload(*pod_sets: tuple[int, dict[str, Any]], **status: Any) -> dict[str, Any]:
    sets = [
        {"name": f"set{n}", "count": count, "template": {"spec": spec}}
        for n, (count, spec) in enumerate(pod_sets)
    ]
    return {"metadata": {"name": "w"}, "spec": {"podSets": sets}, "status": status}


def _spec(**limits: str) -> dict[str, Any]:
    names = {name.replace("_", "/", 1): amount for name, amount in limits.items()}
    return {"containers": [{"resources": {"limits": names}}]}


GPU = {"nvidia.com_gpu": "2"}


def test_the_cards_of_all_containers_and_all_pods_are_added_up() -> None:
    two_containers = {"containers": _spec(**GPU)["containers"] * 2}
    ask = ask_of(_workload((3, two_containers), (1, _spec(**GPU))), MODELS)
    assert (ask.cards, ask.text("en")) == (14, "14 x nvidia.com/gpu")


def test_the_model_is_the_one_given_before_the_one_named() -> None:
    spec = {**_spec(**GPU), "nodeSelector": {"gpu.model": "A800-SXM4-80GB"}}
    assert ask_of(_workload((1, spec)), MODELS).model == "A800-SXM4-80GB"
    given = {"name": "set0", "flavors": {"nvidia.com/gpu": "training-a100-1"}}
    admitted = _workload((1, spec), admission={"podSetAssignments": [given]})
    assert ask_of(admitted, MODELS).model == "A100-SXM4-40GB"


def test_partial_admission_counts_the_pods_that_were_given() -> None:
    given = {"name": "set0", "count": 4, "flavors": {}}
    workload = _workload((8, _spec(**GPU)), admission={"podSetAssignments": [given]})
    assert ask_of(workload, MODELS).cards == 8


def test_a_device_that_no_queue_counts_is_no_card() -> None:
    spec = _spec(**GPU, rdma_hca="1")
    ask = ask_of(_workload((4, spec)), MODELS, {"cpu", "nvidia.com/gpu"})
    assert (ask.cards, ask.resource) == (8, "nvidia.com/gpu")


def test_a_slice_is_not_called_a_card() -> None:
    spec = {**_spec(**{"nvidia.com_gpu.shared": "1"}), "nodeSelector": {"gpu.model": "RTX-4090"}}
    assert ask_of(_workload((3, spec)), MODELS).text("en") == "3 x RTX-4090 slice"
    assert ask_of(_workload((3, spec)), MODELS).text("zh") == "3 x RTX-4090 切片"


def test_work_without_cards_asks_for_vcpu() -> None:
    assert ask_of(_workload((3, _spec(cpu="1500m"))), MODELS).text("en") == "4.5 vCPU"


def test_only_a_vendors_resource_is_a_card() -> None:
    assert [
        r for r in ("cpu", "nvidia.com/gpu", "hugepages-2Mi", "cambricon.com/mlu") if is_card(r)
    ] == [
        "nvidia.com/gpu",
        "cambricon.com/mlu",
    ]


def test_an_init_container_that_needs_more_counts() -> None:
    spec = {
        "initContainers": [{"resources": {"requests": {"cpu": "6"}}}],
        "containers": [{"resources": {"requests": {"cpu": "500m", "memory": "0.5"}}}],
    }
    assert ask_of(_workload((2, spec)), MODELS).text("en") == "12 vCPU"
    assert per_pod(_workload((2, spec))) == {"cpu": 6000, "memory": 1}
