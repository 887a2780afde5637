"""Pods on simulated hosts do what their annotations say, with real Jobs and Deployments."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from uuid import uuid4

import pytest

from lab.simulation import stage_objects
from lab.toolchain.ensure import Toolchain
from tests.running_lab import RunningLab

WAIT_SECONDS_MAX = 60.0
Objects = Mapping[str, Any]


class _Namespace:
    """A namespace of the shared lab for one test."""

    def __init__(self, lab: RunningLab) -> None:
        self.lab, self.name = lab, f"sim-{uuid4().hex[:8]}"
        lab.kubectl("create", "namespace", self.name)

    def apply(self, *objects: dict[str, Any]) -> None:
        done = self.lab.kubectl("-n", self.name, "apply", "-f", "-", objects=list(objects))
        assert done.returncode == 0, done.stderr

    def pods(self, app: str) -> list[Any]:
        found: list[Any] = self.lab.get("-n", self.name, "pods", "-l", f"app={app}")["items"]
        return found

    def wait(self, app: str, is_so: Callable[[list[Any]], bool]) -> list[Any]:
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while not is_so(pods := self.pods(app)):
            assert time.monotonic() < deadline, pods
            time.sleep(0.2)
        return pods


@pytest.fixture
def namespace(shared_lab: RunningLab) -> Iterator[_Namespace]:
    made = _Namespace(shared_lab)
    yield made
    shared_lab.kubectl("delete", "namespace", made.name, "--wait=false")


def _template(app: str, **annotations: str) -> dict[str, Any]:
    return {
        "metadata": {
            "labels": {"app": app},
            "annotations": {
                f"sim.tallyard.dev/{k.replace('_', '-')}": v for k, v in annotations.items()
            },
        },
        "spec": {
            "containers": [{"name": "main", "image": "x"}],
            "initContainers": [{"name": "first", "image": "x"}],
        },
    }


def _job(app: str, **annotations: str) -> dict[str, Any]:
    template = _template(app, **annotations)
    template["spec"]["restartPolicy"] = "Never"
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": app},
        "spec": {"backoffLimit": 0, "template": template},
    }


def _has_ended(pods: list[Any]) -> bool:
    return bool(pods) and all(p["status"]["phase"] in ("Succeeded", "Failed") for p in pods)


def _terminated(pod: Objects) -> Objects:
    state: Objects = pod["status"]["containerStatuses"][0]["state"]["terminated"]
    return state


def _seconds(begin: str, end: str) -> float:
    parse = dt.datetime.fromisoformat
    return (parse(end) - parse(begin)).total_seconds()


def test_a_job_runs_as_long_as_it_says_and_succeeds(namespace: _Namespace) -> None:
    namespace.apply(_job("good", run="3s"))
    (pod,) = namespace.wait("good", _has_ended)
    ended = _terminated(pod)
    assert (ended["exitCode"], ended["reason"]) == (0, "Completed")
    assert 3 <= _seconds(ended["startedAt"], ended["finishedAt"]) <= 4
    namespace.lab.kubectl("-n", namespace.name, "wait", "--for=condition=Complete", "job/good")
    assert namespace.lab.get("-n", namespace.name, "job", "good")["status"]["succeeded"] == 1


@pytest.mark.parametrize(
    ("said", "code", "reason"),
    [
        ({"exit_code": "1"}, 1, "Error"),
        ({"exit_code": "137"}, 137, "OOMKilled"),
        ({"exit_code": "74", "exit_reason": "XidError"}, 74, "XidError"),
    ],
)
def test_a_job_fails_as_it_says(
    namespace: _Namespace, said: dict[str, str], code: int, reason: str
) -> None:
    namespace.apply(_job("bad", run="1s", **said))
    (pod,) = namespace.wait("bad", _has_ended)
    assert pod["status"]["phase"] == "Failed"
    assert (_terminated(pod)["exitCode"], _terminated(pod)["reason"]) == (code, reason)
    namespace.lab.kubectl("-n", namespace.name, "wait", "--for=condition=Failed", "job/bad")
    assert namespace.lab.get("-n", namespace.name, "job", "bad")["status"]["failed"] == 1


def test_a_slow_start_is_seen_and_the_run_is_counted_from_its_end(namespace: _Namespace) -> None:
    namespace.apply(_job("slow", start_delay="3s", run="2s"))
    (pod,) = namespace.wait("slow", lambda pods: bool(pods) and "startTime" in pods[0]["status"])
    waiting = pod["status"]["containerStatuses"][0]["state"]["waiting"]
    assert (pod["status"]["phase"], waiting["reason"]) == ("Pending", "ContainerCreating")
    (pod,) = namespace.wait("slow", _has_ended)
    ended = _terminated(pod)
    assert 3 <= _seconds(pod["status"]["startTime"], ended["startedAt"]) <= 4
    assert 1 <= _seconds(ended["startedAt"], ended["finishedAt"]) <= 3


def test_a_change_of_a_running_pod_does_not_begin_its_time_again(namespace: _Namespace) -> None:
    namespace.apply(_job("changed", run="6s"))
    (pod,) = namespace.wait("changed", lambda p: bool(p) and p[0]["status"]["phase"] == "Running")
    time.sleep(3)
    name = pod["metadata"]["name"]
    namespace.lab.kubectl("-n", namespace.name, "label", "pod", name, "touched=yes")
    (pod,) = namespace.wait("changed", _has_ended)
    ended = _terminated(pod)
    assert pod["metadata"]["labels"]["touched"] == "yes"
    assert 6 <= _seconds(ended["startedAt"], ended["finishedAt"]) <= 7


def test_a_job_that_says_nothing_runs_for_a_while(namespace: _Namespace) -> None:
    namespace.apply(_job("usual"))
    (pod,) = namespace.wait("usual", _has_ended)
    ended = _terminated(pod)
    assert 30 <= _seconds(ended["startedAt"], ended["finishedAt"]) <= 31


def test_pods_of_a_deployment_run_on_and_go_when_it_goes(namespace: _Namespace) -> None:
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "service"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "service"}},
            "template": _template("service", run="1s"),
        },
    }
    namespace.apply(deployment)
    namespace.wait(
        "service", lambda p: len(p) == 2 and all(x["status"]["phase"] == "Running" for x in p)
    )
    time.sleep(3)
    assert [p["status"]["phase"] for p in namespace.pods("service")] == ["Running"] * 2
    namespace.lab.kubectl("-n", namespace.name, "delete", "deployment", "service")
    namespace.wait("service", lambda pods: not pods)


def test_a_running_job_that_is_deleted_takes_its_pods_with_it(namespace: _Namespace) -> None:
    namespace.apply(_job("deleted", run="10m"))
    namespace.wait("deleted", lambda p: bool(p) and p[0]["status"]["phase"] == "Running")
    done = namespace.lab.kubectl(
        "-n", namespace.name, "delete", "job", "deleted", "--cascade=foreground", "--timeout=30s"
    )
    assert done.returncode == 0, done.stderr
    assert namespace.pods("deleted") == []


def test_every_stage_has_a_name_of_its_own_and_kwoks_instant_pods_are_not_among_them(
    toolchain: Toolchain,
) -> None:
    names = [stage["metadata"]["name"] for stage in stage_objects(toolchain.kwok_stages)]
    assert sorted(names) == [
        "node-heartbeat-with-lease",
        "node-initialize",
        "pod-creating",
        "pod-delete",
        "pod-ended",
        "pod-running",
    ]
