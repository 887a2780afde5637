"""What a person submits becomes right by itself, on a whole lab of its own: whose it is, where
it goes, and what it does not take."""

from __future__ import annotations

from collections.abc import Iterator
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


def _submit(lab: RunningLab, user: str, *objects: dict[str, Any]) -> None:
    made = lab.kubectl("create", "-f", "-", objects=list(objects), user=user)
    assert made.returncode == 0, made.stderr


def _end(lab: RunningLab, namespace: str, *names: str) -> None:
    lab.kubectl("delete", "job", "-n", namespace, *names)
    work.wait(lambda: not {work.owner_of(w) for w in work.workloads(lab, namespace)} & {*names})


def test_work_is_asked_for_by_the_memory_of_its_cards(lab: RunningLab) -> None:
    asked = {labels.GPU_MEMORY_LEAST: "60Gi"}
    _submit(lab, "li.wei", _job("by-memory", annotations=asked))
    work.wait(lambda: bool(work.running(lab, "by-memory", NLP)))
    assert all(host.startswith("a800-") for host in work.hosts_of(lab, "by-memory", NLP))
    _end(lab, NLP, "by-memory")


def test_work_without_a_model_waits_for_the_default_one_and_is_told_what_another_would_cost(
    lab: RunningLab, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # 16 of its own quota and 8 borrowed.
    _submit(lab, "li.wei", _job("fill", cards=8, pods=3))
    work.wait(lambda: len(work.running(lab, "fill", NLP)) == 3)
    _submit(lab, "li.wei", _job("modest", cards=2))
    work.wait(lambda: work.condition(work.workload(lab, "modest", NLP), "QuotaReserved") != {})
    assert work.stays(lambda: not work.pods_of(lab, "modest", NLP), seconds=5)
    monkeypatch.setenv("KUBECONFIG", str(lab.folder.kubeconfigs / "li.wei"))
    assert run(["queue", "-p", "nlp"]) == 0
    told = capsys.readouterr().out
    (line,) = [line for line in told.splitlines() if " modest " in line]
    assert "waits for 2 more A100-SXM4-40GB in queue nlp-training" in line
    assert "A800-SXM4-80GB has 24 free, at 54 instead of 30 core-hours" in line
    _end(lab, NLP, "fill", "modest")


def test_a_nightly_jobs_pods_are_its_users(lab: RunningLab) -> None:
    job = _job("unused", cards=0, queue="", run="2s")
    nightly = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "every-minute"},
        "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": job["spec"]}},
    }
    _submit(lab, "li.wei", nightly)

    def pods() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = lab.get("pods", "-n", NLP)["items"]
        return [p for p in found if p["metadata"]["name"].startswith("every-minute")]

    work.wait(lambda: bool(pods()), seconds_max=MINUTE_SECONDS + work.WAIT_SECONDS_MAX)
    assert all(p["metadata"]["labels"][labels.USER] == "li.wei" for p in pods())
    assert all(p["metadata"]["labels"][labels.PROJECT] == NLP for p in pods())
    records = [w for w in work.workloads(lab, NLP) if "every-minute" in w["metadata"]["name"]]
    assert records
    assert all(w["metadata"]["labels"][labels.USER] == "li.wei" for w in records)
    lab.kubectl("delete", "cronjob", "-n", NLP, "every-minute", user="li.wei")


def test_a_services_pods_are_its_users_also_after_somebody_else_has_scaled_it(
    lab: RunningLab,
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
    _submit(lab, "li.wei", service)
    work.wait(lambda: len(work.running(lab, "theirs", NLP)) == 1)
    scaled = lab.kubectl("scale", "-n", NLP, "deployment/theirs", "--replicas=2", user="chen.yu")
    assert scaled.returncode == 0, scaled.stderr
    work.wait(lambda: len(work.running(lab, "theirs", NLP)) == 2)
    pods = work.running(lab, "theirs", NLP)
    assert {p["metadata"]["labels"][labels.USER] for p in pods} == {"li.wei"}
    lab.kubectl("delete", "deployment", "-n", NLP, "theirs")
    work.wait(lambda: not work.pods_of(lab, "theirs", NLP))


def test_a_service_account_submits_for_the_default_user_or_not_at_all(lab: RunningLab) -> None:
    for namespace, is_known in ((VISION, True), (NLP, False)):
        lab.kubectl("create", "serviceaccount", "ci", "-n", namespace)
        lab.kubectl(
            *("create", "rolebinding", "ci", "-n", namespace),
            *(f"--clusterrole={labels.MEMBER_ROLE}", f"--serviceaccount={namespace}:ci"),
        )
        job = _job("by-ci", cards=0, queue="", run="2s")
        login = f"system:serviceaccount:{namespace}:ci"
        made = lab.kubectl("create", "-n", namespace, "-f", "-", f"--as={login}", objects=[job])
        assert (made.returncode == 0) is is_known, made.stderr
        if is_known:
            stored = lab.get("job", "by-ci", "-n", namespace)["metadata"]
            assert stored["labels"][labels.USER] == "zhao.min"
            assert stored["annotations"][labels.LOGIN] == login
        else:
            assert f"{login} is no user of project nlp" in made.stderr
            assert "[user-known]" in made.stderr


def test_fifty_pods_without_cards_never_land_beside_cards(lab: RunningLab) -> None:
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
    hosts = [f"cpu-{n:02}" for n in range(2)]
    lab.kubectl("cordon", hosts[0])
    _submit(lab, "chen.yu", service)
    # 64 vCPU are left on the one CPU host, and thousands on the hosts with cards.
    work.wait(lambda: len(work.hosts_of(lab, "fifty", NLP)) >= 15)
    assert work.stays(lambda: set(work.hosts_of(lab, "fifty", NLP)) == {hosts[1]}, seconds=8)
    assert len(work.pods_of(lab, "fifty", NLP)) == 50
    lab.kubectl("uncordon", hosts[0])
    lab.kubectl("delete", "deployment", "-n", NLP, "fifty")
    work.wait(lambda: not work.pods_of(lab, "fifty", NLP))
