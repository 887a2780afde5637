"""What Pulumi's state has of a stack, and one line where it cannot be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pulumi_policy.deserialize import SPECIAL_SECRET_SIG, SPECIAL_SIG_KEY

from policies.planned import HIDDEN, at
from policies.recorded import SIGNATURE, Recorded, StateError, moved, objects_in, recorded
from tallyard.render.manifest import Manifest


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
                _resource("Namespace", "new", urn="urn:new", retainOnDelete=True),
                _resource("Namespace", "old", delete=True),
            ]
        }
    }
    (found,) = objects_in(state)
    assert (found.urn, found.name, found.is_retained) == ("urn:new", "new", True)


@pytest.mark.parametrize("state", [{}, {"deployment": None}, {"deployment": {"resources": None}}])
def test_a_stack_that_was_never_applied_has_no_objects(state: dict[str, None]) -> None:
    assert list(objects_in(state)) == []


def test_of_what_is_secret_nothing_but_that_is_kept() -> None:
    secret = _resource("Secret", "s")
    kept = {SIGNATURE: SPECIAL_SECRET_SIG, "ciphertext": "v1:abc"}
    secret["inputs"] = {**dict(secret["inputs"]), "data": {"a": kept}}  # type: ignore[call-overload]
    (found,) = objects_in({"deployment": {"resources": [secret]}})
    assert at(found.object, "data", "a") == HIDDEN


def test_what_is_secret_is_known_by_pulumis_own_mark() -> None:
    assert SIGNATURE == SPECIAL_SIG_KEY


_OLD, _NEW = "urn:pulumi:local::tallyard::old", "urn:pulumi:local::tallyard::new"
_QUEUE = {"kind": "LocalQueue", "metadata": {"name": "training", "namespace": "nlp"}}
_KEY = ("LocalQueue", "nlp", "training")


def test_an_object_that_the_program_calls_otherwise_is_moved_from_the_one_urn_to_the_other() -> (
    None
):
    (change,) = moved([Recorded(_QUEUE, _OLD)], {_NEW: [Manifest(_QUEUE)]}).values()
    assert (change.field, change.before, change.after) == ("URN", _OLD, _NEW)


def test_an_object_that_stands_twice_in_a_state_is_moved_if_one_of_its_urns_goes() -> None:
    """Pulumi deletes it by that one, whatever it does by the other."""
    state = [Recorded(_QUEUE, _NEW), Recorded(_QUEUE, _OLD)]
    assert set(moved(state, {_NEW: [Manifest(_QUEUE)]})) == {_KEY}


@pytest.mark.parametrize(
    ("state", "aliases"),
    [
        (Recorded(_QUEUE, _NEW), ()),
        (Recorded(_QUEUE, _OLD, is_retained=True), ()),
        (Recorded(_QUEUE, _OLD), (_OLD,)),
    ],
    ids=["it is called as before", "Pulumi leaves it there", "the old URN is an alias"],
)
def test_nothing_is_moved_where_nothing_is_deleted(
    state: Recorded, aliases: tuple[str, ...]
) -> None:
    assert moved([state], {_NEW: [Manifest(_QUEUE)]}, aliases) == {}


def test_what_goes_as_a_whole_is_not_moved() -> None:
    assert moved([Recorded(_QUEUE, _OLD)], {}) == {}


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
