"""The policies as objects: few, closed where they fail, and without a word for the system."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tallyard import labels
from tallyard.render.admission.locks import FIRST, LOCKS
from tallyard.render.admission.policies import (
    PEOPLE,
    binding_manifests,
    lock_binding,
    lock_policy,
    policy_manifests,
    stamp_policy,
)
from tallyard.render.admission.rule import Lock
from tallyard.render.admission.stamps import STAMPS
from tallyard.render.manifest import Manifest

POLICIES = tuple(policy_manifests())
BINDINGS = tuple(binding_manifests())
each_policy = pytest.mark.parametrize("policy", POLICIES, ids=lambda m: m.name)
each_binding = pytest.mark.parametrize("binding", BINDINGS, ids=lambda m: m.name)
# What the API server takes of one object, with room for what it adds.
BYTES_MAX = 1_000_000


def _spec(manifest: Manifest) -> Any:
    return manifest.object["spec"]


def test_there_are_three_policies_with_one_binding_each() -> None:
    assert [m.name for m in POLICIES] == [
        labels.STAMP_POLICY,
        labels.LOCK_POLICY,
        labels.ELSEWHERE_POLICY,
    ]
    assert [m.name for m in BINDINGS] == [m.name for m in POLICIES]
    assert [_spec(m)["policyName"] for m in BINDINGS] == [m.name for m in BINDINGS]


@each_policy
def test_a_policy_that_cannot_decide_refuses(policy: Manifest) -> None:
    assert _spec(policy)["failurePolicy"] == "Fail"
    assert _spec(policy)["paramKind"] == {
        "apiVersion": labels.API,
        "kind": labels.PROJECT_TABLE_KIND,
    }


@each_binding
def test_without_the_table_everything_is_refused(binding: Manifest) -> None:
    assert _spec(binding)["paramRef"] == {
        "name": labels.PROJECT_TABLE,
        "parameterNotFoundAction": "Deny",
    }


@each_binding
def test_the_systems_namespaces_are_left_out_by_name(binding: Manifest) -> None:
    *_, last = _spec(binding)["matchResources"]["namespaceSelector"]["matchExpressions"]
    assert last == {
        "key": labels.NAMESPACE_NAME,
        "operator": "NotIn",
        "values": list(labels.SYSTEM_NAMESPACES),
    }


def test_projects_have_two_policies_and_all_other_namespaces_the_third() -> None:
    first = [
        _spec(m)["matchResources"]["namespaceSelector"]["matchExpressions"][0] for m in BINDINGS
    ]
    operators = [each["operator"] for each in first]
    assert {each["key"] for each in first} == {labels.PROJECT}
    assert operators == ["Exists", "Exists", "DoesNotExist"]


def test_a_policy_has_one_expression_that_decides() -> None:
    """Several mutations are as many passes; of several validations the first alone is told."""
    stamp, *validating = POLICIES
    assert len(_spec(stamp)["mutations"]) == 1
    assert [len(_spec(policy)["validations"]) for policy in validating] == [1, 1]
    assert _spec(stamp)["reinvocationPolicy"] == "Never"
    assert all(_spec(m)["validationActions"] == ["Deny"] for m in BINDINGS[1:])


def test_whatever_can_be_submitted_is_stamped_and_locked() -> None:
    def of(policy: Manifest) -> dict[str, set[str]]:
        rules = _spec(policy)["matchConstraints"]["resourceRules"]
        return {each: set(r["operations"]) for r in rules for each in r["resources"]}

    kinds = ("jobs", "cronjobs", "deployments", "statefulsets", "jobsets")
    wanted = {"pods": {"CREATE"}, **{kind: {"CREATE", "UPDATE"} for kind in kinds}}
    assert of(stamp_policy()) == wanted
    assert of(lock_policy()) == wanted


def test_the_cluster_itself_passes_by_name() -> None:
    for policy in (stamp_policy(), lock_policy()):
        assert _spec(policy)["matchConditions"] == [{"name": "people", "expression": PEOPLE}]
    for name in ("kube-system", labels.KUEUE_NAMESPACE, labels.JOBSET_NAMESPACE):
        assert labels.account_login(name, "") in PEOPLE


@each_policy
def test_a_variable_is_used_after_it_is_defined(policy: Manifest) -> None:
    defined: set[str] = set()
    for variable in _spec(policy)["variables"]:
        used = set(re.findall(r"variables\.(\w+)", variable["expression"]))
        assert used <= defined, variable["name"]
        defined.add(variable["name"])


@each_policy
def test_an_expression_is_one_line_and_the_whole_fits_into_an_object(policy: Manifest) -> None:
    text = repr(policy.object)
    assert "\\n" not in text.replace("\\\\n", "")
    assert len(text) < BYTES_MAX


def test_every_rule_is_in_its_policy() -> None:
    locked, stamped = repr(lock_policy().object), repr(stamp_policy().object)
    assert all(f"[{lock.name}]" in locked for lock in (*FIRST, *LOCKS))
    without = [repr(stamp_policy([s for s in STAMPS if s is not out]).object) for out in STAMPS]
    assert all(each != stamped for each in without)
    assert len({*without}) == len(STAMPS)


def test_what_must_hold_first_is_told_alone() -> None:
    first = [Lock("a", "['one']")]
    variables = {
        v["name"]: v["expression"]
        for v in _spec(lock_policy([Lock("b", "['two']")], first=first))["variables"]
    }
    assert variables["first"] == "((['one']).map(s, s + ' [a]'))"
    assert variables["faults"] == (
        "size(variables.first) > 0 ? variables.first : variables.faults0"
    )


def test_a_binding_can_be_of_some_namespaces_only() -> None:
    selector = [{"key": "test", "operator": "Exists"}]
    found = _spec(lock_binding("other", selector))
    assert found["policyName"] == "other"
    assert found["matchResources"]["namespaceSelector"]["matchExpressions"] == selector
