"""What a pack hears of each resource: what the program asks for, and not what is read back."""

from __future__ import annotations

import os
from collections.abc import Mapping
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
    name: str, asked: Mapping[str, Any] | None, outputs: Mapping[str, Any], rule: str
) -> list[str]:
    """Return what a rule tells of one Secret: `asked` for by the program, `outputs` read back."""
    kind, urn = "kubernetes:core/v1:Secret", f"urn:pulumi:local::tallyard::kubernetes::{name}"
    every = {each.name: each for each in policies()}
    hears, rules = every["asked-for"], every[rule]
    assert isinstance(hears, ResourceValidationPolicy)
    assert isinstance(rules, StackValidationPolicy)
    if asked is not None:
        props = unknown_checking_proxy(deserialize_properties(dict(asked), proxy_secrets=True))
        args = ResourceValidationArgs(kind, props, urn, name, _NOTHING, None, None)
        # Nothing is changed by hearing it.
        assert hears.remediate(args) is None
    shown = unknown_checking_proxy(deserialize_properties(dict(outputs)))
    resource = PolicyResource(kind, shown, urn, name, _NOTHING, None, None, [], {})
    told: list[str] = []
    rules.validate(StackValidationArgs([resource], None), lambda text, _: told.append(text))
    return told


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
