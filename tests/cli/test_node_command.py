"""`tally node check` against a server that answers what a cluster would."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from lab.nodes import node_objects
from tallyard import labels
from tallyard.cli.application import run_application
from tallyard.cli.exit_codes import ExitCode
from tallyard.render.controllers import SpecFile, spec_manifest
from tallyard.spec.model import Platform
from tests.cluster.conftest import ApiServer, refusal
from tests.running_lab import OVERLAY

CONFIG = f"/api/v1/namespaces/{labels.SYSTEM_NAMESPACE}/configmaps/{labels.SPEC_CONFIG}"
type Check = Callable[..., int]


@pytest.fixture
def check(api_server: ApiServer, kubeconfig: Callable[..., Path], platform: Platform) -> Check:
    """Run the command; all hosts are right at first."""
    base = OVERLAY.with_name("platform.yaml")
    files = SpecFile("local.yaml", OVERLAY.read_text()), SpecFile("platform.yaml", base.read_text())
    api_server.answers[CONFIG] = spec_manifest(*files).object
    api_server.answers["/api/v1/nodes"] = copy.deepcopy(node_objects(platform))

    def check(*arguments: str) -> int:
        path = str(kubeconfig(api_server.url))
        return run_application(["node", "check", "--kubeconfig", path, *arguments])

    return check


def test_a_cluster_that_is_as_the_spec_says_is_all_well(
    check: Check, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check() == ExitCode.OK
    told = capsys.readouterr().out
    assert "16 of 16 hosts are as in the spec and open for work." in told
    assert "a100-00" in told


def test_a_host_that_differs_is_a_change_that_nobody_expected(
    check: Check, api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    first, *others = api_server.answers["/api/v1/nodes"]
    api_server.answers["/api/v1/nodes"] = others
    stranger = {"metadata": {"name": "new-00", "labels": {"gpu.model": "x"}}}
    others.append(stranger)
    assert check("-o", "json") == ExitCode.CHANGES
    found = json.loads(capsys.readouterr().out)
    assert (found["apiVersion"], found["kind"]) == ("tally/v1", "HostList")
    assert found["items"][0] == {
        "name": first["metadata"]["name"],
        "pool": "training",
        "model": "A100-SXM4-40GB",
        "state": "missing",
        "open": None,
        "reason": "the cluster has no node of this name",
    }
    last = found["items"][-1]
    assert (last["name"], last["pool"], last["state"]) == ("new-00", None, "not-in-spec")
    assert check("-o", "yaml") == ExitCode.CHANGES
    assert yaml.safe_load(capsys.readouterr().out) == found


def test_it_speaks_chinese(
    check: Check, api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    api_server.answers["/api/v1/nodes"][0]["metadata"]["labels"][labels.NODE_RACK] = "r9"
    assert check("--lang", "zh") == ExitCode.CHANGES
    told = capsys.readouterr().out
    assert "规格要求 r0" in told
    assert "16 台主机中 15 台" in told


def test_a_cluster_without_a_spec_says_what_to_do(
    check: Check, api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    api_server.answers[CONFIG] = refusal(404, "not found", name=labels.SPEC_CONFIG)
    assert check() == ExitCode.NOT_FOUND
    told = capsys.readouterr().err
    assert "the cluster has no spec" in told
    assert "pulumi up" in told


def test_a_spec_that_cannot_be_loaded_is_told_with_its_fault(
    check: Check, api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    config = copy.deepcopy(dict(api_server.answers[CONFIG]))
    config["data"]["local.yaml"] = config["data"]["local.yaml"].replace("hosts:", "host:", 1)
    api_server.answers[CONFIG] = config
    assert check() == ExitCode.FAILED
    told = capsys.readouterr().err
    assert "local.yaml:5:" in told
    assert "Traceback" not in told
    assert told.count("pulumi up") == 1


def test_a_spec_that_cannot_be_loaded_is_told_in_chinese_with_what_to_do_once(
    check: Check, api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    config = copy.deepcopy(dict(api_server.answers[CONFIG]))
    config["metadata"]["annotations"].pop(labels.OVERLAY)
    api_server.answers[CONFIG] = config
    assert check("--lang", "zh") == ExitCode.FAILED
    told = capsys.readouterr().err
    assert "没有指向其中任何文件" in told
    assert "names none" not in told
    assert told.count("pulumi up") == 1


def test_a_host_that_is_not_in_the_spec_is_told_in_chinese_alone(
    check: Check, api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    taint = {"key": labels.POOL_TAINT, "value": "x", "effect": labels.NO_SCHEDULE}
    api_server.answers["/api/v1/nodes"].append(
        {
            "metadata": {"name": "new-00", "labels": {"gpu.model": "x"}},
            "spec": {"taints": [taint]},
            "status": {"capacity": {"nvidia.com/gpu": "8"}},
        }
    )
    assert check("--lang", "zh", "-o", "json") == ExitCode.CHANGES
    reason = json.loads(capsys.readouterr().out)["items"][-1]["reason"]
    assert reason.startswith(
        "不在规格中；有 8 个 nvidia.com/gpu；有标签 gpu.model=x；"  # noqa: RUF001
        f"有污点 {labels.POOL_TAINT}=x:NoSchedule"
    )
    assert "the label" not in reason


def test_who_may_not_look_is_told_so(check: Check, api_server: ApiServer) -> None:
    api_server.answers["/api/v1/nodes"] = refusal(403, "forbidden")
    assert check() == ExitCode.AUTH
