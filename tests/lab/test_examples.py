"""Every example is submitted as it is written, by a user of its project, and runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab.folder import CHECKOUT
from lab.walkthrough import EXAMPLES, USER
from tallyard import labels
from tests.lab import work
from tests.running_lab import RunningLab

FOLDER = CHECKOUT / "examples"
LINES_MAX = 20
# The shortest ones, with and without cards.
SHORTEST = ("cpu-job.yaml", "train-2gpu.yaml")
SHORTEST_LINES_MAX = 12
NAMESPACE = "nlp"
# `up` submits these; what became of them is in test_walkthrough.py.
WALKED = {example.file for example in EXAMPLES}
# How many pods of each run at once, and on which hosts.
RUNS = {
    "agents.yaml": (8, "cpu-"),
    "debug-pod.yaml": (1, "a100-"),
    "notebook.yaml": (1, "rtx-"),
    "sweep.yaml": (4, "a"),
    "train-8gpu.yaml": (1, "a800-"),
    "train-gang.yaml": (16, "a100-"),
    "train-jobset.yaml": (5, "a100-"),
}


def test_every_example_is_tried_and_every_job_is_short() -> None:
    files = set(FOLDER.glob("*.yaml"))
    assert {file.name for file in files - WALKED} == RUNS.keys()
    for file in files:
        lines = [n for n in file.read_text().splitlines() if not n.lstrip().startswith("#")]
        assert len(lines) <= (SHORTEST_LINES_MAX if file.name in SHORTEST else LINES_MAX), file
    assert {file.name for file in files} >= set(SHORTEST)


@pytest.fixture(params=sorted(RUNS))
def submitted(request: pytest.FixtureRequest, full_lab: RunningLab) -> Iterator[Path]:
    """Submit one as a person types it, and take it away afterwards."""
    file = FOLDER / request.param
    made = full_lab.kubectl("create", "-f", str(file), user=USER)
    assert made.returncode == 0, made.stderr
    yield file
    full_lab.kubectl("delete", "-f", str(file), "--wait=false", user=USER)
    name = yaml.safe_load(file.read_text())["metadata"]["name"]
    work.wait(lambda: not _pods(full_lab, name))


def _pods(lab: RunningLab, name: str) -> list[dict[str, Any]]:
    """Return the pods of a piece of work, whichever kind it is of: they bear its name."""
    pods: list[dict[str, Any]] = lab.get("pods", "-n", NAMESPACE)["items"]
    return [p for p in pods if p["metadata"]["name"].startswith(name)]


def test_an_example_runs_where_it_should_and_is_its_users(
    submitted: Path, full_lab: RunningLab
) -> None:
    name = yaml.safe_load(submitted.read_text())["metadata"]["name"]
    count, hosts = RUNS[submitted.name]

    def running() -> list[dict[str, Any]]:
        return [p for p in _pods(full_lab, name) if p["status"].get("phase") == "Running"]

    work.wait(lambda: len(running()) == count)
    pods = running()
    assert all(pod["spec"]["nodeName"].startswith(hosts) for pod in pods)
    for pod in pods:
        assert pod["metadata"]["labels"][labels.USER] == USER
        assert pod["metadata"]["labels"][labels.PROJECT] == NAMESPACE
    records = [w for w in work.workloads(full_lab, NAMESPACE) if name in w["metadata"]["name"]]
    assert records
    for record in records:
        # Kueue copies no labels to the record of a StatefulSet, but to every other.
        is_of_set = "StatefulSet" in {o["kind"] for o in record["metadata"]["ownerReferences"]}
        bearer = full_lab.get("statefulset", name, "-n", NAMESPACE) if is_of_set else record
        assert bearer["metadata"]["labels"][labels.USER] == USER
        assert bearer["metadata"]["labels"][labels.PROJECT] == NAMESPACE
    if submitted.name == "train-gang.yaml":
        assert len({pod["spec"]["nodeName"] for pod in pods}) == 2
        assert len({_rack(full_lab, pod["spec"]["nodeName"]) for pod in pods}) == 1


def _rack(lab: RunningLab, host: str) -> str:
    return str(lab.get("node", host)["metadata"]["labels"][labels.NODE_RACK])
