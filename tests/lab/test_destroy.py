"""The end of a platform: drained first, then removed with nothing of it left in the cluster.

The tests are one story and run in this order, on one lab.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from infra.settings import ENDING
from lab.folder import CHECKOUT
from lab.stack import STACK, environment
from lab.toolchain.ensure import Toolchain
from tallyard import labels
from tallyard.cli.application import run_application
from tallyard.cli.exit_codes import ExitCode
from tallyard.spec.model import Platform
from tests.cluster_objects import Objects, in_cluster, in_state
from tests.lab import work
from tests.running_lab import RunningLab
from tests.soak.interrupted import kill

END_SECONDS_MAX = 300.0
MODEL = "A100-SXM4-40GB"
DESTROY = ("destroy", "--run-program", "--yes", "--skip-preview")
# What is left of an earlier spec: Pulumi keeps it and knows nothing of it.
OLD_FLAVOR = {
    "apiVersion": labels.KUEUE_API,
    "kind": "ResourceFlavor",
    "metadata": {"name": "old-000000", "labels": {labels.MANAGED_BY: labels.FIELD_MANAGER}},
    "spec": {"nodeLabels": {labels.NODE_POOL: "old"}},
}
OLD_NAMESPACE = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": "old", "labels": {labels.MANAGED_BY: labels.FIELD_MANAGER}},
}


@dataclass(frozen=True)
class Populated:
    """A lab with five that run and five that wait, and what its cluster held before all of it."""

    lab: RunningLab
    bare: Objects


@pytest.fixture(scope="module")
def populated(
    tmp_path_factory: pytest.TempPathFactory, platform: Platform, toolchain: Toolchain
) -> Iterator[Populated]:
    lab = RunningLab(tmp_path_factory.mktemp("end"), "end", platform, toolchain)
    try:
        lab.up()
        bare = in_cluster(lab)
        lab.up(None)
        work.submit(lab, *(_job(f"runs-{n}", 1) for n in range(3)), user="li.wei")
        work.submit(
            lab, work.service("serves", "inference", namespace="nlp", replicas=2), user="li.wei"
        )
        work.wait(lambda: len(_holding(lab)) == 5)
        work.submit(lab, *(_job(f"waits-{n}", 8, pods=9) for n in range(5)), user="li.wei")
        work.wait(lambda: len(work.workloads(lab, "nlp")) == 10)
        yield Populated(lab, bare)
    finally:
        lab.down()


def _job(name: str, cards: int, pods: int = 1) -> dict[str, object]:
    return work.job(name, "training", cards, pods=pods, namespace="nlp", model=MODEL)


def _holding(lab: RunningLab) -> list[str]:
    records = work.workloads(lab, "nlp")
    return [work.owner_of(each) for each in records if work.is_true(each, "Admitted")]


def _drain(lab: RunningLab, *arguments: str, stack: str = "local") -> int:
    kubeconfig = ("--kubeconfig", str(lab.folder.admin))
    return run_application(["drain", "-s", stack, *kubeconfig, *arguments])


def test_a_destroy_that_nobody_asked_for_is_refused_and_changes_nothing(
    populated: Populated,
) -> None:
    lab = populated.lab
    before = in_state(lab).objects
    unasked = lab.pulumi("destroy", "--yes")
    for another in ("prod", None):
        done = lab.pulumi(*DESTROY[:-1], **{ENDING: another})
        assert done.returncode != 0
    assert unasked.returncode != 0
    assert "protected" in unasked.stdout + unasked.stderr
    assert in_state(lab).objects == before
    assert len(_holding(lab)) == 5


def test_a_destroy_before_the_drain_says_what_runs(populated: Populated) -> None:
    done = populated.lab.pulumi(*DESTROY, **{ENDING: STACK})
    told = done.stdout + done.stderr
    assert done.returncode != 0
    assert "5 workloads hold quota" in told
    assert f"tally drain -s {STACK}" in told
    assert "Traceback" not in told
    assert len(_holding(populated.lab)) == 5


def test_a_drain_refuses_a_cluster_of_another_environment(
    populated: Populated, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _drain(populated.lab, "--yes", stack="prod") == ExitCode.USAGE
    assert "the cluster has tallyard-system/platform: local.yaml" in capsys.readouterr().err
    assert len(_holding(populated.lab)) == 5


def test_a_drain_stops_what_runs_and_deletes_nothing(
    populated: Populated, capsys: pytest.CaptureFixture[str]
) -> None:
    lab = populated.lab
    assert _drain(lab, "--yes") == ExitCode.OK
    assert "nlp 5" in capsys.readouterr().err
    assert not _holding(lab)
    jobs = lab.get("jobs", "-n", "nlp")["items"]
    assert len(jobs) == 8
    assert all(job["spec"]["suspend"] for job in jobs)
    assert _drain(lab) == ExitCode.OK, "again, there is nothing to ask about"
    assert f"{ENDING}={STACK} pulumi destroy -s {STACK} --run-program" in capsys.readouterr().out


def test_what_earlier_specs_have_left_is_named_before_anything_is_removed(
    populated: Populated,
) -> None:
    """Nobody but Kueue takes the finalizer off a flavor, and Kueue goes with the platform."""
    lab = populated.lab
    made = lab.kubectl("apply", "-f", "-", objects=[OLD_FLAVOR, OLD_NAMESPACE])
    assert made.returncode == 0, made.stderr
    done = lab.pulumi(*DESTROY, **{ENDING: STACK})
    told = done.stdout + done.stderr
    assert done.returncode != 0
    for command in ("kubectl delete namespace old", "kubectl delete resourceflavor old-000000"):
        assert command in told
        removed = lab.kubectl(*command.split()[1:])
        assert removed.returncode == 0, removed.stderr


def test_a_destroy_that_was_killed_goes_on_and_leaves_nothing(populated: Populated) -> None:
    lab = populated.lab
    began = time.monotonic()
    _kill_when_some_are_gone(lab)
    cancelled = lab.pulumi("cancel", "--yes")
    assert cancelled.returncode == 0, cancelled.stderr
    done = lab.pulumi(*DESTROY, **{ENDING: STACK})
    assert done.returncode == 0, done.stdout + done.stderr
    assert time.monotonic() - began < END_SECONDS_MAX
    assert not in_state(lab).objects

    def left() -> Objects:
        now = in_cluster(lab)
        return Objects(now.keys - populated.bare.keys, now.ending)

    # The API server takes a moment to forget the kinds that are gone.
    work.wait(lambda: not left().keys)
    assert not left().ending


def test_the_next_up_makes_all_of_it_again_and_work_runs(populated: Populated) -> None:
    """The accounts are others now, and nobody is let in by the tokens of those before."""
    lab = populated.lab
    lab.up(None)
    work.submit(lab, _job("again", 1), user="li.wei")
    work.wait(lambda: len(work.running(lab, "again", "nlp")) == 1)


def _kill_when_some_are_gone(lab: RunningLab) -> None:
    log = lab.base / "destroy.log"
    tools = lab.folder.tools
    told = {**os.environ, **environment(lab.folder, tools), ENDING: STACK}
    with log.open("wb") as file:
        process = subprocess.Popen(
            [str(tools / "pulumi"), *DESTROY, "--stack", STACK, "--non-interactive"],
            cwd=CHECKOUT,
            env=told,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    work.wait(lambda: _deleted(log) > 20 or process.poll() is not None)
    assert process.poll() is None, log.read_text()
    assert any("pulumi-resource-kubernetes" in name for name in kill(process.pid))
    process.wait()


def _deleted(log: Path) -> int:
    return log.read_text(errors="replace").count(" deleted (")
