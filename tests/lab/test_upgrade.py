"""The next release of the platform, and back again, under fifty running pods."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from lab import kueue_manager
from lab.folder import CHECKOUT
from lab.toolchain.ensure import Toolchain
from tests.lab import small_platform, work
from tests.running_lab import RunningLab

PODS = 50
NEXT = "next.tallyard.dev/release"
# What Pulumi runs of a checkout.
_PROGRAM = ("infra", "stacks", "tallyard", "templates")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, toolchain: Toolchain) -> Iterator[RunningLab]:
    """The shipped spec on a lab of its own."""
    platform, local = (
        (CHECKOUT / "stacks" / f"{name}.yaml").read_text() for name in ("platform", "local")
    )
    folder = tmp_path_factory.mktemp("upgrade")
    with small_platform.running(folder, "upgrade", platform, local, toolchain) as running:
        yield running


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A checkout of which every object differs.

    Each of ours has one label more, and each of the charts' (definitions, webhooks, roles, the
    managers' own) one annotation more.
    """
    for part in _PROGRAM:
        shutil.copytree(
            CHECKOUT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(CHECKOUT / "Pulumi.yaml", tmp_path)
    (tmp_path / ".venv").symlink_to(CHECKOUT / ".venv")
    shape = tmp_path / "templates" / "_metadata.yaml.j2"
    text = shape.read_text()
    assert text.count("  labels:\n") == 1
    shape.write_text(text.replace("  labels:\n", f'  labels:\n    "{NEXT}": "true"\n'))
    charts = tmp_path / "infra" / "release.py"
    text = charts.read_text()
    own = 'own = {labels.PATCH_FORCE: "true"}'
    assert text.count(own) == 1
    charts.write_text(text.replace(own, f'own = {{labels.PATCH_FORCE: "true", "{NEXT}": "true"}}'))
    return tmp_path


def _up(lab: RunningLab, checkout: Path) -> str:
    """Run a checkout's `up` as docs/operations.md says; return what it prints."""
    up = ("up", "--refresh", "--run-program", "--yes", "--skip-preview")
    done = lab.pulumi(*up, "--cwd", str(checkout), PYTHONPATH=str(checkout))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _pods(lab: RunningLab) -> Mapping[str, tuple[str, str, str]]:
    """Return the pods of both projects by uid: their phase, host and name."""
    items = [
        pod for project in ("nlp", "vision") for pod in lab.get("pods", "-n", project)["items"]
    ]
    return {
        pod["metadata"]["uid"]: (
            pod["status"].get("phase", ""),
            pod["spec"].get("nodeName", ""),
            pod["metadata"]["name"],
        )
        for pod in items
    }


def _labelled(lab: RunningLab, *kinds: str) -> list[bool]:
    """Say of each of our objects of some kinds whether it has the next release's label."""
    ours = ("-A", "-l", "app.kubernetes.io/managed-by=tallyard")
    found = [item for kind in kinds for item in lab.get(kind, *ours)["items"]]
    assert found
    return [NEXT in item["metadata"]["labels"] for item in found]


def _charts_are_of_the_next(lab: RunningLab) -> set[bool]:
    """Say of the charts' objects whether they are the next release's."""
    kinds = ("customresourcedefinitions", "validatingwebhookconfigurations", "clusterroles")
    found = [item for kind in kinds for item in lab.get(kind)["items"]]
    theirs = [e for e in found if any(chart in e["metadata"]["name"] for chart in _CHARTS)]
    assert len(theirs) > 10
    return {NEXT in each["metadata"].get("annotations", {}) for each in theirs}


_CHARTS = ("kueue", "jobset")
_KINDS = (
    *("namespaces", "clusterroles", "rolebindings", "limitranges", "priorityclasses"),
    *("clusterqueues.kueue.x-k8s.io", "localqueues.kueue.x-k8s.io", "cohorts.kueue.x-k8s.io"),
    *("resourceflavors.kueue.x-k8s.io", "topologies.kueue.x-k8s.io"),
    *("mutatingadmissionpolicies", "validatingadmissionpolicybindings"),
)


def test_no_pod_is_stopped_by_the_next_release_nor_on_the_way_back(
    lab: RunningLab, release: Path
) -> None:
    work.submit(
        lab,
        work.job("gang", "training", 1, namespace="nlp", pods=16, model="A100-SXM4-40GB"),
        work.job("small", "training", 1, namespace="nlp", pods=8, model="A800-SXM4-80GB"),
        work.job("prepare", "elastic", 0, namespace="nlp", pods=14, priority="elastic"),
        work.service("answers", "inference", namespace="nlp", replicas=4),
        user="li.wei",
    )
    idle = work.job("idle", "elastic", 1, namespace="vision", pods=8, priority="elastic")
    work.submit(lab, idle, user="zhao.min")
    work.wait(lambda: sum(p[0] == "Running" for p in _pods(lab).values()) == PODS)
    before = _pods(lab)

    _up(lab, release)
    assert all(_labelled(lab, *_KINDS))
    assert _charts_are_of_the_next(lab) == {True}
    assert _pods(lab) == before

    # The manager's own next release starts anew beside running work.
    process = lab.state.process(kueue_manager.KIND.name)
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)
    lab.up(None)
    assert not any(_labelled(lab, *_KINDS)), "`tally lab up` runs this release's program"
    assert _charts_are_of_the_next(lab) == {False}
    assert _pods(lab) == before
    assert _up(lab, CHECKOUT)
    assert _pods(lab) == before
    evicted = [
        work.owner_of(each)
        for project in ("nlp", "vision")
        for each in work.workloads(lab, project)
        if work.is_true(each, "Evicted")
    ]
    assert evicted == []
