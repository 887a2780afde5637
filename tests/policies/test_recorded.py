"""What Pulumi's state has of a stack, and one line where it cannot be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from policies.planned import HIDDEN, at
from policies.recorded import StateError, objects_in, recorded

_SECRET = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - how Pulumi marks one
_SIGNATURE = "4dabf18193072939515e22adb298388d"


def _resource(kind: str, name: str, **more: object) -> dict[str, object]:
    inputs = {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}}
    return {"type": f"kubernetes:core/v1:{kind}", "inputs": inputs, **more}


def _pulumi(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a program of that name before all others."""
    program = folder / "pulumi"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def test_the_objects_of_a_state_are_those_that_stay() -> None:
    state = {
        "deployment": {
            "resources": [
                {"type": "pulumi:pulumi:Stack"},
                {"type": "tallyard:infra:Queues", "inputs": {}},
                {"type": "kubernetes:helm.sh/v4:Chart", "inputs": {"chart": "x"}},
                _resource("Namespace", "new"),
                _resource("Namespace", "old", delete=True),
            ]
        }
    }
    assert [each.name for each in objects_in(state)] == ["new"]


@pytest.mark.parametrize("state", [{}, {"deployment": None}, {"deployment": {"resources": None}}])
def test_a_stack_that_was_never_applied_has_no_objects(state: dict[str, None]) -> None:
    assert list(objects_in(state)) == []


def test_of_what_is_secret_nothing_but_that_is_kept() -> None:
    secret = _resource("Secret", "s")
    kept = {_SIGNATURE: _SECRET, "ciphertext": "v1:abc"}
    secret["inputs"] = {**dict(secret["inputs"]), "data": {"a": kept}}  # type: ignore[call-overload]
    (found,) = objects_in({"deployment": {"resources": [secret]}})
    assert at(found.object, "data", "a") == HIDDEN


def test_what_pulumi_says_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _pulumi(tmp_path, """echo '{"deployment": {"resources": []}}'""", monkeypatch)
    assert recorded("local", tmp_path) == ()


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("printf 'error: no stack\\nnamed x\\n' >&2; exit 6", "error: no stack named x"),
        ("exit 3", "it ended with 3"),
        ("echo nonsense", "Expecting value"),
    ],
)
def test_what_cannot_be_read_is_one_line(
    script: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _pulumi(tmp_path, script, monkeypatch)
    with pytest.raises(StateError) as refused:
        recorded("local", tmp_path)
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)


def test_without_pulumi_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(StateError, match="no program `pulumi` on the PATH"):
        recorded("local", tmp_path)
