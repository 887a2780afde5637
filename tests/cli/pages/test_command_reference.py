"""`docs/cli.md` names fields of documents; each of them is there."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tallyard.cli import documents
from tallyard.cli.main import run
from tallyard.cli.pages.command_reference import _DOCUMENTS
from tallyard.cli.views.jobs import job_rows
from tallyard.cli.views.queue import queue_view
from tallyard.cluster.jobs import Submitted
from tallyard.cluster.kueue import Queues
from tests.cli.conftest import NOW
from tests.spec.specs import DATA

type Document = Mapping[str, Any]
type Captured = pytest.CaptureFixture[str]

_FIELD = re.compile(r"`(\w+)`")
_SMALL = DATA / "diff"
# What asks for nothing but this machine; the others are tried with a cluster's moment.
_RUNS = {
    "tally spec explain KEY": ("spec", "explain", "tiers.NAME.cards", "-o", "json"),
    "tally spec explain SPEC101": ("spec", "explain", "SPEC101", "-o", "json"),
    "tally spec validate --error-format json": (
        *("spec", "validate", str(_SMALL / "local.yaml"), "--error-format", "json"),
    ),
    "tally version": ("version", "-o", "json"),
}


def _fields(command: str) -> set[str]:
    (holds,) = (holds for name, _, holds in _DOCUMENTS if name == command)
    return set(_FIELD.findall(holds))


def _keys(value: Any) -> set[str]:
    """Return the keys of a document, of what it holds too."""
    if isinstance(value, Mapping):
        return set(value).union(*map(_keys, value.values()))
    return set[str]().union(*map(_keys, value)) if isinstance(value, list) else set()


def _kind(command: str) -> str:
    (kind,) = (kind for name, kind, _ in _DOCUMENTS if name == command)
    return kind


@pytest.mark.parametrize("command", _RUNS)
def test_the_fields_that_the_page_names_are_in_the_document(command: str, capsys: Captured) -> None:
    assert run([*_RUNS[command]]) == 0
    found: Document = json.loads(capsys.readouterr().out)
    assert found["kind"] == _kind(command)
    assert _fields(command)
    assert _fields(command) <= _keys(found)


def test_the_page_names_all_fields_of_a_diff_and_no_others(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("platform", "local"):
        (tmp_path / "stacks").mkdir(exist_ok=True)
        (tmp_path / "stacks" / f"{name}.yaml").write_text((_SMALL / f"{name}.yaml").read_text())
    config = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    who = ("-c", "user.name=T", "-c", "user.email=t@example.com")
    for arguments in (("init", "--quiet"), ("add", "."), ("commit", "--quiet", "-m", "x")):
        command = ["git", "-C", str(tmp_path), *who, *arguments]
        subprocess.run(command, check=True, env=os.environ | config)
    monkeypatch.chdir(tmp_path)
    assert run(["spec", "diff", "-o", "json"]) == 0
    found: Document = json.loads(capsys.readouterr().out)
    assert found["kind"] == _kind("tally spec diff")
    assert _fields("tally spec diff") == set(found) - {"apiVersion", "kind", "file"}


def test_the_fields_of_what_a_cluster_answers_are_there(
    queues: Queues, submitted: Submitted
) -> None:
    rows = job_rows(submitted, NOW)
    found = {
        "tally queue": documents.queue_list(queue_view(queues, NOW)),
        "tally jobs": documents.job_list(rows),
        "tally jobs NAME": documents.job(rows[0], {}, {}, []),
    }
    for command, content in found.items():
        assert content["kind"] == _kind(command)
        assert _fields(command)
        assert _fields(command) <= _keys(json.loads(json.dumps(content)))
