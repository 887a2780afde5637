"""What each pool promises, on a real control plane: who gets cards, and from whom.

A small platform with a pool of each kind: training that keeps what it has borrowed and training
that gives it back, services likewise, slices, and elastic work on idle training cards.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from lab.toolchain.ensure import Toolchain
from tallyard import labels
from tallyard.cli.main import run
from tests.lab import small_platform, work
from tests.running_lab import RunningLab

GRACE_SECONDS = 10
# What it may take beyond that until a job is bound to the cards that others had.
BOUND_SECONDS = 10
SCALE_SECONDS = 30

PLATFORM = f"""
apiVersion: tallyard.dev/v1
kind: Platform
metadata: {{name: pools}}
accelerators:
  A100-SXM4-40GB: {{vendor: nvidia, memory: 40Gi, rate: 30, origin: measured}}
  A800-SXM4-80GB: {{vendor: nvidia, memory: 80Gi, rate: 54, origin: measured}}
  RTX-4090: {{vendor: nvidia, memory: 24Gi, rate: 12, origin: measured}}
topology: [block, rack, host]
priorities:
  - {{name: inference, value: 100000}}
  - {{name: training, value: 10000}}
  - {{name: elastic, value: 100, preemptible: true}}
pools:
  training: {{models: [A100-SXM4-40GB, A800-SXM4-80GB], priority: training, borrowed: keep}}
  returning: {{models: [A100-SXM4-40GB], priority: training, borrowed: reclaim}}
  inference: {{models: [RTX-4090], work: inference, priority: inference, burst: 50%, scale-within: {SCALE_SECONDS}s}}
  flexible: {{models: [RTX-4090], work: inference, priority: inference, burst: 100%, borrowed: reclaim}}
  shared: {{models: [RTX-4090], work: inference, priority: inference, sharing: {{time-slicing: 4}}}}
  elastic: {{borrows-from: training, cpu: true, priority: elastic, termination-grace: {GRACE_SECONDS}s}}
defaults: {{per-card: {{cpu: 4, memory: 4Gi}}, ephemeral-storage: 20Gi}}
tiers:
  gold:
    weight: 1
    core-hours: 400000/month
    max-time: 24h
    cards:
      training: {{A100-SXM4-40GB: 8, A800-SXM4-80GB: 4}}
      returning: {{A100-SXM4-40GB: 4}}
      inference: {{RTX-4090: 4}}
      flexible: {{RTX-4090: 2}}
      shared: {{RTX-4090: 2}}
    borrow: {{training: 8, returning: 4}}
  silver:
    weight: 1
    core-hours: 400000/month
    max-time: 24h
    cards:
      training: {{A100-SXM4-40GB: 8}}
      returning: {{A100-SXM4-40GB: 4}}
      inference: {{RTX-4090: 2}}
      flexible: {{RTX-4090: 2}}
    borrow: {{training: 8, returning: 4}}
overcommit: {{core-hours: 10}}
projects:
  nlp: {{tier: gold, default-user: ann, users: {{ann: {{}}}}}}
  vision: {{tier: silver, default-user: bob, users: {{bob: {{}}}}}}
"""

OVERLAY = """
base: platform.yaml
nodes:
  - {hosts: "a100-[00-01]", pool: training, model: A100-SXM4-40GB, cards: 8, cpu: 128, memory: 1Ti, block: b0, rack: r0}
  - {hosts: a800-00, pool: training, model: A800-SXM4-80GB, cards: 8, cpu: 128, memory: 1Ti, block: b0, rack: r1}
  - {hosts: back-00, pool: returning, model: A100-SXM4-40GB, cards: 8, cpu: 128, memory: 1Ti, block: b0, rack: r2}
  - {hosts: "rtx-[00-01]", pool: inference, model: RTX-4090, cards: 4, cpu: 64, memory: 256Gi, block: b1, rack: r3}
  - {hosts: flex-00, pool: flexible, model: RTX-4090, cards: 4, cpu: 64, memory: 256Gi, block: b1, rack: r3}
  - {hosts: slice-00, pool: shared, model: RTX-4090, cards: 4, cpu: 64, memory: 256Gi, block: b1, rack: r3}
  - {hosts: cpu-00, pool: cpu, cpu: 64, memory: 256Gi, block: b1, rack: r4}
