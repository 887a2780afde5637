"""Each rule of the admission policies, on a real API server: what it does, and that it does it.

That a rule is needed is shown without it: what it refuses is then let in by it, what it fills in
is then missing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import yaml

from lab.folder import CHECKOUT
from lab.toolchain.ensure import Toolchain
from tallyard.render.admission.locks import FIRST, LOCKS
from tallyard.render.admission.stamps import STAMPS
from tallyard.spec.model import Platform
from tests.lab.admission import (
    LOCKED,
    LOGIN,
    STAMPED,
    WHOLE,
    Case,
    at,
    cases,
    gate_with_policies,
)
from tests.lab.gate import Gate, Verdict
from tests.running_lab import RunningLab

CASES_OF_LOCKS = cases("locks")
CASES_OF_STAMPS = cases("stamps")
_ALL = (*CASES_OF_LOCKS, *CASES_OF_STAMPS)
EXAMPLES = CHECKOUT / "examples"
_EACH_MIN = 3
_CHECKED_SECONDS_MAX = 120


@pytest.fixture(scope="module")
def gate(shared_lab: RunningLab, platform: Platform, toolchain: Toolchain) -> Iterator[Gate]:
    """An API server with the policies as they are shipped, and with switches."""
    with gate_with_policies(shared_lab, platform, toolchain.jobset_chart / "crds") as gate:
        yield gate


def _verdict(gate: Gate, case: Case, policies: str) -> Verdict:
    """Return what is said to a case where policies hold."""
    place = f"{policies}-{case.project}"
    content = case.content
    if case.then is None:
        return gate.create(content, case.login, place)
    # What is changed must be there; the number tells it from others'.
    content["metadata"]["name"] = f"case-{_ALL.index(replace(case, without='', unstamped=''))}"
    before = gate.create(content, case.login, place, dry=False)
    assert before.is_allowed, before.reason
    return gate.change(content, dict(case.then), case.changer or case.login, place)


@pytest.mark.parametrize("case", CASES_OF_LOCKS, ids=str)
def test_a_request_is_let_in_or_refused_with_our_sentence(gate: Gate, case: Case) -> None:
    verdict = _verdict(gate, case, LOCKED if case.unstamped else WHOLE)
    if case.kind == "allowed":
        assert verdict.is_allowed, verdict.reason
    else:
        assert f"[{case.rule}]" in verdict.reason
        assert case.says
        assert case.says in verdict.reason


@pytest.mark.parametrize("rule", [lock.name for lock in (*FIRST, *LOCKS)])
def test_without_a_lock_its_sentence_is_missed(gate: Gate, rule: str) -> None:
    denied = [c for c in CASES_OF_LOCKS if c.rule == rule and c.kind == "denied"]
    allowed = [c for c in CASES_OF_LOCKS if c.rule == rule and c.kind == "allowed"]
    assert len(denied) >= _EACH_MIN
    assert len(allowed) >= _EACH_MIN
    for case in denied:
        verdict = _verdict(gate, replace(case, without=rule), LOCKED)
        assert f"[{rule}]" not in verdict.reason


@pytest.mark.parametrize("case", CASES_OF_STAMPS, ids=str)
def test_what_was_left_out_is_filled_in_and_what_was_said_is_kept(gate: Gate, case: Case) -> None:
    # What a lock would refuse can still show what a stamp leaves alone.
    verdict = _verdict(gate, case, LOCKED if case.without else WHOLE)
    assert verdict.is_allowed, verdict.reason
    assert case.stored
    assert {p: at(verdict.stored, p) for p in case.stored} == case.stored


@pytest.mark.parametrize("rule", [stamp.name for stamp in STAMPS])
def test_without_a_stamp_what_it_fills_in_is_missing(gate: Gate, rule: str) -> None:
    stamped = [c for c in CASES_OF_STAMPS if c.rule == rule and c.kind == "stamped"]
    left = [c for c in CASES_OF_STAMPS if c.rule == rule and c.kind == "left"]
    assert len(stamped) >= _EACH_MIN
    assert len(left) >= _EACH_MIN
    for case in stamped:
        verdict = _verdict(gate, replace(case, unstamped=rule), STAMPED)
        assert verdict.is_allowed, verdict.reason
        assert {p: at(verdict.stored, p) for p in case.stored} != case.stored


def test_all_that_is_wrong_is_told_at_once(gate: Gate) -> None:
    case = next(c for c in CASES_OF_LOCKS if c.rule == "kueue-keys" and c.kind == "denied")
    content = case.content
    pod = content["spec"]["template"]["spec"]
    pod.update(hostNetwork=True, nodeName="a100-00", tolerations=[{"operator": "Exists"}])
    reason = gate.create(content, "nobody", f"{WHOLE}-nlp").reason
    told = [reason.index(f"[{k.name}]") for k in LOCKS if f"[{k.name}]" in reason]
    assert told == sorted(told)
    expected = ("user-known", "kueue-keys", "taints-kept", "scheduler-asked", "rights-few")
    assert all(f"[{name}]" in reason for name in expected)


def test_of_very_many_faults_the_first_are_told(gate: Gate) -> None:
    """The API server would tell nothing of a sentence of more than 5 KiB."""
    content = next(c for c in CASES_OF_LOCKS if c.base == "job").content
    content["metadata"]["annotations"] = {"tallyard.dev/within": "宽" * 3000 + "\n" + "x"}
    content["spec"]["template"]["spec"]["tolerations"] = [
        {"key": f"example.com/{'k' * 50}-{number}", "operator": "Exists"} for number in range(300)
    ]
    reason = gate.create(content, "oidc:" + "x" * 500, f"{WHOLE}-nlp").reason
    assert "is no user of project nlp" in reason
    assert f'tallyard.dev/within is "{"宽" * 80}..."' in reason
    assert reason.endswith(". And 294 more")


def test_no_policy_has_an_expression_that_cannot_be_of_its_types(
    gate: Gate, shared_lab: RunningLab
) -> None:
    """The cluster compares each lock with the schemas of what it looks at, and warns."""
    assert gate
    deadline = time.monotonic() + _CHECKED_SECONDS_MAX
    while True:
        policy = json.loads(
            shared_lab.kubectl("get", "validatingadmissionpolicy", WHOLE, "-o", "json").stdout
        )
        status = policy.get("status", {})
        if status.get("observedGeneration") == policy["metadata"]["generation"]:
            break
        assert time.monotonic() < deadline, "nobody has looked at the policy"
        time.sleep(0.5)
    assert not status.get("typeChecking", {}).get("expressionWarnings")


def _waiting(content: dict[str, Any], mode: str) -> dict[str, Any]:
    """Return an example that runs nothing, under a name of its own."""
    idle = {"suspend": True} if content["kind"] in {"Job", "JobSet"} else {"replicas": 0}
    name = f"{content['metadata']['name']}{mode}"
    metadata = {**content["metadata"], "name": name, "namespace": f"{WHOLE}-nlp"}
    return {**content, "metadata": metadata, "spec": {**content["spec"], **idle}}


@pytest.mark.parametrize("mode", ["", "--server-side"])
def test_who_sends_the_same_manifest_again_changes_nothing(
    gate: Gate, shared_lab: RunningLab, mode: str
) -> None:
    """An image without its registry is not the one that is stored, and a Job's is for ever."""
    assert gate
    examples = [yaml.safe_load(file.read_text()) for file in EXAMPLES.glob("*.yaml")]
    objects = [_waiting(each, mode) for each in examples if each["kind"] != "Pod"]
    assert {each["kind"] for each in objects} == {"Job", "JobSet", "Deployment", "StatefulSet"}
    apply = ("apply", "-f", "-", "-o", "json", "--as", LOGIN, "--as-group", "system:masters")
    specs = []
    for _ in range(2):
        applied = shared_lab.kubectl(*apply, *filter(None, [mode]), objects=objects)
        assert applied.returncode == 0, applied.stderr[-600:]
        specs.append([item["spec"] for item in json.loads(applied.stdout)["items"]])
    assert specs[0] == specs[1]


def test_every_rule_has_cases_and_every_case_a_rule() -> None:
    assert {c.rule for c in CASES_OF_LOCKS} == {lock.name for lock in (*FIRST, *LOCKS)}
    assert {c.rule for c in CASES_OF_STAMPS} == {stamp.name for stamp in STAMPS}


def test_no_two_cases_of_a_rule_say_the_same() -> None:
    said = [str(case) for case in _ALL]
    assert len(set(said)) == len(said)
