"""Kueue's messages in plain words: each form that version 0.17.0 writes."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tallyard.cli.kueue_messages import SHAPES
from tallyard.cli.reasons import explain
from tallyard.cli.shortage import Facts
from tallyard.cli.views.quotas import Quota

A100, A800, CPU = "training-a100-1", "training-a800-1", "cpu-1"
QUOTAS = {
    A100: Quota(A100, "A100-SXM4-40GB", "nvidia.com/gpu", 16, 4, 0, 8),
    A800: Quota(A800, "A800-SXM4-80GB", "nvidia.com/gpu", 16, 16, 0, 0),
    CPU: Quota(CPU, "cpu", "cpu", 0, 0, 0, None),
}
FACTS = Facts("nlp-training", QUOTAS, cards=2)
MAIN = "couldn't assign flavors to pod set main: "


def _short(flavor: str, n: str, resource: str = "nvidia.com/gpu") -> str:
    return f"insufficient unused quota for {resource} in flavor {flavor}, {n} more needed"


# What Kueue writes, and what we say. The first column is copied from its format strings.
SAYINGS = [
    (
        MAIN + _short(A800, "2"),
        "waits for 2 more A800-SXM4-80GB in queue nlp-training: 16 of 16 in use",
    ),
    (
        MAIN + _short(A100, "1"),
        "waits for 1 more A100-SXM4-40GB in queue nlp-training: 4 of 16 in use, the rest is lent to other queues",
    ),
    (
        MAIN + _short("new-flavor", "2"),
        "waits for 2 more new-flavor in queue nlp-training",
    ),
    (
        MAIN + _short(CPU, "500m", "cpu"),
        "waits for 500m more vCPU on cpu-1 hosts in queue nlp-training",
    ),
    (
        MAIN + _short(A800, "4Gi", "memory"),
        "waits for 4Gi more memory on A800-SXM4-80GB hosts in queue nlp-training",
    ),
    (
        MAIN
        + f"insufficient quota for nvidia.com/gpu in flavor {A800}, previously considered podsets requests (8) + current podset request (16) > maximum capacity (16)",
        "can never run as it is: asks for 24 A800-SXM4-80GB, and at most 16 can be had in queue nlp-training",
    ),
    (
        MAIN
        + f"insufficient quota for memory in flavor {A800}, previously considered podsets requests (1Gi) + current podset request (4Ti) > maximum capacity (2Ti)",
        "can never run as it is: asks for 4Ti memory on A800-SXM4-80GB hosts, and at most 2Ti can be had in queue nlp-training",
    ),
    (
        MAIN + 'topology "cluster-1" doesn\'t allow to fit any of 2 pod(s)',
        "no host (or group of hosts) has room for its 2 pods as asked",
    ),
    (
        MAIN
        + 'topology "cluster-1" doesn\'t allow to fit any of 1 pod(s). Total nodes: 4; excluded: nodeSelector: 2, resource "nvidia.com/gpu": 1, taint "tallyard.dev/pool=training:NoSchedule": 1',
        "no host (or group of hosts) has room for its 1 pod as asked (of 4 hosts: 2 do not match the selector, 1 without enough free nvidia.com/gpu, 1 tainted tallyard.dev/pool=training:NoSchedule)",
    ),
    (
        MAIN + 'topology "cluster-1" allows to fit only 3 out of 4 pod(s)',
        "only 3 of 4 pods find a place together",
    ),
    (
        MAIN + "no requested topology level: example.com/zone",
        "asks for the topology level example.com/zone, which this platform does not have",
    ),
    (
        MAIN
        + f"untolerated taint {{tallyard.dev/pool training NoSchedule <nil>}} in flavor {A100}",
        "does not tolerate the taint of A100-SXM4-40GB ({tallyard.dev/pool training NoSchedule <nil>})",
    ),
    (
        MAIN + "flavor gone not found",
        "the queue names the flavor gone, which does not exist: tell your administrator",
    ),
    (
        MAIN + "resource cambricon.com/mlu unavailable in ClusterQueue",
        "this queue gives no cambricon.com/mlu: use a queue that has it (`tally queue`)",
    ),
    (
        "LocalQueue trainin doesn't exist",
        "there is no queue trainin in this project: see `tally queue` and correct the label kueue.x-k8s.io/queue-name",
    ),
    (
        "LocalQueue  doesn't exist",
        "names no queue: set the label kueue.x-k8s.io/queue-name (`tally queue` lists them)",
    ),
    (
        "ClusterQueue nlp-training is inactive",
        "the queue nlp-training is not ready: tell your administrator",
    ),
    (
        "ClusterQueue nlp-training is stopped",
        "the queue nlp-training is stopped by an administrator",
    ),
    ("The LocalQueue is stopped", "the queue is stopped by an administrator"),
    ("ClusterQueue nlp-x not found", "the queue nlp-x does not exist: tell your administrator"),
    (
        "Workload namespace doesn't match ClusterQueue selector",
        "this queue belongs to another project",
    ),
    ("The workload has failed admission checks", "an admission check refused it"),
    ("Admission is gated by: tallyard.dev/core-hours", "is held back by tallyard.dev/core-hours"),
    ("The workload is deactivated", "is switched off (spec.active is false)"),
    (
        "The workload is deactivated due to exceeding the maximum number of re-queuing retries",
        "was stopped; its pods were not ready in time, again and again; it is no longer tried",
    ),
    (
        "Exceeded the PodsReady timeout nlp/job-train-1",
        "its pods were not ready in time; its quota was given back",
    ),
    (
        "Preempted to accommodate a workload (UID: 1-2, JobUID: 3-4) due to reclamation within the cohort; preemptor path: /cluster/training/nlp-training; preemptee path: /cluster/training/nlp-elastic",
        "was stopped for a job that had the right to its place (reclamation within the cohort)",
    ),
    ("Job has reached the specified backoff limit", "its pods failed as often as they may"),
    (
        "Workload no longer fits after processing another workload",
        "another job was just ahead of it; it is tried again",
    ),
]


@pytest.mark.parametrize(("message", "said"), SAYINGS)
def test_a_message_is_said_in_plain_words(message: str, said: str) -> None:
    assert explain(message, FACTS) == said


@pytest.mark.parametrize(("message", "said"), SAYINGS)
def test_the_same_message_is_said_in_chinese_with_the_same_numbers(message: str, said: str) -> None:
    chinese = explain(message, FACTS, "zh")
    assert re.search(r"[\u4e00-\u9fff]", chinese)
    assert sorted(re.findall(r"\d+", chinese)) == sorted(re.findall(r"\d+", said))


def test_models_that_the_job_left_out_are_not_worth_a_word_beside_a_shortage() -> None:
    message = f"{MAIN}flavor {A100} doesn't match node affinity, {_short(A800, '2')}"
    assert "A100" not in explain(message, FACTS)


def test_models_that_the_job_left_out_are_named_when_nothing_else_is_wrong() -> None:
    said = explain(f"{MAIN}flavor {A100} doesn't match node affinity", FACTS)
    assert said == "its node selector or affinity leaves out A100-SXM4-40GB"


def test_several_models_that_are_left_out_are_told_in_one_sentence() -> None:
    """A selector for a model that the queue does not have."""
    flavors = ", ".join(f"flavor {name} doesn't match node affinity" for name in (A100, A800))
    assert explain(MAIN + flavors, FACTS) == (
        "its node selector or affinity leaves out A100-SXM4-40GB, A800-SXM4-80GB"
    )


def test_all_shortages_of_several_pod_sets_are_told_once_each() -> None:
    message = (
        f"{MAIN}{_short(A800, '2')}; couldn't assign flavors to pod set worker: "
        f"{_short(A800, '2')}, {_short(A100, '1')}"
    )
    said = explain(message, FACTS)
    assert said.count("A800") == 1
    assert said.count("A100") == 1


def test_a_preemption_under_way_is_told_behind_the_reason() -> None:
    message = f"{MAIN}{_short(A800, '2')}. Pending the preemption of 3 workload(s)"
    said = explain(message, FACTS)
    assert said.endswith("; 3 running jobs of lower priority are being stopped for it")
    assert said.startswith("waits for 2 more A800-SXM4-80GB")


@pytest.mark.parametrize(
    "message", ["something that nobody has written yet", "a, b; c. d", "配额不足 (later version)"]
)
def test_an_unknown_message_is_shown_as_it_is(message: str) -> None:
    assert explain(message, FACTS) == message
    assert explain(message, FACTS, "zh") == message


NINE = 'topology "cluster-1" doesn\'t allow to fit any of 1 pod(s). Total nodes: 4; excluded: resource "nvidia.com/gpu": 4'
PODS = {"nvidia.com/gpu": 9, "cpu": 16000, "memory": 2**37}


def _facts(largest: dict[str, dict[str, int]] | None, *, is_idle: bool = False) -> Facts:
    quotas = {name: replace(quota, is_idle=is_idle) for name, quota in QUOTAS.items()}
    return Facts("nlp-training", quotas, pool="training", per_pod=PODS, largest=largest)


def test_a_pod_that_is_larger_than_the_largest_host_can_never_run() -> None:
    facts = _facts({A100: {"nvidia.com/gpu": 8}, A800: {"nvidia.com/gpu": 4}})
    assert explain(MAIN + NINE, facts) == (
        "can never run as it is: one pod asks for 9 cards, the largest host of training has 8"
    )


def test_who_may_not_read_the_hosts_is_told_no_more_than_is_known() -> None:
    busy = explain(MAIN + NINE, _facts(None))
    assert busy == "no host of training has 9 cards free for its pod"
    idle = explain(MAIN + NINE, _facts(None, is_idle=True))
    assert idle == busy + ", though none is in use: ask for less in one pod"


def test_a_pod_that_only_has_to_wait_for_a_host_is_not_told_never() -> None:
    facts = _facts({A100: {"nvidia.com/gpu": 16}})
    assert explain(MAIN + NINE, facts) == "no host of training has 9 cards free for its pod"


@pytest.mark.parametrize(
    ("resource", "largest", "said"),
    [
        ("cpu", 8000, "one pod asks for 16 vCPU, the largest host of training has 8"),
        ("memory", 2**36, "one pod asks for 128Gi memory, the largest host of training has 64Gi"),
    ],
)
def test_a_pod_may_be_too_large_in_vcpu_or_memory(resource: str, largest: int, said: str) -> None:
    message = MAIN + NINE.replace("nvidia.com/gpu", resource)
    assert explain(message, _facts({A800: {resource: largest}})).endswith(said)


def test_a_model_that_the_queue_does_not_have_is_named_with_those_it_has() -> None:
    flavors = ", ".join(f"flavor {name} doesn't match node affinity" for name in (A100, A800))
    facts = Facts("nlp-training", QUOTAS, pool="training", asked_model="H100")
    assert explain(MAIN + flavors, facts) == (
        "H100 is not in queue training, which has A100-SXM4-40GB, A800-SXM4-80GB"
    )


def _too_large(flavor: str) -> str:
    return f"insufficient quota for nvidia.com/gpu in flavor {flavor}, previously considered podsets requests (0) + current podset request (40) > maximum capacity (24)"


def test_what_can_never_be_on_two_models_is_told_of_both_and_begins_once() -> None:
    said = explain(f"{MAIN}{_too_large(A100)}, {_too_large(A800)}", FACTS)
    assert said.count("can never run") == 1
    assert "A100-SXM4-40GB" in said
    assert "A800-SXM4-80GB" in said


def test_a_model_that_is_too_small_is_no_never_where_another_may_do() -> None:
    said = explain(f"{MAIN}{_too_large(A100)}, {_short(A800, '2')}", FACTS)
    assert "never" not in said
    assert "at most 24" in said
    assert "waits for 2 more A800" in said


def test_hosts_that_were_left_out_for_several_models_are_told_in_one_sentence() -> None:
    one = 'topology "cluster-1" doesn\'t allow to fit any of 2 pod(s). Total nodes: {}; excluded: topologyDomain: {}'
    said = explain(f"{MAIN}{one.format(4, 2)}, {one.format(6, 3)}", FACTS)
    assert said.count("no host") == 1
    assert said.endswith(
        "(of 4 hosts: 2 in other racks or blocks; of 6 hosts: 3 in other racks or blocks)"
    )


def test_the_figures_of_now_are_not_told_of_a_message_of_the_past() -> None:
    assert explain(MAIN + _short(A800, "2"), replace(FACTS, is_now=False)) == (
        "waits for 2 more A800-SXM4-80GB in queue nlp-training"
    )


def test_what_is_unknown_beside_what_is_known_is_not_dropped() -> None:
    message = f"{MAIN}{_short(A800, '2')}, a reason of a later version"
    assert explain(message, FACTS).endswith("; a reason of a later version")


def test_kueue_writes_no_form_that_the_table_does_not_know() -> None:
    """Each format string of Kueue's own that says why not; a new version may add some."""
    forms = (Path(__file__).parent / "data" / "kueue-0.17.0-messages.txt").read_text().splitlines()
    assert len(forms) > 30
    unknown = [form for form in forms if form and not any(s.pattern.search(form) for s in SHAPES)]
    assert unknown == []


@pytest.mark.parametrize(("lang", "thing"), [("en", "RTX-4090 slice"), ("zh", "RTX-4090 切片")])
def test_a_job_that_waits_for_slices_is_not_told_of_cards(lang: str, thing: str) -> None:
    shared, slices = "shared-rtx-1", "nvidia.com/gpu.shared"
    facts = Facts("nlp-shared", {shared: Quota(shared, "RTX-4090", slices, 8, 8, 0, 0)}, cards=2)
    said = explain(MAIN + _short(shared, "2", slices), facts, lang)
    assert thing in said
    assert replace(facts, asked_model="RTX-4090").wanted() == (shared,)
