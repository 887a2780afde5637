"""Who makes the pods of what a person submits: the controllers' own accounts, as everywhere.

A policy of the API server writes down who asked, so that it can be seen afterwards. The rules
that are for people leave these accounts out by their names.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from tallyard import labels
from tests.running_lab import RunningLab

SPACE = "accounts"
MAKER = "test.tallyard.dev/maker"
# A CronJob begins at the next full minute.
WAIT_SECONDS_MAX = 100.0


def noting_policy(name: str, rules: list[dict[str, Any]], selector: Any) -> list[dict[str, Any]]:
    """Return a policy, and its binding, that writes onto new objects who makes them."""
    admission = "admissionregistration.k8s.io/v1"
    annotation = f'Object.metadata{{annotations: {{"{MAKER}": request.userInfo.username}}}}'
    noting = {
        "apiVersion": admission,
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "reinvocationPolicy": "Never",
            "matchConstraints": {"resourceRules": rules, **selector},
            "mutations": [
                {
                    "patchType": "ApplyConfiguration",
                    "applyConfiguration": {"expression": f"Object{{metadata: {annotation}}}"},
                }
            ],
        },
    }
    binding = {
        "apiVersion": admission,
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": name},
    }
    return [noting, binding]


def creation_of(group: str, version: str, *resources: str) -> dict[str, Any]:
    """Return a rule that matches the creation of these."""
    return {
        "apiGroups": [group],
        "apiVersions": [version],
        "operations": ["CREATE"],
        "resources": list(resources),
    }


def wait_until[T](look: Callable[[], T | None], seconds_max: float = WAIT_SECONDS_MAX) -> T:
    """Return what is found once it is."""
    deadline = time.monotonic() + seconds_max
    while (found := look()) is None:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    return found


def _template(name: str, policy: str) -> dict[str, Any]:
    container = {"name": "main", "image": "registry.example.com/x:1"}
    return {
        "metadata": {"labels": {"app": name}, "annotations": {"sim.tallyard.dev/run": "1s"}},
        "spec": {"restartPolicy": policy, "containers": [container]},
    }


def _object(api: str, kind: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    metadata = {"name": kind.lower(), "namespace": SPACE}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec}


def _serving(kind: str, **more: Any) -> dict[str, Any]:
    name = kind.lower()
    selector = {"matchLabels": {"app": name}}
    template = _template(name, "Always")
    return _object("apps/v1", kind, {"selector": selector, "template": template, **more})


def _submitted() -> list[dict[str, Any]]:
    job = {"template": _template("job", "Never")}
    each_minute = {"schedule": "* * * * *", "jobTemplate": {"spec": job}}
    return [
        _object("batch/v1", "Job", job),
        _object("batch/v1", "CronJob", each_minute),
        _serving("Deployment"),
        _serving("StatefulSet", serviceName="none"),
    ]


@pytest.fixture
def noted(shared_lab: RunningLab) -> Iterator[RunningLab]:
    """A lab with a namespace in which it is written down who makes what."""
    rules = [
        creation_of("", "v1", "pods"),
        creation_of("batch", "v1", "jobs"),
        creation_of("apps", "v1", "replicasets"),
    ]
    inside = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": SPACE}}}
    policy = noting_policy("accounts", rules, inside)
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}}
    made = shared_lab.kubectl("create", "-f", "-", objects=[space, *policy])
    assert made.returncode == 0, made.stderr
    try:
        _wait_for_policy(shared_lab)
        yield shared_lab
    finally:
        shared_lab.kubectl("delete", "-f", "-", "--wait=false", objects=[space, *policy])


def _wait_for_policy(lab: RunningLab) -> None:
    """The API server heeds a new policy after a moment."""
    probe = _object("batch/v1", "Job", {"template": _template("probe", "Never")})
    create = ("create", "--dry-run=server", "-f", "-", "-o", "jsonpath={..annotations}")

    def is_noted() -> bool | None:
        return MAKER in lab.kubectl(*create, objects=[probe]).stdout or None

    wait_until(is_noted)


def _makers(lab: RunningLab, kind: str) -> dict[str, str]:
    """Return who made each object of a kind, by the kind of what owns it."""
    return {
        item["metadata"]["ownerReferences"][0]["kind"]: item["metadata"]["annotations"][MAKER]
        for item in lab.get(kind, "-n", SPACE)["items"]
        if "ownerReferences" in item["metadata"]
    }


def test_each_controller_makes_pods_and_jobs_as_its_own_account(noted: RunningLab) -> None:
    created = noted.kubectl("create", "-f", "-", objects=_submitted())
    assert created.returncode == 0, created.stderr

    def made() -> dict[str, str] | None:
        jobs, pods = _makers(noted, "jobs"), _makers(noted, "pods")
        sets = _makers(noted, "replicasets")
        found = {**jobs, **sets, **pods}
        wanted = {"CronJob", "Deployment", "Job", "ReplicaSet", "StatefulSet"}
        return found if found.keys() >= wanted else None

    account = {
        "CronJob": "cronjob-controller",
        "Deployment": "deployment-controller",
        "Job": "job-controller",
        "ReplicaSet": "replicaset-controller",
        "StatefulSet": "statefulset-controller",
    }
    wanted = {kind: labels.account_login("kube-system", name) for kind, name in account.items()}
    assert wait_until(made) == wanted