"""

USERS = {"nlp": "ann", "vision": "bob"}
A100 = "A100-SXM4-40GB"
SLICE = "nvidia.com/gpu.shared"
SYSTEM = "kube-system"
type Item = dict[str, Any]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, toolchain: Toolchain) -> Iterator[RunningLab]:
    folder = tmp_path_factory.mktemp("pools")
    with small_platform.running(folder, "pools", PLATFORM, OVERLAY, toolchain) as up:
        yield up


@pytest.fixture
def submitted(lab: RunningLab) -> Iterator[list[Item]]:
    """What a test has submitted; it is removed after it."""
    items: list[Item] = []
    yield items
    if items:
        work.remove(lab, *items)


class Story:
    """What the people of a test do, and what they see."""

    def __init__(self, lab: RunningLab, items: list[Item]) -> None:
        self.lab, self._items = lab, items

    def submit(self, item: Item) -> None:
        """Submit work as the user of its project."""
        self._items.append(item)
        work.submit(self.lab, item, user=USERS[item["metadata"]["namespace"]])

    def runs(self, name: str, project: str, pods: int) -> None:
        """Wait until so many pods run."""
        work.wait(lambda: len(work.running(self.lab, name, project)) == pods, 60)

    def seconds_to_bind(self, pod: Item) -> float:
        """Return how long after its submission a pod had a host, by the cluster's own times."""
        owners = {pod["metadata"]["name"], pod["metadata"]["labels"].get(work.JOB_NAME)}
        (record,) = (
            each
            for each in work.workloads(self.lab, pod["metadata"]["namespace"])
            if work.owner_of(each) in owners
        )
        bound = work.condition(pod, "PodScheduled")
        assert bound["status"] == "True"
        begin, end = record["metadata"]["creationTimestamp"], bound["lastTransitionTime"]
        return (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()

    def scale(self, name: str, project: str, replicas: int) -> None:
        """Scale a service as the user of its project."""
        done = self.lab.kubectl(
            "scale", "deployment", name, "-n", project, f"--replicas={replicas}",
            user=USERS[project],
        )  # fmt: skip
        assert done.returncode == 0, done.stderr

    def uids(self, name: str, project: str) -> set[str]:
        """Return which of its pods run now."""
        return {p["metadata"]["uid"] for p in work.running(self.lab, name, project)}

    def evicted(self, project: str) -> set[str]:
        """Return whose work was stopped for others."""
        return {
            work.owner_of(record)
            for record in work.workloads(self.lab, project)
            if work.condition(record, "Preempted")
        }

    def pending(self, name: str, project: str) -> str:
        """Return why work waits; empty while it does not."""
        told = work.condition(work.workload(self.lab, name, project), "QuotaReserved")
        return str(told.get("message", "")) if told.get("status") == "False" else ""


@pytest.fixture
def story(lab: RunningLab, submitted: list[Item]) -> Story:
    return Story(lab, submitted)


def test_elastic_work_has_the_idle_training_cards_and_gives_exactly_what_is_wanted_back(
    story: Story,
) -> None:
    """Three elastic jobs hold all 24 cards; a training job of 8 A100 stops one of them."""
    for number, model in enumerate((A100, A100, "A800-SXM4-80GB")):
        story.submit(_job(f"idle-{number}", "elastic", 8, "vision", model=model))
    for number in range(3):
        story.runs(f"idle-{number}", "vision", 1)
    story.submit(_job("train", "training", 8, "nlp", model=A100))
    story.runs("train", "nlp", 1)
    (pod,) = work.running(story.lab, "train", "nlp")
    assert story.seconds_to_bind(pod) <= GRACE_SECONDS + BOUND_SECONDS
    (victim,) = story.evicted("vision")
    assert victim in {"idle-0", "idle-1"}
    (record,) = (r for r in work.workloads(story.lab, "vision") if work.owner_of(r) == victim)
    assert work.condition(record, "Preempted")["reason"] == "InCohortReclamation"
    still = [n for n in range(3) if work.running(story.lab, f"idle-{n}", "vision")]
    assert len(still) == 2


def test_training_on_borrowed_cards_is_no_victim_when_the_owner_comes_back(story: Story) -> None:
    """The project nlp runs on its own 8 and on vision's 8; the pool says `keep`, so vision waits."""
    for name in ("own", "borrowed"):
        story.submit(_job(name, "training", 8, "nlp", model=A100))
        story.runs(name, "nlp", 1)
    story.submit(_job("back", "training", 8, "vision", model=A100))
    work.wait(lambda: bool(story.pending("back", "vision")))
    assert work.stays(lambda: len(work.running(story.lab, "borrowed", "nlp")) == 1, 8)
    assert not story.evicted("nlp")
    assert story.pending("back", "vision")
    # When the borrower has ended, the owner has its cards.
    story.lab.kubectl("delete", "job", "borrowed", "-n", "nlp")
    story.runs("back", "vision", 1)


def test_where_the_pool_says_reclaim_the_owner_has_its_cards_back_at_once(story: Story) -> None:
    for name in ("own", "borrowed"):
        story.submit(_job(name, "returning", 4, "nlp"))
        story.runs(name, "nlp", 1)
    story.submit(_job("back", "returning", 4, "vision"))
    story.runs("back", "vision", 1)
    assert len(story.evicted("nlp")) == 1
    assert work.reserved(story.lab, "nlp-returning") == 4


def test_a_burst_has_what_no_queue_owns_and_never_a_reservation(story: Story) -> None:
    """8 cards: nlp owns 4 and may burst by 2, vision owns 2, and 2 are nobody's."""
    story.submit(work.service("web", "inference", namespace="nlp", replicas=8))
    story.runs("web", "nlp", 6)
    before = story.uids("web", "nlp")
    story.submit(work.service("eye", "inference", namespace="vision", replicas=2))
    story.runs("eye", "vision", 2)
    # Its own burst finds the rest taken, and nobody is stopped for it.
    story.scale("eye", "vision", 3)
    assert work.stays(lambda: len(work.running(story.lab, "eye", "vision")) == 2, 8)
    assert story.uids("web", "nlp") == before
    assert not story.evicted("nlp")


def test_a_reservation_is_there_for_a_service_that_scales_out_again(story: Story) -> None:
    """While nlp uses 2 of its 4 cards, vision's burst gets only what is nobody's."""
    story.submit(work.service("web", "inference", namespace="nlp", replicas=2))
    story.runs("web", "nlp", 2)
    story.submit(work.service("eye", "inference", namespace="vision", replicas=6))
    story.runs("eye", "vision", 3)
    assert work.stays(lambda: len(work.running(story.lab, "eye", "vision")) == 3, 5)
    before = story.uids("web", "nlp")
    story.scale("web", "nlp", 4)
    story.runs("web", "nlp", 4)
    new = [p for p in work.running(story.lab, "web", "nlp") if p["metadata"]["uid"] not in before]
    assert len(new) == 2
    assert all(story.seconds_to_bind(pod) <= SCALE_SECONDS for pod in new)


def test_where_the_pool_says_reclaim_only_the_burst_is_taken_back(story: Story) -> None:
    """4 cards, 2 for each: nlp bursts onto vision's 2 and loses exactly those."""
    story.submit(work.service("web", "flexible", namespace="nlp", replicas=4))
    story.runs("web", "nlp", 4)
    before = story.uids("web", "nlp")
    story.submit(work.service("eye", "flexible", namespace="vision", replicas=2))
    story.runs("eye", "vision", 2)
    work.wait(lambda: work.reserved(story.lab, "nlp-flexible") == 2)
    assert work.stays(lambda: work.reserved(story.lab, "nlp-flexible") == 2, 5)
    assert len(before & story.uids("web", "nlp")) == 2


def test_slices_are_a_resource_of_their_own(story: Story) -> None:
    """8 slices are 2 cards; whole cards are not to be had there, which is told at once."""
    story.submit(_slices("slices", 8))
    story.runs("slices", "nlp", 1)
    assert work.hosts_of(story.lab, "slices", "nlp") == ["slice-00"]
    assert work.reserved(story.lab, "nlp-shared", SLICE) == 8
    story.submit(_slices("more", 1))
    work.wait(lambda: f"insufficient unused quota for {SLICE}" in story.pending("more", "nlp"))
    whole = _job("whole", "shared", 1, "nlp", priority="inference")
    refused = story.lab.kubectl("create", "-f", "-", objects=[whole], user="ann")
    assert refused.returncode != 0
    assert f"queue shared has no {work.CARD}: ask for what it has ({SLICE})" in refused.stderr


def test_the_scheduler_stops_nobody_for_a_pod_of_a_higher_priority(story: Story) -> None:
    """A pod outside the queues with the class `training`, and elastic work on every card.

    Only in a system namespace can there be such a pod.
    """
    for number in range(2):
        story.submit(_job(f"idle-{number}", "elastic", 8, "vision", model=A100))
        story.runs(f"idle-{number}", "vision", 1)
    before = story.uids("idle-0", "vision") | story.uids("idle-1", "vision")
    name = {"name": "newcomer", "namespace": SYSTEM}
    newcomer = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": name,
        "spec": {
            "priorityClassName": "training",
            "nodeSelector": {labels.GPU_MODEL: A100, labels.NODE_POOL: "training"},
            "tolerations": [{"key": labels.POOL_TAINT, "operator": "Exists"}],
            "containers": [work.container(8)],
        },
    }
    work.submit(story.lab, newcomer)
    try:
        work.wait(lambda: _unschedulable(story.lab))
        assert work.stays(
            lambda: story.uids("idle-0", "vision") | story.uids("idle-1", "vision") == before, 8
        )
        pod = story.lab.get("pod", "newcomer", "-n", SYSTEM)
        assert (pod["spec"]["priority"], pod["spec"]["preemptionPolicy"]) == (10000, "Never")
    finally:
        story.lab.kubectl("delete", "pod", "newcomer", "-n", SYSTEM)


