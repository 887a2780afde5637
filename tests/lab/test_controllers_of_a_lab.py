"""The lab's own controllers: what `up` waits for, and what it says when that does not come."""

from __future__ import annotations

import copy
import os
import signal
from typing import Any, cast

import pytest

from lab import controllers, processes, session
from lab.api import Api
from lab.controllers import Controllers, held_back, wait_released
from lab.errors import LabError
from lab.folder import lab_folder
from lab.nodes import FAKE, node_objects
from lab.state import StateFile
from tallyard import labels
from tallyard.cli.application import run_application
from tallyard.cli.exit_codes import ExitCode
from tallyard.spec.model import Platform
from tests.running_lab import RunningLab


class _Cluster:
    def __init__(self, nodes: dict[str, dict[str, Any]]) -> None:
        self._nodes = nodes

    def nodes(self, _: str) -> dict[str, dict[str, Any]]:
        return self._nodes


@pytest.fixture
def nodes(platform: Platform) -> dict[str, dict[str, Any]]:
    return {n["metadata"]["name"]: copy.deepcopy(n) for n in node_objects(platform)}


def test_only_hosts_that_are_closed_or_not_there_are_held_back(
    nodes: dict[str, dict[str, Any]],
) -> None:
    taint = {"key": labels.UNVERIFIED_TAINT, "effect": labels.NO_SCHEDULE}
    nodes["a100-00"]["spec"]["taints"].append(taint)
    nodes["a100-00"]["metadata"]["annotations"][labels.HELD] = "why"
    nodes["a100-01"]["spec"]["taints"].append(taint)
    del nodes["cpu-01"]
    assert held_back(nodes, ["a100-00", "a100-01", "a100-02", "cpu-00", "cpu-01"]) == {
        "a100-00": "why",
        "a100-01": "the controllers have not looked at it",
        "cpu-01": "the cluster has no node of this name",
    }


def test_hosts_that_stay_closed_end_the_wait_with_their_reasons(
    nodes: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setattr(controllers, "RELEASED_SECONDS_MAX", 0.2)
    api = cast("Api", _Cluster(nodes))
    wait_released(api, nodes, tmp_path)
    nodes["a100-00"]["spec"]["taints"].append(
        {"key": labels.UNVERIFIED_TAINT, "effect": labels.NO_SCHEDULE}
    )
    nodes["a100-00"]["metadata"]["annotations"][labels.HELD] = "the label x is missing"
    with pytest.raises(LabError) as caught:
        wait_released(api, nodes, tmp_path)
    assert caught.value.what == "1 of 16 hosts are kept from work"
    assert "a100-00: the label x is missing" in caught.value.why
    assert "tally node check" in caught.value.advice


def test_a_whole_lab_has_its_controllers_and_all_its_hosts_are_open(
    full_lab: RunningLab, platform: Platform
) -> None:
    parts = {part.name: part for part in session.look(full_lab.name, base=full_lab.base).components}
    assert parts["controllers"].is_ready
    assert held_back(full_lab.api.nodes(FAKE), (node.name for node in platform.nodes)) == {}
    path = session.logs(full_lab.name, "controllers", base=full_lab.base)
    assert "release a100-00" in path.read_text()


def test_operators_may_check_the_hosts_and_members_may_not(full_lab: RunningLab) -> None:
    for user, code in (("operator", ExitCode.OK), ("li.wei", ExitCode.AUTH)):
        path = str(full_lab.folder.kubeconfigs / user)
        assert run_application(["node", "check", "--kubeconfig", path]) == code


def test_controllers_that_were_killed_are_seen_and_started_again(full_lab: RunningLab) -> None:
    process = full_lab.state.process("controllers")
    assert process
    os.kill(process.pid, signal.SIGKILL)
    assert processes.wait(process, 10)
    assert not session.look(full_lab.name, base=full_lab.base).is_ready
    own = Controllers(full_lab.folder, StateFile(full_lab.folder))
    assert own.ensure()
    assert not own.ensure()
    assert session.look(full_lab.name, base=full_lab.base).is_ready


def test_controllers_that_cannot_start_are_told_with_their_last_words(
    shared_lab: RunningLab, tmp_path: Any
) -> None:
    """A control plane without our namespace: there is no account to give a token to."""
    folder = lab_folder("controllers", tmp_path)
    folder.kubeconfigs.mkdir(parents=True)
    folder.admin.write_bytes(shared_lab.folder.admin.read_bytes())
    with pytest.raises(LabError, match="token"):
        Controllers(folder, StateFile(folder)).ensure()
