"""One-card pods fill a host before they touch the next: whole hosts stay free for large jobs."""

from __future__ import annotations

import time
from typing import Any

from tallyard import labels
from tests.running_lab import RunningLab

CARDS_PER_HOST = 8
WAIT_SECONDS_MAX = 60


def _pod(name: str) -> dict[str, Any]:
    """Return a pod that does not come through a queue; the scheduler alone places it."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "nodeSelector": {labels.NODE_POOL: "training"},
            "tolerations": [{"key": labels.POOL_TAINT, "operator": "Exists"}],
            "containers": [
                {
                    "name": "main",
                    "image": "registry.example.com/x:1",
                    "resources": {"limits": {"nvidia.com/gpu": 1, "cpu": 4, "memory": "8Gi"}},
                }
            ],
        },
    }


def test_the_scheduler_fills_one_host_before_the_next(shared_lab: RunningLab) -> None:
    """With the scheduler's default, eight such pods lie on eight hosts."""
    pods = [_pod(f"packed-{n}") for n in range(CARDS_PER_HOST)]
    created = shared_lab.kubectl("create", "-f", "-", objects=pods)
    assert created.returncode == 0, created.stderr
    try:
        hosts = _hosts(shared_lab, [pod["metadata"]["name"] for pod in pods])
    finally:
        names = [pod["metadata"]["name"] for pod in pods]
        shared_lab.kubectl("delete", "pod", *names, "--wait=false")
    assert len(hosts) == CARDS_PER_HOST
    assert len(set(hosts)) == 1


def _hosts(lab: RunningLab, names: list[str]) -> list[str]:
    deadline = time.monotonic() + WAIT_SECONDS_MAX
    while True:
        items = lab.get("pod", *names, "-n", "default")["items"]
        hosts = [pod["spec"]["nodeName"] for pod in items if pod["spec"].get("nodeName")]
        if len(hosts) == len(names):
            return hosts
        assert time.monotonic() < deadline, items
        time.sleep(0.2)