def test_a_job_waits_for_its_model_and_is_told_what_another_one_costs(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both A100 hosts are full; A800 has four of its own and four more to borrow."""
    for name in ("own", "borrowed"):
        story.submit(_job(name, "training", 8, "nlp", model=A100))
        story.runs(name, "nlp", 1)
    story.submit(_job("waits", "training", 2, "nlp", model=A100))
    work.wait(lambda: bool(story.pending("waits", "nlp")))
    assert work.stays(lambda: not work.pods_of(story.lab, "waits", "nlp"), 5)
    kubeconfig = str(story.lab.folder.kubeconfigs / "ann")
    assert run(["queue", "--kubeconfig", kubeconfig, "--project", "nlp"]) == 0
    assert (
        "A800-SXM4-80GB has 8 free, at 54 instead of 30 core-hours a card and hour: "
        "name it by nodeSelector gpu.model"
    ) in capsys.readouterr().out


def test_work_of_one_pool_never_stands_on_another_ones_hosts(story: Story) -> None:
    """All queues at once, each with more than it can have."""
    story.submit(_job("train", "training", 1, "nlp", pods=10))
    story.submit(_job("back", "returning", 1, "nlp", pods=10))
    story.submit(_job("idle", "elastic", 1, "vision", pods=4))
    story.submit(work.service("web", "inference", namespace="nlp", replicas=6))
    story.submit(work.service("flex", "flexible", namespace="nlp", replicas=4))
    story.runs("web", "nlp", 6)
    story.runs("flex", "nlp", 4)
    story.runs("idle", "vision", 4)
    pools = {
        "train": {"training"},
        "back": {"returning"},
        "web": {"inference"},
        "flex": {"flexible"},
        "idle": {"training"},
    }
    pool_of = {
        node["metadata"]["name"]: node["metadata"]["labels"][labels.NODE_POOL]
        for node in story.lab.get("nodes")["items"]
    }
    for name, allowed in pools.items():
        project = "vision" if name == "idle" else "nlp"
        found = {pool_of[host] for host in work.hosts_of(story.lab, name, project)}
        assert found <= allowed, name


def _job(name: str, queue: str, cards: int, project: str, **rest: Any) -> Item:
    priority = "elastic" if queue == "elastic" else "training"
    return work.job(name, queue, cards, namespace=project, **{"priority": priority, **rest})


def _slices(name: str, slices: int) -> Item:
    return work.job(name, "shared", slices, namespace="nlp", priority="inference", resource=SLICE)


def _unschedulable(lab: RunningLab) -> bool:
    pod = lab.get("pod", "newcomer", "-n", SYSTEM)
    return any(
        each.get("reason") == "Unschedulable" for each in pod["status"].get("conditions", ())
    )
