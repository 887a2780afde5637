"""`tally lab`: what it prints, and how it ends where there is no lab."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import errno
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import pytest

from lab import control_plane, kwokctl, stack
from lab.folder import LabFolder, lab_folder, write_private
from lab.ports import CONTROLLERS, MANAGERS
from lab.status import ComponentStatus, LabStatus
from lab.toolchain.failure import ToolchainError
from lab.walkthrough import Story
from tallyard.cli import lab_summary
from tallyard.cli.lab_command import Component
from tallyard.cli.main import run
from tallyard.cluster.jobs import Submitted
from tallyard.spec.load import load
from tests.cli.conftest import answers_of
from tests.cluster.conftest import ApiServer, WriteKubeconfig

STACK = Path(__file__).parents[2] / "stacks" / "local.yaml"
NOBODY = "no-such-lab"


BEGUN = datetime(2026, 12, 1, 8, 0, 0, 900000, tzinfo=UTC)


@pytest.fixture
def begun() -> datetime:
    """When the `up` began: just before the examples were submitted."""
    return BEGUN


@pytest.fixture
def are_run() -> bool:
    """Whether the examples were run."""
    return True


@pytest.fixture
def told(  # noqa: PLR0917 - fixtures
    api_server: ApiServer,
    kubeconfig: WriteKubeconfig,
    moment: Mapping[str, Any],
    submitted: Submitted,
    capsys: pytest.CaptureFixture[str],
    begun: datetime,
    are_run: bool,  # noqa: FBT001 - a fixture
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
        Story("lab/jobs/train-fill.yaml", work["train-fill"], None),
        Story("lab/jobs/train-waits.yaml", work["train-waits"], "waits for 2 more"),
        Story("examples/serve.yaml", work["serve"], None),
    )
    lab_summary.show(platform, folder, status, stories if are_run else (), begun)
    return capsys.readouterr().out


def test_the_summary_counts_the_hosts_by_pool_and_model(told: str) -> None:
    rows = [line.split() for line in told.splitlines()]
    assert ["training", "A800-SXM4-80GB", "4", "32"] in rows
    assert ["inference", "RTX-4090", "2", "8"] in rows
    assert ["shared", "RTX-4090", "2", "8"] in rows
    assert ["cpu", "cpu", "2", "0"] in rows


def test_the_summary_shows_the_queues_and_the_lives_of_the_examples(told: str) -> None:
    assert "24/16" in told
    assert "lab/jobs/train-fill.yaml (Job train-fill)" in told
    assert "a800-00, a800-01" in told


def test_an_example_that_had_to_wait_says_for_what(told: str) -> None:
    assert "  waited: waits for 2 more" in told.splitlines()


@pytest.mark.parametrize("begun", [datetime(2026, 12, 1, 7, 58, tzinfo=UTC)])
def test_each_pod_of_a_service_has_a_heading(told: str) -> None:
    assert "  serve-5f6d7-aaaaa" in told.splitlines()
    assert "  serve-5f6d7-bbbbb" in told.splitlines()


@pytest.mark.parametrize("begun", [BEGUN + timedelta(hours=1)])
def test_examples_of_an_earlier_up_are_not_told_as_if_just_run(told: str) -> None:
    assert "train-fill.yaml" not in told
    assert "examples/" not in told
    assert "The examples were submitted before, at 2026-12-01 08:00:05 UTC" in told
    assert "`tally jobs`" in told


def test_examples_that_were_there_already_are_told_apart_from_the_new_ones(told: str) -> None:
    assert "examples/serve.yaml" not in told
    assert "The other examples were submitted before, at 2026-12-01 07:59:00 UTC" in told


def test_the_parts_that_have_logs_are_those_that_can_be_named() -> None:
    named = set(get_args(Component.__value__))
    parts = {*kwokctl.COMPONENTS, *MANAGERS, CONTROLLERS}
    assert named == {*parts, stack.NAME, control_plane.KWOKCTL}


def test_in_a_labs_shell_a_command_is_about_that_lab(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TALLYARD_LAB", NOBODY)
    for command in ("status", "down", "preview"):
        run(["lab", command])
        assert f"there is no lab {NOBODY}" in capsys.readouterr().out
    assert run(["lab", "status", "--name", "another-lab"]) == 6
    assert "another-lab" in capsys.readouterr().out


def test_the_table_of_a_lab_speaks_chinese(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["version", "--lang", "zh"]) == 0
    assert capsys.readouterr().out.split()[:2] == ["程序", "版本"]


def test_the_summary_ends_with_three_commands(told: str) -> None:
    commands = [line.split("#")[0].strip() for line in told.splitlines()[-3:]]
    assert commands[0].startswith(". ")
    assert commands[0].endswith("/env")
    assert commands[1:] == ["tally jobs train-waits", "tally lab preview"]


@pytest.mark.parametrize("are_run", [False])
def test_without_the_examples_none_of_them_is_offered(told: str) -> None:
    """`tally lab up --no-examples`."""
    assert "train-waits" not in told.split("Next:")[1]
    assert "tally lab preview" in told


def test_a_lab_that_is_not_there_has_a_status_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lab", "status", "--name", NOBODY, "-o", "json"]) == 6
    content = json.loads(capsys.readouterr().out)
    assert (content["kind"], content["name"], content["exists"]) == ("LabStatus", NOBODY, False)


@pytest.mark.parametrize(
    ("lang", "told"),
    [
        ("en", "there is no lab default, but there is: newuser, other."),
        ("zh", "没有实验环境 default，现有：newuser、other；"),
    ],
)
def test_where_another_lab_is_meant_the_labs_and_the_option_are_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    lang: str,
    told: str,
) -> None:
    monkeypatch.setattr("lab.folder.CHECKOUT", tmp_path)
    monkeypatch.delenv("TALLYARD_LAB", raising=False)
    assert run(["lab", "preview"]) == 6
    assert "; `tally lab up` starts it" in capsys.readouterr().out
    for name in ("other", "newuser"):
        write_private(lab_folder(name).state, b"{}")
    for command in ("status", "preview"):
        assert run(["lab", command, "--lang", lang]) == 6
        out = capsys.readouterr().out
        for part in (told, "`--name newuser`", '`ARGS="--name newuser"`', "`tally lab up`"):
            assert part in out


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


def test_what_the_system_refuses_is_told_with_the_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "/lab/lab.json")

    monkeypatch.setattr("lab.toolchain.ensure.ensure", fail)
    assert run(["lab", "toolchain"]) == 1
    assert [line.strip() for line in capsys.readouterr().err.splitlines()] == [
        "error: /lab/lab.json cannot be used",
        "where: /lab/lab.json",
        "why: the disk is full",
        "do: Free some space there, then run the command again",
    ]
