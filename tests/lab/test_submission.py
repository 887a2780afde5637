"""What a person submits becomes right by itself: whose it is, where it goes, what it leaves.

On a whole lab of its own.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from lab.folder import CHECKOUT
from lab.toolchain.ensure import Toolchain
from tallyard import labels
from tallyard.cli.main import run
from tests.lab import small_platform, work
from tests.running_lab import RunningLab

NLP, VISION = "nlp", "vision"
# A cron schedule has no smaller unit.
MINUTE_SECONDS = 60
PIPELINE = "ci"
type Submit = Callable[..., None]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, toolchain: Toolchain) -> Iterator[RunningLab]:
    """The shipped spec on a lab that these tests may fill."""
    stacks = CHECKOUT / "stacks"
    platform, local = ((stacks / f"{name}.yaml").read_text() for name in ("platform", "local"))
    folder = tmp_path_factory.mktemp("submission")
    with small_platform.running(folder, "submission", platform, local, toolchain) as running:
        yield running


def _job(name: str, cards: int = 1, queue: str = "training", **told: Any) -> dict[str, Any]:
    """Return a Job as short as a person writes it."""
    container: dict[str, Any] = {"name": "main", "image": "x:1"}
    if cards:
        container["resources"] = {"limits": {work.CARD: cards}}
    metadata: dict[str, Any] = {"name": name, "annotations": told.get("annotations", {})}
    if queue:
        metadata["labels"] = {labels.QUEUE_NAME: queue}
    pods = told.get("pods", 1)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {
            "parallelism": pods,
            "completions": pods,
            "template": {
                "metadata": {"annotations": {work.RUN: told.get("run", "1h")}},
                "spec": {"restartPolicy": "Never", "containers": [container]},
            },
        },
    }


@pytest.fixture
def submit(lab: RunningLab) -> Iterator[Submit]:
    """Submit in the project nlp as a person does; it is removed after the test."""
    submitted: list[dict[str, Any]] = []

    def send(user: str, *objects: dict[str, Any]) -> None:
        submitted.extend(_in(NLP, item) for item in objects)
        work.submit(lab, *objects, user=user)

    yield send
    if submitted:
        work.remove(lab, *submitted)


@pytest.fixture
def pipelines(lab: RunningLab) -> Iterator[dict[str, str]]:
    """A service account that is a member of its project, by the project: its login."""
    made = {namespace: _pipeline(namespace) for namespace in (VISION, NLP)}
    work.submit(lab, *(item for items in made.values() for item in items))
    yield {namespace: labels.account_login(namespace, PIPELINE) for namespace in made}
    for namespace, items in made.items():
        work.remove(lab, *items, _in(namespace, _job("by-ci")))


def _in(namespace: str, item: dict[str, Any]) -> dict[str, Any]:
    return {**item, "metadata": {**item["metadata"], "namespace": namespace}}


def _pipeline(namespace: str) -> tuple[dict[str, Any], ...]:
    metadata = {"name": PIPELINE, "namespace": namespace}
    return (
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata},
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": metadata,
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": labels.MEMBER_ROLE,
            },
            "subjects": [{"kind": "ServiceAccount", **metadata}],
        },
    )


def test_work_is_asked_for_by_the_memory_of_its_cards(lab: RunningLab, submit: Submit) -> None:
    asked = {labels.GPU_MEMORY_LEAST: "60Gi"}
    submit("li.wei", _job("by-memory", annotations=asked))
    work.wait(lambda: bool(work.running(lab, "by-memory", NLP)))
    assert all(host.startswith("a800-") for host in work.hosts_of(lab, "by-memory", NLP))


def test_work_without_a_model_waits_for_the_default_one_and_is_told_what_another_would_cost(
    lab: RunningLab,
    submit: Submit,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # 16 of its own quota and 8 borrowed.
    submit("li.wei", _job("fill", cards=8, pods=3))
    work.wait(lambda: len(work.running(lab, "fill", NLP)) == 3)
    submit("li.wei", _job("modest", cards=2))
    work.wait(lambda: work.condition(work.workload(lab, "modest", NLP), "QuotaReserved") != {})
    assert work.stays(lambda: not work.pods_of(lab, "modest", NLP), seconds=5)
    monkeypatch.setenv("KUBECONFIG", str(lab.folder.kubeconfigs / "li.wei"))
    assert run(["queue", "-p", "nlp"]) == 0
    told = capsys.readouterr().out
    (line,) = [line for line in told.splitlines() if " modest " in line]
    assert "waits for 2 more A100-SXM4-40GB in queue nlp-training" in line
    assert "A800-SXM4-80GB has 24 free, at 54 instead of 30 core-hours" in line


def test_a_nightly_jobs_pods_are_its_users(lab: RunningLab, submit: Submit) -> None:
    job = _job("unused", cards=0, queue="", run="2s")
    nightly = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "every-minute"},
        "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": job["spec"]}},
    }
    submit("li.wei", nightly)

    def pods() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = lab.get("pods", "-n", NLP)["items"]
        return [p for p in found if p["metadata"]["name"].startswith("every-minute")]

    work.wait(lambda: bool(pods()), seconds_max=MINUTE_SECONDS + work.WAIT_SECONDS_MAX)
    assert all(p["metadata"]["labels"][labels.USER] == "li.wei" for p in pods())
    assert all(p["metadata"]["labels"][labels.PROJECT] == NLP for p in pods())
    records = [w for w in work.workloads(lab, NLP) if "every-minute" in w["metadata"]["name"]]
    assert records
    assert all(w["metadata"]["labels"][labels.USER] == "li.wei" for w in records)


def test_a_services_pods_are_its_users_also_after_somebody_else_has_scaled_it(
    lab: RunningLab, submit: Submit
) -> None:
    content = {"name": "main", "image": "x:1", "resources": {"limits": {work.CARD: 1}}}
    service = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "theirs", "labels": {labels.QUEUE_NAME: "inference"}},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "theirs"}},
            "template": {
                "metadata": {"labels": {"app": "theirs"}},
                "spec": {"containers": [content]},
            },
        },
    }
    submit("li.wei", service)
    work.wait(lambda: len(work.running(lab, "theirs", NLP)) == 1)
    scaled = lab.kubectl("scale", "-n", NLP, "deployment/theirs", "--replicas=2", user="chen.yu")
    assert scaled.returncode == 0, scaled.stderr
    work.wait(lambda: len(work.running(lab, "theirs", NLP)) == 2)
    pods = work.running(lab, "theirs", NLP)
    assert {p["metadata"]["labels"][labels.USER] for p in pods} == {"li.wei"}


def test_a_service_account_submits_for_the_default_user(
    lab: RunningLab, pipelines: dict[str, str]
) -> None:
    made = _submitted_by(lab, pipelines[VISION], VISION)
    assert made.returncode == 0, made.stderr
    stored = lab.get("job", "by-ci", "-n", VISION)["metadata"]
    assert stored["labels"][labels.USER] == "zhao.min"
    assert stored["annotations"][labels.LOGIN] == pipelines[VISION]


def test_a_service_account_submits_nothing_where_there_is_no_default_user(
    lab: RunningLab, pipelines: dict[str, str]
) -> None:
    made = _submitted_by(lab, pipelines[NLP], NLP)
    assert made.returncode != 0
    assert f"{pipelines[NLP]} is no user of project nlp" in made.stderr
    assert "[user-known]" in made.stderr


def _submitted_by(lab: RunningLab, login: str, namespace: str) -> subprocess.CompletedProcess[str]:
    job = _job("by-ci", cards=0, queue="", run="2s")
    return lab.kubectl("create", "-n", namespace, "-f", "-", f"--as={login}", objects=[job])


def test_fifty_pods_without_cards_never_land_beside_cards(lab: RunningLab, submit: Submit) -> None:
    container = {
        "name": "main",
        "image": "x:1",
        "resources": {"requests": {"cpu": "4", "memory": "8Gi"}},
    }
    service = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "fifty"},
        "spec": {
            "replicas": 50,
            "selector": {"matchLabels": {"app": "fifty"}},
            "template": {
                "metadata": {"labels": {"app": "fifty"}},
                "spec": {"containers": [container]},
            },
        },
    }
    with work.cordoned(lab, "cpu-00"):
        submit("chen.yu", service)
        # 64 vCPU are left on the one CPU host, and thousands on the hosts with cards.
        work.wait(lambda: len(work.hosts_of(lab, "fifty", NLP)) >= 15)
        assert work.stays(lambda: set(work.hosts_of(lab, "fifty", NLP)) == {"cpu-01"}, seconds=8)
        assert len(work.pods_of(lab, "fifty", NLP)) == 50
