"""What a pack hears of each resource: what the program asks for, and not what is read back."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pulumi_policy import (
    PolicyCustomTimeouts,
    PolicyResource,
    PolicyResourceOptions,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.deserialize import SPECIAL_SECRET_SIG, SPECIAL_SIG_KEY, deserialize_properties
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, unknown_checking_proxy

from policies.pack import policies
from policies.recorded import Recorded
from tests.policies.cases import STACKS

_TIMES = PolicyCustomTimeouts(0, 0, 0)
_NOTHING = PolicyResourceOptions(False, [], None, [], _TIMES, [], None)
SECRET = {SPECIAL_SIG_KEY: SPECIAL_SECRET_SIG, "value": "hunter2"}


@pytest.fixture(autouse=True)
def _a_stack_without_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "pulumi"
    program.write_text("#!/bin/sh\necho '{}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")


def _secret(data: Any, **more: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": data, **more}


def _told(
    name: str,
    asked: Mapping[str, Any] | None,
    outputs: Mapping[str, Any],
    rule: str,
    *,
    kind: str = "core/v1:Secret",
    options: PolicyResourceOptions = _NOTHING,
) -> list[str]:
    """Return what a rule tells of one object: `asked` for by the program, `outputs` read back."""
    kind, urn = f"kubernetes:{kind}", _urn(name)
    every = {each.name: each for each in policies()}
    hears, rules = every["asked-for"], every[rule]
    assert isinstance(hears, ResourceValidationPolicy)
    assert isinstance(rules, StackValidationPolicy)
    if asked is not None:
        props = unknown_checking_proxy(deserialize_properties(dict(asked), proxy_secrets=True))
        args = ResourceValidationArgs(kind, props, urn, name, options, None, None)
        # Nothing is changed by hearing it.
        assert hears.remediate(args) is None
    shown = unknown_checking_proxy(deserialize_properties(dict(outputs)))
    resource = PolicyResource(kind, shown, urn, name, options, None, None, [], {})
    told: list[str] = []
    rules.validate(StackValidationArgs([resource], None), lambda text, _: told.append(text))
    return told


def _urn(name: str) -> str:
    return f"urn:pulumi:local::tallyard::kubernetes::{name}"


def test_a_value_that_is_marked_as_secret_is_hidden() -> None:
    asked = _secret({"token": SECRET})
    assert _told("marked", asked, _secret({"token": "aHVudGVyMg=="}), "secrets-hidden") == []


def test_a_value_that_is_not_is_found() -> None:
    (told,) = _told("plain", _secret({"token": "aHVudGVyMg=="}), _secret({}), "secrets-hidden")
    assert told.startswith("data.token of Secret s stands in plain text")


def test_what_a_controller_has_written_since_is_nobodys_fault() -> None:
    asked = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
    assert _told("filled", asked, _secret({"tls.key": "a2V5"}), "secrets-hidden") == []


def test_what_is_not_known_before_it_is_made_is_left_out() -> None:
    asked = _secret({"a": UNKNOWN_STRING_VALUE}, list=[UNKNOWN_STRING_VALUE, 1.0])
    assert _told("unknown", asked, asked, "secrets-hidden") == []


def test_what_nobody_asks_for_any_more_is_not_there_after_the_plan() -> None:
    """After a refresh Pulumi shows it all the same, until it is deleted."""
    assert _told("going", None, _secret({"token": "aHVudGVyMg=="}), "secrets-hidden") == []


def test_the_language_is_that_of_the_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    (told,) = _told("chinese", _secret({"token": "eA=="}), _secret({}), "secrets-hidden")
    assert told.startswith("Secret s 的 data.token 是明文")


_QUEUE: Mapping[str, Any] = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "LocalQueue",
    "metadata": {"name": "training", "namespace": "nlp"},
    "spec": {"clusterQueue": "nlp-training"},
}
_QUEUES = "kueue.x-k8s.io/v1beta2:LocalQueue"
_DEFINITION: Mapping[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "clusterqueues.kueue.x-k8s.io"},
    "spec": {
        "group": "kueue.x-k8s.io",
        "scope": "Cluster",
        "names": {"kind": "ClusterQueue", "plural": "clusterqueues"},
        "versions": [{"name": "v1beta2"}],
    },
}
_DEFINITIONS = "apiextensions.k8s.io/v1:CustomResourceDefinition"


def _state(monkeypatch: pytest.MonkeyPatch, name: str, content: Mapping[str, Any]) -> None:
    state = (Recorded(content, _urn(name)),)
    monkeypatch.setattr("policies.pack._before", lambda _: (state, ""))


def test_an_object_under_another_urn_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    _state(monkeypatch, "queue-old", _QUEUE)
    (told,) = _told("queue-new", _QUEUE, _QUEUE, "objects-replaced", kind=_QUEUES)
    change = f"(URN: {_urn('queue-old')} → {_urn('queue-new')})"
    assert f"LocalQueue nlp/training would have another URN {change}" in told


def test_one_that_stays_under_its_own_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    _state(monkeypatch, "queue-same", _QUEUE)
    assert _told("queue-same", _QUEUE, _QUEUE, "objects-replaced", kind=_QUEUES) == []


def test_nor_one_whose_old_urn_is_an_alias(monkeypatch: pytest.MonkeyPatch) -> None:
    _state(monkeypatch, "queue-before", _QUEUE)
    options = PolicyResourceOptions(False, [], None, [_urn("queue-before")], _TIMES, [], None)
    found = _told("queue-after", _QUEUE, _QUEUE, "objects-replaced", kind=_QUEUES, options=options)
    assert found == []


@pytest.mark.parametrize(("scope", "number"), [("Cluster", 0), ("Namespaced", 1)])
def test_of_a_definition_its_scope_is_known_and_not_its_schemas(
    scope: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"definition-{scope}"
    _state(monkeypatch, name, _DEFINITION)
    new = {**_DEFINITION, "spec": {**_DEFINITION["spec"], "scope": scope, "versions": []}}
    told = _told(name, new, new, "objects-replaced", kind=_DEFINITIONS)
    assert len(told) == number
    assert all(f"(spec.scope: Cluster → {scope})" in each for each in told)


_WAIVER = """
waivers:
  - rule: secrets-hidden
    objects: [Secret/s]
    reason: it is meant
    until: {until}
"""


def test_what_is_waived_is_told_with_its_reason_and_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    until = (datetime.now(UTC) + timedelta(days=30)).date().isoformat()
    waiver = _WAIVER.format(until=until)
    for name in ("platform.yaml", "local.yaml"):
        text = (STACKS / name).read_text()
        (tmp_path / name).write_text(text + (waiver if name == "local.yaml" else ""))
    monkeypatch.setenv("TALLYARD_OVERLAY", str(tmp_path / "local.yaml"))
    asked = _secret({"token": "aHVudGVyMg=="})
    assert _told("waived", asked, _secret({}), "secrets-hidden") == []
    (told,) = _told("waived", asked, _secret({}), "waived")
    assert told.startswith("data.token of Secret s stands in plain text")
    assert told.endswith(f"[secrets-hidden] Waived until {until}: it is meant")
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    (told,) = _told("waived", asked, _secret({}), "waived")
    assert told.endswith(f"豁免至 {until}：it is meant")


def test_without_a_waiver_nothing_is_told_as_waived() -> None:
    assert _told("open", _secret({"token": "aHVudGVyMg=="}), _secret({}), "waived") == []
