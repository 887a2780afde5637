"""Every way in which a node can differ from the host that the spec describes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.nodes import node_objects
from tallyard import labels
from tallyard.controllers.hosts.reasons import Cause, sentence
from tallyard.controllers.hosts.survey import hosts_by_name, survey
from tallyard.controllers.hosts.verdict import (
    State,
    Verdict,
    is_kept_off,
    taints_wanted,
    verdict_of,
)
from tallyard.spec.load import load
from tallyard.spec.model import Platform
from tests.running_lab import OVERLAY

type Node = dict[str, Any]
type Change = Callable[[Node], object]

_LOADED = load(OVERLAY).platform
assert _LOADED is not None
PLATFORM = _LOADED
NODES = {node["metadata"]["name"]: node for node in node_objects(PLATFORM, is_gated=True)}
NAMES = sorted(NODES)
PCI = "feature.node.kubernetes.io/pci-10de.present"


def _labels(node: Node) -> dict[str, str]:
    found: dict[str, str] = node["metadata"]["labels"]
    return found


def _allocatable(node: Node) -> dict[str, str]:
    # A simulated host has one mapping for both; a real one has two.
    node["status"] = copy.deepcopy(node["status"])
    node["status"]["allocatable"] = dict(node["status"]["allocatable"])
    found: dict[str, str] = node["status"]["allocatable"]
    return found


def _judged(name: str, *changes: Change) -> Verdict:
    node = copy.deepcopy(NODES[name])
    for change in changes:
        change(node)
    return verdict_of(PLATFORM, hosts_by_name(PLATFORM), node)


def _causes(verdict: Verdict) -> list[tuple[Cause, str]]:
    return [(reason.cause, reason.key) for reason in verdict.reasons]


@pytest.mark.parametrize("name", NAMES)
def test_a_host_as_the_spec_describes_it_is_released(name: str) -> None:
    assert _judged(name) == Verdict(State.RELEASED)


GPU_LABELS = (
    *(labels.NODE_POOL, labels.NODE_MODEL, labels.NODE_BLOCK, labels.NODE_RACK),
    *(labels.GPU_VENDOR, labels.GPU_MODEL, labels.GPU_MEMORY),
)
CPU_LABELS = (labels.NODE_POOL, labels.NODE_BLOCK, labels.NODE_RACK)


@pytest.mark.parametrize(
    ("name", "key"),
    [*(("a800-01", key) for key in GPU_LABELS), *(("cpu-00", key) for key in CPU_LABELS)],
)
def test_each_label_must_be_there_and_be_that_of_the_spec(name: str, key: str) -> None:
    missing = _judged(name, lambda node: _labels(node).pop(key))
    other = _judged(name, lambda node: _labels(node).update({key: "other"}))
    assert (missing.state, _causes(missing)) == (State.HELD, [(Cause.LABEL_MISSING, key)])
    assert (other.state, _causes(other)) == (State.HELD, [(Cause.LABEL_DIFFERS, key)])
    wanted = _labels(NODES[name])[key]
    assert sentence(other.reasons) == f"the label {key} is other, the spec says {wanted}"
    assert sentence(missing.reasons) == f"the label {key} is missing, the spec says {wanted}"


@pytest.mark.parametrize(
    "key", [labels.NODE_MODEL, labels.GPU_VENDOR, labels.GPU_MODEL, labels.GPU_MEMORY]
)
def test_a_host_without_cards_in_the_spec_has_no_labels_of_cards(key: str) -> None:
    verdict = _judged("cpu-00", lambda node: _labels(node).update({key: "x"}))
    assert _causes(verdict) == [(Cause.LABEL_TOO_MUCH, key)]


def test_the_taint_of_the_pool_must_be_there_as_the_spec_has_it() -> None:
    def without(node: Node) -> None:
        node["spec"]["taints"] = []

    def other(node: Node) -> None:
        node["spec"]["taints"][0]["value"] = "inference"

    def softer(node: Node) -> None:
        node["spec"]["taints"][0]["effect"] = "PreferNoSchedule"

    key = labels.POOL_TAINT
    assert _causes(_judged("a100-00", without)) == [(Cause.TAINT_MISSING, key)]
    assert _causes(_judged("a100-00", other)) == [(Cause.TAINT_DIFFERS, key)]
    assert _causes(_judged("a100-00", softer)) == [(Cause.TAINT_DIFFERS, key)]
    assert sentence(_judged("a100-00", other).reasons) == (
        f"the taint is {key}=inference:NoSchedule, the spec says {key}=training:NoSchedule"
    )


def test_a_host_without_cards_has_no_taint_of_a_pool() -> None:
    def tainted(node: Node) -> None:
        node["spec"]["taints"] = [
            {"key": labels.POOL_TAINT, "value": "training", "effect": labels.NO_SCHEDULE}
        ]

    assert _causes(_judged("cpu-00", tainted)) == [(Cause.TAINT_TOO_MUCH, labels.POOL_TAINT)]


@pytest.mark.parametrize(
    ("name", "resource", "amount", "wanted"),
    [
        ("a100-00", "nvidia.com/gpu", "7", "8"),
        ("a100-00", "nvidia.com/gpu", "9", "8"),
        ("a100-00", "nvidia.com/gpu", "0", "8"),
        ("rtx-00", "nvidia.com/gpu", "8", "4"),
        # Four cards, each of which is offered four times.
        ("rtx-02", "nvidia.com/gpu.shared", "4", "16"),
        ("mlu-00", "cambricon.com/mlu", "4", "8"),
    ],
)
def test_a_host_offers_as_many_cards_or_slices_as_it_has(
    name: str, resource: str, amount: str, wanted: str
) -> None:
    verdict = _judged(name, lambda node: _allocatable(node).update({resource: amount}))
    assert _causes(verdict) == [(Cause.CARDS_DIFFER, resource)]
    assert (
        sentence(verdict.reasons) == f"it offers {amount} {resource}, by the spec it has {wanted}"
    )


def test_a_host_that_offers_none_of_its_cards_yet_is_held() -> None:
    """The device plugin has not come up."""
    verdict = _judged("a100-00", lambda node: _allocatable(node).pop("nvidia.com/gpu"))
    assert _causes(verdict) == [(Cause.CARDS_DIFFER, "nvidia.com/gpu")]


@pytest.mark.parametrize(
    ("name", "resource"),
    [
        ("a100-00", "nvidia.com/gpu.shared"),
        ("a100-00", "nvidia.com/mig-1g.5gb"),
        ("a100-00", "cambricon.com/mlu"),
        ("rtx-02", "nvidia.com/gpu"),
        ("cpu-00", "nvidia.com/gpu"),
        ("cpu-00", "iluvatar.ai/gpu"),
        ("cpu-00", "amd.com/gpu"),
    ],
)
def test_a_host_offers_no_other_cards_than_its_own(name: str, resource: str) -> None:
    verdict = _judged(name, lambda node: _allocatable(node).update({resource: "1"}))
    assert _causes(verdict) == [(Cause.CARDS_TOO_MUCH, resource)]
    none = _judged(name, lambda node: _allocatable(node).update({resource: "0"}))
    assert none.state is State.RELEASED


def test_what_is_no_card_does_not_matter() -> None:
    def change(node: Node) -> None:
        _allocatable(node).update({"rdma/hca": "8", "nvidia.com/hostdev": "2", "cpu": "1"})
        _labels(node).update({"corp.example/room": "7", PCI: "true"})

    assert _judged("a100-00", change).state is State.RELEASED


def test_all_differences_are_told_at_once() -> None:
    def change(node: Node) -> None:
        _labels(node)[labels.GPU_MODEL] = "A800-SXM4-80GB"
        node["spec"]["taints"] = []
        _allocatable(node)["nvidia.com/gpu"] = "1"

    verdict = _judged("a100-00", change)
    assert len(verdict.reasons) == 3
    assert sentence(verdict.reasons).count("; ") == 2
    assert sentence(verdict.reasons, "zh").count("；") == 2  # noqa: RUF001


FOREIGN: tuple[tuple[str, Change, str], ...] = (
    (
        "cards",
        lambda n: n["status"]["allocatable"].update({"nvidia.com/gpu": "8"}),
        "8 nvidia.com/gpu",
    ),
    (
        "broken cards",
        lambda n: n["status"]["capacity"].update({"amd.com/gpu": "2"}),
        "2 amd.com/gpu",
    ),
    ("pool", lambda n: _labels(n).update({labels.NODE_POOL: "cpu"}), f"{labels.NODE_POOL}=cpu"),
    ("model", lambda n: _labels(n).update({labels.NODE_MODEL: "x"}), f"{labels.NODE_MODEL}=x"),
    ("gpu label", lambda n: _labels(n).update({"gpu.count": "8"}), "gpu.count=8"),
    ("pci", lambda n: _labels(n).update({PCI: "true"}), f"the label {PCI}=true"),
    (
        "pool taint",
        lambda n: n["spec"].update(
            taints=[{"key": labels.POOL_TAINT, "value": "x", "effect": labels.NO_SCHEDULE}]
        ),
        f"the taint {labels.POOL_TAINT}=x:NoSchedule",
    ),
    (
        "unverified",
        lambda n: n["spec"].update(
            taints=[{"key": labels.UNVERIFIED_TAINT, "effect": labels.NO_SCHEDULE}]
        ),
        f"the taint {labels.UNVERIFIED_TAINT}:NoSchedule",
    ),
)


def _stranger() -> Node:
    return {
        "metadata": {"name": "stranger", "labels": {"kubernetes.io/os": "linux"}},
        "spec": {},
        "status": {"capacity": {"cpu": "64"}, "allocatable": {"cpu": "64"}},
    }


@pytest.mark.parametrize(
    ("change", "told"), [(c, t) for _, c, t in FOREIGN], ids=[n for n, *_ in FOREIGN]
)
def test_a_node_that_the_spec_does_not_name_is_held_for_anything_that_hosts_have(
    change: Change, told: str
) -> None:
    node = _stranger()
    change(node)
    verdict = verdict_of(PLATFORM, hosts_by_name(PLATFORM), node)
    assert verdict.state is State.FOREIGN
    assert told in sentence(verdict.reasons)
    assert "not in the spec" in sentence(verdict.reasons)


def test_a_node_with_nothing_of_a_host_is_left_alone() -> None:
    node = _stranger()
    assert verdict_of(PLATFORM, hosts_by_name(PLATFORM), node) == Verdict(State.IGNORED)
    bare = {"metadata": {"name": "bare"}}
    assert verdict_of(PLATFORM, hosts_by_name(PLATFORM), bare) == Verdict(State.IGNORED)


def test_the_sentence_about_a_foreign_node_does_not_change_by_its_being_held() -> None:
    node = _stranger()
    _labels(node)[PCI] = "true"
    before = verdict_of(PLATFORM, hosts_by_name(PLATFORM), node)
    node["spec"]["taints"] = list(taints_wanted((), is_held=True))
    assert verdict_of(PLATFORM, hosts_by_name(PLATFORM), node) == before


def test_a_survey_has_the_hosts_of_the_spec_in_its_order_and_then_the_others() -> None:
    foreign = _stranger()
    _labels(foreign)[PCI] = "true"
    nodes = [foreign, {"metadata": {"name": "control"}}, *reversed(NODES.values())]
    without = [node for node in nodes if node["metadata"]["name"] != "a100-01"]
    found = survey(PLATFORM, without)
    assert [host.name for host in found] == [*(n.name for n in PLATFORM.nodes), "stranger"]
    states = {host.name: host.verdict.state for host in found}
    assert states["a100-01"] is State.MISSING
    assert states["stranger"] is State.FOREIGN
    gated = {host.name: host.is_as_gated for host in found}
    # They all still carry the taint that they joined with.
    assert gated["a100-00"] is False
    assert gated["a100-01"] is gated["cpu-00"] is True
    assert gated["stranger"] is False


KEYS = st.sampled_from([labels.UNVERIFIED_TAINT, labels.POOL_TAINT, "node.kubernetes.io/not-ready"])
EFFECTS = st.sampled_from([labels.NO_SCHEDULE, "NoExecute", "PreferNoSchedule"])
TAINTS = st.lists(
    st.fixed_dictionaries({"key": KEYS, "effect": EFFECTS}, optional={"value": st.just("x")}),
    max_size=6,
).map(tuple)


@given(taints=TAINTS, is_held=st.booleans())
def test_only_our_own_taint_comes_and_goes_and_twice_is_the_same_as_once(
    taints: tuple[dict[str, str], ...],
    is_held: bool,  # noqa: FBT001 - it is drawn
) -> None:
    def others(found: tuple[Any, ...]) -> list[Any]:
        return [taint for taint in found if taint["key"] != labels.UNVERIFIED_TAINT]

    wanted = taints_wanted(taints, is_held=is_held)
    assert is_kept_off(wanted) is is_held
    assert others(wanted) == others(taints)
    assert taints_wanted(wanted, is_held=is_held) == wanted


CHANGES = st.sampled_from(
    [
        *((lambda n, k=key: _labels(n).pop(k, None)) for key in GPU_LABELS),
        *((lambda n, k=key: _labels(n).update({k: "A800-SXM4-80GB"})) for key in GPU_LABELS),
        *(
            (lambda n, r=name, a=amount: _allocatable(n).update({r: a}))
            for name in ("nvidia.com/gpu", "nvidia.com/gpu.shared", "cambricon.com/mlu")
            for amount in ("0", "4", "8", "16")
        ),
        lambda n: n["spec"].update(taints=[]),
    ]
)


@given(name=st.sampled_from(NAMES), changes=st.lists(CHANGES, max_size=4))
def test_a_host_is_released_only_when_all_that_decides_is_that_of_the_spec(
    name: str, changes: list[Change]
) -> None:
    """Whatever is done to a node, being released means that nothing of it has changed."""
    node = copy.deepcopy(NODES[name])
    for change in changes:
        change(node)
    verdict = verdict_of(PLATFORM, hosts_by_name(PLATFORM), node)
    right = NODES[name]

    def what_decides(each: Node) -> tuple[Any, ...]:
        taints = [t for t in each["spec"].get("taints", []) if t["key"] == labels.POOL_TAINT]
        cards = {k: v for k, v in each["status"]["allocatable"].items() if "/" in k and v != "0"}
        return _labels(each), taints, cards

    assert (verdict.state is State.RELEASED) == (what_decides(node) == what_decides(right))
    assert bool(verdict.reasons) == (verdict.state is State.HELD)
    assert sentence(verdict.reasons, "zh").isascii() is (not verdict.reasons)


def test_a_spec_that_moves_a_host_holds_it_until_it_has_moved(platform: Platform) -> None:
    hosts = {name: host for name, host in hosts_by_name(platform).items() if name != "a100-00"}
    verdict = verdict_of(platform, hosts, NODES["a100-00"])
    assert verdict.state is State.FOREIGN
