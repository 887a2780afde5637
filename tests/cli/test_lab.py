"""`tally lab`: what it prints, and how it ends where there is no lab."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lab.folder import LabFolder
from lab.status import ComponentStatus, LabStatus
from lab.toolchain.failure import ToolchainError
from lab.walkthrough import Story
from tallyard.cli import lab_summary
from tallyard.cli.main import run
from tallyard.cluster.jobs import Submitted
from tallyard.spec.load import load
from tests.cli.conftest import answers_of
from tests.cluster.conftest import ApiServer, WriteKubeconfig

STACK = Path(__file__).parents[2] / "stacks" / "local.yaml"
NOBODY = "no-such-lab"


@pytest.fixture
def told(
    api_server: ApiServer,
    kubeconfig: WriteKubeconfig,
    moment: Mapping[str, Any],
    submitted: Submitted,
    capsys: pytest.CaptureFixture[str],
) -> str:
    """What the end of `tally lab up` prints for the cluster of `data/cluster.yaml`."""
    kueue = "/apis/kueue.x-k8s.io/v1beta2"
    api_server.answers |= answers_of(moment) | {
        f"{kueue}/localqueues": moment["local_queues"],
        f"{kueue}/workloads": moment["workloads"],
    }
    file = kubeconfig(api_server.url)
    folder = LabFolder(file.parent, "demo")
    folder.kubeconfigs.mkdir(parents=True)
    file.rename(folder.kubeconfigs / "operator")
    etcd = ComponentStatus(
        "etcd", 1, 2, is_running=True, is_ready=True, memory_bytes=3 * 2**20, log=None
    )
    status = LabStatus("demo", True, str(STACK), api_server.url, folder.environment, (etcd,))
    platform = load(STACK).platform
    assert platform is not None
    work = {each.name: each for each in submitted.work}
    stories = (
        Story("train-fill.yaml", work["train-fill"], None),
        Story("train-waits.yaml", work["train-waits"], "waits for 2 more"),
    )
    lab_summary.show(platform, folder, status, stories)
    return capsys.readouterr().out


def test_the_summary_counts_the_hosts_by_pool_and_model(told: str) -> None:
    rows = [line.split() for line in told.splitlines()]
    assert ["training", "A800-SXM4-80GB", "4", "32"] in rows
    assert ["inference", "RTX-4090", "4", "16"] in rows
    assert ["cpu", "cpu", "2", "0"] in rows


def test_the_summary_shows_the_queues_and_the_lives_of_the_examples(told: str) -> None:
    assert "24/16" in told
    assert "examples/train-fill.yaml (Job train-fill)" in told
    assert "a800-00, a800-01" in told


def test_an_example_that_had_to_wait_says_for_what(told: str) -> None:
    assert "  waited: waits for 2 more" in told.splitlines()


def test_the_summary_ends_with_three_commands(told: str) -> None:
    commands = [line.split("#")[0].strip() for line in told.splitlines()[-3:]]
    assert commands[0].startswith(". ")
    assert commands[0].endswith("/env")
    assert commands[1:] == ["tally jobs train-waits", "pulumi preview -s local"]


def test_a_lab_that_is_not_there_has_a_status_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "status", "--name", NOBODY, "-o", "json"]) == 6
    content = json.loads(capsys.readouterr().out)
    assert (content["kind"], content["name"], content["exists"]) == ("LabStatus", NOBODY, False)


def test_a_lab_that_is_not_there_has_no_logs(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "logs", "etcd", "--name", NOBODY]) == 6
    out, err = capsys.readouterr()
    assert out == ""
    assert "no such lab runs" in err


def test_ending_a_lab_that_is_not_there_is_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "down", "--name", NOBODY]) == 0
    assert "nothing to do" in capsys.readouterr().out


def test_a_toolchain_that_cannot_be_had_is_told_in_four_parts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> None:
        raise ToolchainError(
            "Building kueue failed", why="the disk is full", advice="Free some", log=Path("/x.log")
        )

    monkeypatch.setattr("lab.toolchain.ensure.ensure", fail)
    assert run(["lab", "toolchain"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.strip() for line in err.splitlines()] == [
        "error: Building kueue failed",
        "where: /x.log",
        "why: the disk is full",
        "do: Free some",
    ]


def test_a_name_that_no_lab_can_have_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "status", "--name", "Not A Name"]) == 1
    assert "not possible" in capsys.readouterr().err
