"""What was added by hand is told from what was applied, from what was changed, and from defaults."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallyard.cluster.additions import additions, may_have_any, removal

type Object = Mapping[str, Any]

MALLORY = {"kind": "User", "name": "mallory"}
BINDING = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "RoleBinding",
    "metadata": {"name": "b"},
    "subjects": [{"kind": "Group", "name": "nlp"}],
}
ROLE = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {"name": "r"},
    "rules": [
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]},
        {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["get"]},
    ],
}
POLICY = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingAdmissionPolicy",
    "metadata": {"name": "p"},
    "spec": {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [{"operations": ["CREATE"], "resources": ["pods"]}]},
        "validations": [{"expression": "1 == 1"}],
    },
}


def edited(content: Object, path: tuple[str | int, ...], value: Any) -> Object:
    """Return a copy in which a value was set, or appended to the list that stands there."""
    made = copy.deepcopy(dict(content))
    at: Any = made
    *way, last = path
    for step in way:
        at = at[step]
    if isinstance(at, dict) and isinstance(at.get(last), list):
        at[last].append(value)
    elif isinstance(last, int):
        at.insert(last, value)
    else:
        at[last] = value
    return made


@pytest.mark.parametrize(
    ("content", "path", "value", "field"),
    [
        (BINDING, ("subjects",), MALLORY, "subjects[1]"),
        (BINDING, ("subjects", 0), MALLORY, "subjects[0]"),
        (ROLE, ("rules",), {"resources": ["secrets"]}, "rules[2]"),
        (ROLE, ("rules", 0), {"resources": ["secrets"]}, "rules[0]"),
        (ROLE, ("rules", 0, "verbs"), "delete", "rules[0].verbs[2]"),
        (ROLE, ("rules", 1, "verbs", 0), "delete", "rules[1].verbs[0]"),
        (POLICY, ("spec", "matchConditions"), [{"name": "n"}], "spec.matchConditions"),
        (
            POLICY,
            ("spec", "matchConstraints", "excludeResourceRules"),
            [{"resources": ["pods"]}],
            "spec.matchConstraints.excludeResourceRules",
        ),
        (
            POLICY,
            ("spec", "matchConstraints", "namespaceSelector"),
            {"matchLabels": {"a": "b"}},
            "spec.matchConstraints.namespaceSelector",
        ),
        (POLICY, ("spec", "validations"), {"expression": "true"}, "spec.validations[1]"),
        ({"kind": "PriorityClass", "value": 5}, ("globalDefault",), True, "globalDefault"),
    ],
)
def test_an_addition_is_found_where_it_stands_and_taken_out(
    content: Object, path: tuple[str | int, ...], value: Any, field: str
) -> None:
    live = edited(content, path, value)
    found = additions(content, live)
    assert [each.field for each in found] == [field]
    assert patched(live, removal(found)) == content


@pytest.mark.parametrize(
    "live",
    [
        pytest.param(BINDING, id="nothing"),
        pytest.param(edited(BINDING, ("subjects", 0), MALLORY), id="before"),
    ],
)
def test_what_is_there_as_it_was_applied_is_no_addition(live: Object) -> None:
    assert [each.value for each in additions(BINDING, live)] in ([], [MALLORY])


@pytest.mark.parametrize(
    ("content", "path", "value"),
    [
        (POLICY, ("spec", "failurePolicy"), "Ignore"),
        (POLICY, ("spec", "matchConstraints", "matchPolicy"), "Equivalent"),
        (POLICY, ("spec", "matchConstraints", "objectSelector"), {}),
        (POLICY, ("status",), {"typeChecking": {"warnings": ["x"]}}),
        (POLICY, ("metadata", "finalizers"), ["somebodys"]),
        ({"kind": "PriorityClass", "value": 5}, ("globalDefault",), False),
        ({"kind": "Deployment", "spec": {}}, ("spec", "template"), {"spec": {"x": True}}),
        ({"kind": "ClusterRole", "rules": []}, ("aggregationRule",), {}),
    ],
)
def test_defaults_and_changes_in_place_are_no_additions(
    content: Object, path: tuple[str | int, ...], value: Any
) -> None:
    assert additions(content, edited(content, path, value)) == ()


def test_the_rules_of_an_aggregated_role_are_the_controllers() -> None:
    sent = {"kind": "ClusterRole", "aggregationRule": {"clusterRoleSelectors": []}, "rules": []}
    assert additions(sent, {**sent, "rules": [{"verbs": ["get"]}]}) == ()


def test_an_element_that_was_changed_and_one_that_was_added_are_two_things() -> None:
    live = copy.deepcopy(BINDING)
    live["subjects"] = [{"kind": "Group", "name": "vision"}, MALLORY]
    (found,) = additions(BINDING, live)
    assert (found.field, found.value) == ("subjects[1]", MALLORY)


def test_only_what_can_hide_an_addition_is_looked_at() -> None:
    sent = {"apiVersion": "v1", "metadata": {"finalizers": ["a"]}}
    assert not may_have_any({**sent, "kind": "ConfigMap", "data": {"a": "[]"}})
    assert may_have_any({**sent, "kind": "PriorityClass"})
    assert may_have_any({**sent, "kind": "Service", "spec": {"ports": [{"port": 1}]}})


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from("ab~/"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("ab~/"), inner),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["spec", "rules"]), VALUES), st.data())
def test_whatever_is_inserted_anywhere_is_taken_out_again(
    sent: Object, data: st.DataObject
) -> None:
    live = data.draw(inserted(sent))
    found = additions(sent, live)
    after = patched(live, removal(found))
    assert additions(sent, after) == ()
    assert _sizes(after) == _sizes(sent)


def inserted(value: Any) -> st.SearchStrategy[Any]:
    """Return strategies of a value with elements inserted into its lists."""
    if isinstance(value, dict):
        return st.fixed_dictionaries({key: inserted(each) for key, each in value.items()})
    if isinstance(value, list):
        gaps = st.lists(st.just("inserted"), max_size=1)
        parts = st.tuples(*[st.tuples(gaps, inserted(each)) for each in value], gaps)
        return parts.map(
            lambda all_: [y for gap, each in all_[:-1] for y in (*gap, each)] + list(all_[-1])
        )
    return st.just(value)


def _sizes(value: Any) -> Any:
    """Return the form of a value: how many elements each list has, of what kind they are."""
    if isinstance(value, dict):
        return {key: _sizes(each) for key, each in value.items()}
    if isinstance(value, list):
        return sorted(json.dumps(_sizes(each), sort_keys=True) for each in value)
    return None


def patched(content: Object, patch: list[dict[str, Any]]) -> Object:
    """Apply the two operations that a removal is made of, as the API server does (RFC 6902)."""
    made: Any = copy.deepcopy(content)
    for step in patch:
        *way, last = [
            each.replace("~1", "/").replace("~0", "~") for each in step["path"].split("/")[1:]
        ]
        at: Any = made
        for each in way:
            at = at[int(each)] if isinstance(at, list) else at[each]
        key: Any = int(last) if isinstance(at, list) else last
        if step["op"] == "test":
            assert at[key] == step["value"]
        else:
            del at[key]
    result: Object = made
    return result
