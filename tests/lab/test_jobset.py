"""JobSets on a whole lab: its real controller makes the Jobs, Kueue admits them as one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from lab import processes
from tallyard import labels
from tallyard.render import jobset_manager
from tests.lab.test_accounts import MAKER, creation_of, noting_policy, wait_until
from tests.running_lab import RunningLab

NAMESPACE = "nlp"
NAME = "two-halves"
CARDS = 4
WAIT_SECONDS_MAX = 60.0
OF_JOBSET = "jobset.sigs.k8s.io/jobset-name"


def _pod(run: str) -> dict[str, Any]:
    owner = {labels.PROJECT: NAMESPACE, labels.USER: "li.wei"}
    return {
        "metadata": {"annotations": {"sim.tallyard.dev/run": run}, "labels": owner},
        "spec": {
            "restartPolicy": "Never",
            "priorityClassName": "training",
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": 1000,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [
                {
                    "name": "main",
                    "image": "registry.example.com/nlp/train:1.0",
                    "securityContext": {
                        "allowPrivilegeEscalation": False,
                        "capabilities": {"drop": ["ALL"]},
                    },
                    "resources": {"limits": {"nvidia.com/gpu": 1, "cpu": 4, "memory": "8Gi"}},
                }
            ],
        },
    }


def _half(name: str, run: str) -> dict[str, Any]:
    job = {"parallelism": 2, "completions": 2, "backoffLimit": 0, "template": _pod(run)}
    return {"name": name, "replicas": 1, "template": {"spec": job}}


def _jobset(run: str) -> dict[str, Any]:
    """Return a JobSet of two Jobs, each of two pods with a card."""
    return {
        "apiVersion": f"{labels.JOBSET_GROUP}/{labels.JOBSET_VERSION}",
        "kind": "JobSet",
        "metadata": {
            "name": NAME,
            "namespace": NAMESPACE,
            "labels": {
                labels.QUEUE_NAME: "training",
                labels.PRIORITY_CLASS: "training",
                labels.PROJECT: NAMESPACE,
                labels.USER: "li.wei",
            },
        },
        "spec": {"replicatedJobs": [_half("first", run), _half("second", run)]},
    }


@pytest.fixture
def submitted(full_lab: RunningLab) -> Iterator[RunningLab]:
    """A lab in which a member has submitted the JobSet."""
    created = full_lab.kubectl("create", "-f", "-", objects=[_jobset("4s")], user="li.wei")
    assert created.returncode == 0, created.stderr
    yield full_lab
    full_lab.kubectl("-n", NAMESPACE, "delete", "jobset", NAME, "--cascade=foreground")


def _workload(lab: RunningLab) -> dict[str, Any] | None:
    owned = (
        item
        for item in lab.get("workloads.kueue.x-k8s.io", "-n", NAMESPACE)["items"]
        for owner in item["metadata"].get("ownerReferences", ())
        if (owner["kind"], owner["name"]) == ("JobSet", NAME)
    )
    return next(owned, None)


def _is(condition: str, lab: RunningLab) -> dict[str, Any] | None:
    workload = _workload(lab)
    conditions = (workload or {}).get("status", {}).get("conditions", ())
    held = any(c["type"] == condition and c["status"] == "True" for c in conditions)
    return workload if held else None


def test_its_jobs_are_admitted_as_one_run_and_end(submitted: RunningLab) -> None:
    admitted = wait_until(lambda: _is("Admitted", submitted), WAIT_SECONDS_MAX)
    parts = admitted["status"]["admission"]["podSetAssignments"]
    assert sorted(part["name"] for part in parts) == ["first", "second"]
    assert sum(int(part["resourceUsage"]["nvidia.com/gpu"]) for part in parts) == CARDS
    finished = wait_until(lambda: _is("Finished", submitted), WAIT_SECONDS_MAX)
    reasons = {c["type"]: c["reason"] for c in finished["status"]["conditions"]}
    assert reasons["Finished"] == "Succeeded"
    phases = [pod["status"]["phase"] for pod in _items(submitted, "pods")]
    assert phases == ["Succeeded"] * CARDS
    ended = submitted.get("jobset", "-n", NAMESPACE, NAME)
    assert ended["status"]["terminalState"] == "Completed"


def test_its_jobs_and_pods_are_made_by_service_accounts(full_lab: RunningLab) -> None:
    """Policies that are for people leave these out by their names."""
    ours = {"objectSelector": {"matchExpressions": [{"key": OF_JOBSET, "operator": "Exists"}]}}
    rules = [creation_of("", "v1", "pods"), creation_of("batch", "v1", "jobs")]
    policy = noting_policy("jobset-accounts", rules, ours)
    made = full_lab.kubectl("create", "-f", "-", objects=policy)
    assert made.returncode == 0, made.stderr
    try:
        jobs, pods = wait_until(lambda: _noted(full_lab), WAIT_SECONDS_MAX)
    finally:
        full_lab.kubectl("delete", "-f", "-", objects=policy)
    account = labels.account_login
    assert jobs == {account(labels.JOBSET_NAMESPACE, labels.JOBSET_ACCOUNT)}
    assert pods == {account("kube-system", "job-controller")}


def _noted(lab: RunningLab) -> tuple[set[str], set[str]] | None:
    """Submit the JobSet and return who made its Jobs and its pods; None until it is noted.

    The API server heeds a new policy after a moment.
    """
    created = lab.kubectl("create", "-f", "-", objects=[_jobset("1s")], user="li.wei")
    assert created.returncode == 0, created.stderr
    try:
        wait_until(lambda: _is("Finished", lab), WAIT_SECONDS_MAX)
        jobs, pods = (_makers(_items(lab, kind)) for kind in ("jobs", "pods"))
    finally:
        lab.kubectl("-n", NAMESPACE, "delete", "jobset", NAME, "--cascade=foreground")
    return None if "" in jobs | pods else (jobs, pods)


def _makers(items: list[dict[str, Any]]) -> set[str]:
    return {str(item["metadata"].get("annotations", {}).get(MAKER, "")) for item in items}


def _items(lab: RunningLab, kind: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = lab.get(kind, "-n", NAMESPACE, "-l", f"{OF_JOBSET}={NAME}")[
        "items"
    ]
    assert items, kind
    return items


def test_the_lab_gives_the_controller_what_the_chart_would(full_lab: RunningLab) -> None:
    name = "jobset-controller-config"
    written = full_lab.get("configmap", "-n", labels.JOBSET_NAMESPACE, name)
    told = yaml.safe_load(written["data"]["controller_manager_config.yaml"])
    assert told == jobset_manager.configuration()


def test_no_process_of_the_lab_but_the_control_plane_is_the_administrator(
    full_lab: RunningLab,
) -> None:
    for name in ("kueue", "jobset"):
        process = full_lab.state.process(name)
        assert process is not None
        assert processes.is_running(process)
        own = str(full_lab.folder.told(name).with_name("kubeconfig"))
        who = full_lab.kubectl("auth", "whoami", "-o", "yaml", "--kubeconfig", own)
        told = yaml.safe_load(who.stdout)["status"]["userInfo"]
        namespace = f"{name}-system"
        assert told["username"].startswith(f"system:serviceaccount:{namespace}:")
        assert "system:masters" not in told["groups"]
