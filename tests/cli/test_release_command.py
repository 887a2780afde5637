"""`tally ledger release-finalizers` against a server that answers what a cluster would."""

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
from tests.cluster.conftest import ApiServer, refusal

KUEUE = f"/apis/{labels.KUEUE_API}"
IN_USE = "kueue.x-k8s.io/resource-in-use"
type Release = Callable[..., int]


def _workload(name: str, *finalizers: str, is_going: bool = True) -> dict[str, Any]:
    meta: dict[str, Any] = {"name": name, "namespace": "nlp", "resourceVersion": "7"}
    if is_going:
        meta["deletionTimestamp"] = "2026-12-01T08:00:00Z"
    return {"metadata": {**meta, "finalizers": [*finalizers]}}


@pytest.fixture
def release(api_server: ApiServer, kubeconfig: Callable[..., Path]) -> Release:
    """Run the command; of four Workloads two are kept by us and are being deleted."""
    api_server.answers[f"{KUEUE}/workloads"] = [
        _workload("held", labels.HOLD_FINALIZER, IN_USE),
        _workload("ran", IN_USE, labels.SETTLE_FINALIZER),
        _workload("runs", labels.SETTLE_FINALIZER, is_going=False),
        _workload("other", IN_USE),
    ]

    def release(*arguments: str) -> int:
        path = str(kubeconfig(api_server.url))
        return run_application(["ledger", "release-finalizers", "--kubeconfig", path, *arguments])

    return release


def _changed(server: ApiServer) -> list[str]:
    return [path.rpartition("/")[2] for method, path, _ in server.asked if method != "GET"]


def test_only_what_is_being_deleted_and_kept_by_us_is_let_go(
    release: Release, api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert release("--yes") == ExitCode.OK
    assert _changed(api_server) == ["held", "ran"]
    assert api_server.sent == [
        {"metadata": {"resourceVersion": "7", "finalizers": [IN_USE]}} for _ in range(2)
    ]
    told = capsys.readouterr()
    assert told.out.splitlines() == ["released nlp/held", "released nlp/ran"]
    assert "2 Workloads wait for their end to be on record: nlp 2" in told.err


def test_nothing_to_let_go_is_said_and_not_asked_about(
    release: Release, api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    api_server.answers[f"{KUEUE}/workloads"] = []
    assert release() == ExitCode.OK
    assert capsys.readouterr().out == "No Workload waits to be let go.\n"


def test_one_that_has_changed_meanwhile_is_kept_and_one_that_is_gone_is_gone(
    release: Release, api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    place = f"{KUEUE}/namespaces/nlp/workloads"
    api_server.answers[f"{place}/held"] = refusal(409, "the object has been modified", name="held")
    api_server.answers[f"{place}/ran"] = refusal(404, "not found", name="ran")
    assert release("--yes", "-o", "json") == ExitCode.OK
    told = json.loads(capsys.readouterr().out)
    assert told["changed"] == [{"namespace": "nlp", "name": "held"}]
    assert told["released"] == [{"namespace": "nlp", "name": "ran"}]


def test_who_may_not_is_told_so(
    release: Release, api_server: ApiServer, capsys: pytest.CaptureFixture[str]
) -> None:
    message = 'workloads "held" is forbidden: User "li.wei" cannot patch resource "workloads"'
    api_server.answers[f"{KUEUE}/namespaces/nlp/workloads/held"] = refusal(403, message)
    assert release("--yes") == ExitCode.AUTH
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(("typed", "changed"), [("yes\n", 0), ("release\n", 2)])
def test_a_person_types_the_word(
    release: Release,
    api_server: ApiServer,
    monkeypatch: pytest.MonkeyPatch,
    typed: str,
    changed: int,
) -> None:
    terminal = io.StringIO(typed)
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", terminal)
    assert release() == (ExitCode.OK if changed else ExitCode.CANCELLED)
    assert len(_changed(api_server)) == changed


def test_in_chinese_too(release: Release, capsys: pytest.CaptureFixture[str]) -> None:
    assert release("--yes", "--lang", "zh") == ExitCode.OK
    told = capsys.readouterr()
    assert "2 个 Workload 正在删除，等待记账：nlp 2" in told.err  # noqa: RUF001
    assert "已释放 nlp/held" in told.out
