"""`tally drain` against a server that answers what a cluster would."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tallyard import labels
from tallyard.cli.application import run_application
from tallyard.cli.exit_codes import ExitCode
from tallyard.render.controllers import SpecFile, spec_manifest
from tests.cluster.conftest import ApiServer, refusal
from tests.running_lab import OVERLAY

KUEUE = f"/apis/{labels.KUEUE_API}"
CONFIG = f"/api/v1/namespaces/{labels.SYSTEM_NAMESPACE}/configmaps/{labels.SPEC_CONFIG}"
QUEUES = f"{KUEUE}/clusterqueues"
type Drain = Callable[..., int]


@pytest.fixture
def drain(api_server: ApiServer, kubeconfig: Callable[..., Path]) -> Drain:
    """Run the command; one queue takes work, one job runs."""
    base = OVERLAY.with_name("platform.yaml")
    files = SpecFile("local.yaml", OVERLAY.read_text()), SpecFile("platform.yaml", base.read_text())
    admitted = [{"type": "QuotaReserved", "status": "True"}]
    api_server.answers |= {
        CONFIG: spec_manifest(*files).object,
        QUEUES: [_queue("None")],
        f"{KUEUE}/workloads": [
            {"metadata": {"name": "w", "namespace": "nlp"}, "status": {"conditions": admitted}}
        ],
        "/api/v1/namespaces": [],
        f"{KUEUE}/resourceflavors": [],
        f"{KUEUE}/topologies": [],
    }

    def drain(*arguments: str) -> int:
        path = str(kubeconfig(api_server.url))
        return run_application(["drain", "--kubeconfig", path, *arguments])

    return drain


def _queue(policy: str) -> dict[str, Any]:
    ours = {labels.MANAGED_BY: labels.FIELD_MANAGER}
    metadata = {"name": "nlp-training", "labels": ours}
    return {"metadata": metadata, "spec": {"stopPolicy": policy}}


def _is_changed(server: ApiServer) -> bool:
    return any(method != "GET" and "dryRun" not in query for method, _, query in server.asked)


def test_without_a_stack_nothing_is_meant(drain: Drain, api_server: ApiServer) -> None:
    assert drain("--yes") == ExitCode.USAGE
    assert not api_server.asked


def test_a_cluster_with_another_environment_is_refused(
    drain: Drain, api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert drain("-s", "prod", "--yes") == ExitCode.USAGE
    told = capsys.readouterr().err
    assert "-s names prod.yaml (demo), the cluster has tallyard-system/platform: local.yaml" in told
    assert not _is_changed(api_server)


def test_a_cluster_with_another_platform_of_the_same_environment_is_refused(
    drain: Drain, api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    data = api_server.answers[CONFIG]["data"]
    data["platform.yaml"] = data["platform.yaml"].replace("name: demo", "name: other")
    assert drain("-s", "local", "--yes") == ExitCode.USAGE
    assert "local.yaml, other" in capsys.readouterr().err
    assert not _is_changed(api_server)


def test_a_cluster_without_a_platform_is_refused(
    drain: Drain, api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    api_server.answers[CONFIG] = refusal(404, "not found", name=labels.SPEC_CONFIG)
    assert drain("-s", "local", "--yes", "--lang", "zh") == ExitCode.USAGE
    assert "该集群上的平台不是要停的那一个" in capsys.readouterr().err
    assert not _is_changed(api_server)


def test_it_says_what_it_will_do_and_needs_a_person_or_their_yes(
    drain: Drain,
    api_server: ApiServer,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("local\n"))
    assert drain("-s", "local") == ExitCode.USAGE
    told = capsys.readouterr().err
    assert "1 queues will take nothing more. Stopped, to wait again: nlp 1" in told
    assert "add --yes" in told
    assert not _is_changed(api_server)


@pytest.mark.parametrize(("typed", "code"), [("prod\n", 8), ("", 8), ("local\n", 9)])
def test_a_person_types_the_environments_name(
    drain: Drain,
    api_server: ApiServer,
    monkeypatch: pytest.MonkeyPatch,
    typed: str,
    code: int,
) -> None:
    """Nothing here ever stops, so who goes on waits in vain."""
    terminal = io.StringIO(typed)
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", terminal)
    assert drain("-s", "local", "--timeout", "0s") == code
    assert _is_changed(api_server) == (typed == "local\n")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_who_may_not_hold_a_queue_is_told_so_before_any_plan_and_how_to_go_on(
    drain: Drain, api_server: ApiServer, capsys: pytest.CaptureFixture[str], lang: str
) -> None:
    """The lab's operator, who may look at everything."""
    message = 'clusterqueues is forbidden: User "operator" cannot patch resource "clusterqueues"'
    api_server.answers[f"{QUEUES}/nlp-training"] = refusal(403, message, name="nlp-training")
    # Asked without a terminal: a plan would end with the advice to add --yes.
    assert drain("-s", "local", "--lang", lang) == ExitCode.AUTH
    first, *others = capsys.readouterr().err.splitlines()
    assert first.endswith(
        {"en": "you may not drain this platform", "zh": "您无权停用此平台的队列"}[lang]
    )
    why, todo = others[-2:]
    assert message in why
    assert {"en": "nothing was changed", "zh": "未做任何更改"}[lang] in why
    assert "--context" in todo
    assert "tallyard-" in todo
    assert not _is_changed(api_server)


def test_the_server_is_asked_for_a_dry_run_of_a_queue_that_is_open_first(
    drain: Drain, api_server: ApiServer
) -> None:
    assert drain("-s", "local", "--yes", "--timeout", "0s") == ExitCode.TIMEOUT
    first, second = (query for method, _, query in api_server.asked if method == "PATCH")
    assert first["dryRun"] == ["All"]
    assert "dryRun" not in second


def test_what_does_not_stop_in_time_is_named(
    drain: Drain, capsys: pytest.CaptureFixture[str]
) -> None:
    assert drain("-s", "local", "--yes", "--timeout", "0s") == ExitCode.TIMEOUT
    told = capsys.readouterr().err
    assert "these still hold quota: nlp 1" in told
    assert "Kueue's controller" in told


def test_a_platform_that_is_drained_is_not_asked_about_and_the_next_step_is_told(
    drain: Drain, api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    theirs = {"metadata": {"name": "theirs"}, "spec": {}}
    api_server.answers[QUEUES] = [_queue("HoldAndDrain"), theirs]
    api_server.answers[f"{KUEUE}/workloads"] = []
    old = {"metadata": {"name": "old-1"}}
    api_server.answers[f"{KUEUE}/resourceflavors"] = [old]
    assert drain("-s", "local") == ExitCode.OK
    told = capsys.readouterr().out
    assert "TALLYARD_DESTROY=local pulumi destroy -s local --run-program" in told
    assert "kubectl delete resourceflavor old-1" in told
    assert "queues of somebody else's: theirs" in told
    assert drain("-s", "local", "-o", "json") == ExitCode.OK
    assert json.loads(capsys.readouterr().out) == {
        "apiVersion": "tally/v1",
        "kind": "Drain",
        "queues": ["nlp-training"],
        "drained": True,
        "waiting": {},
        "leftovers": [{"kind": "ResourceFlavor", "name": "old-1"}],
        "foreign": ["theirs"],
    }
    assert not _is_changed(api_server)


def test_a_time_that_is_none_is_told_before_anything_is_asked(
    drain: Drain, api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert drain("-s", "local", "--timeout", "soon") == ExitCode.USAGE
    assert '"soon" is no time' in capsys.readouterr().err
    assert not api_server.asked
