"""Kueue is away and the cluster starts anew: what is the system's comes up, no tenant gets by."""

from __future__ import annotations

import os
import signal
from collections.abc import Collection, Iterator
from typing import Any

import pytest

from lab import kueue_manager, processes
from lab.folder import CHECKOUT
from lab.kwokctl import COMPONENTS
from lab.ports import wait_free
from lab.toolchain.ensure import Toolchain
from tests.lab import small_platform, work
from tests.running_lab import RunningLab

SYSTEM = "kube-system"
IMAGE = {"name": "main", "image": "registry.example.com/x:1"}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, toolchain: Toolchain) -> Iterator[RunningLab]:
    """The shipped spec on a lab that may be broken."""
    platform, local = (
        (CHECKOUT / "stacks" / f"{name}.yaml").read_text() for name in ("platform", "local")
    )
    folder = tmp_path_factory.mktemp("away")
    with small_platform.running(folder, "away", platform, local, toolchain) as running:
        yield running


def _kill(lab: RunningLab, *names: str) -> None:
    for name in names:
        process = lab.state.process(name)
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)


def test_what_was_killed_and_had_not_ended_yet_is_started_too(
    lab: RunningLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel needs a moment to end a large process, longer on a busy machine."""
    doomed = lab.state.process("kube-apiserver")
    assert doomed is not None

    def wait_free_and_it_ends(ports: Collection[int]) -> set[int]:
        processes.kill(doomed)
        assert processes.wait(doomed, 10)
        return wait_free(ports)

    monkeypatch.setattr("lab.control_plane.wait_free", wait_free_and_it_ends)
    _kill(lab, "etcd")
    lab.up(lambda _: None)
    assert all(lab.state.process(name) for name in COMPONENTS)
    assert lab.state.process("kube-apiserver") != doomed
    monkeypatch.undo()
    lab.up(None)


def _service(name: str, namespace: str) -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [IMAGE]},
            },
        },
    }


def test_without_kueue_the_system_starts_and_no_tenant_gets_by(lab: RunningLab) -> None:
    _kill(lab, kueue_manager.KIND.name, "kube-apiserver", "etcd")
    # The control plane alone: Kueue stays away.
    lab.up(lambda _: None)
    work.submit(lab, _service("of-the-system", SYSTEM))
    work.wait(lambda: bool(work.running(lab, "of-the-system", SYSTEM)))
    job = work.job("by-a-tenant", "training", namespace="nlp")
    made = lab.kubectl("create", "-f", "-", objects=[job], user="li.wei")
    assert made.returncode != 0
    # Kueue is asked about each Job, and before that the policies' table: nothing is let in unasked.
    assert "failed calling webhook" in made.stderr or "paramKind" in made.stderr
    assert not work.pods_of(lab, "by-a-tenant", "nlp")
    lab.up(None)
    # An API server that has just started knows the table's kind a moment after it is ready, and
    # refuses until then.
    create = ("create", "-f", "-")
    work.wait(lambda: lab.kubectl(*create, objects=[job], user="li.wei").returncode == 0)
    work.wait(lambda: bool(work.running(lab, "by-a-tenant", "nlp")))
    (record,) = [w for w in work.workloads(lab, "nlp") if work.owner_of(w) == "by-a-tenant"]
    assert work.is_true(record, "Admitted")
