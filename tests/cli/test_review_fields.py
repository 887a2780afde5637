"""Which fields of objects change, as Pulumi says: a hand edit is seen with both its values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tallyard.cli.review_fields import FieldText, field_changes
from tests.cli.reviewed import Reviewing
from tests.cli.test_review import document, plan_file, step

QUOTA = "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota"


def updated(
    kind: str, before: dict[str, Any], after: dict[str, Any], *fields: str
) -> dict[str, Any]:
    """Return a step as `pulumi preview --json` has it."""
    found = step("update", kind, "nlp-training")
    for side, more in (("oldState", before), ("newState", after)):
        found[side] = {**found[side], "inputs": {**found[side]["inputs"], **more}}
    return {**found, "detailedDiff": {each: {"kind": "update"} for each in fields}}


def quota(number: str) -> dict[str, Any]:
    flavors = [{"name": "a100", "resources": [{"name": "gpu", "nominalQuota": number}]}]
    return {"spec": {"resourceGroups": [{"flavors": flavors}]}}


def test_a_hand_edit_is_told_with_field_and_values_and_with_what_it_means(
    reviewing: Reviewing, tmp_path: Path
) -> None:
    edit = updated("ClusterQueue", quota("1"), quota("256"), QUOTA)
    given = ("--no-cluster", "--plan", str(plan_file(tmp_path, [edit])))
    said = f"ClusterQueue nlp-training: {QUOTA} 1 → 256"
    text = reviewing.review(*given)
    assert said in text
    about = (
        "The spec means the same as before. And yet objects change: they differ in the cluster "
        "from what the spec says (somebody edited them), or the program or a version is another"
    )
    assert about in text
    comment = reviewing.review(*given, "-o", "markdown").replace("\\", "")
    assert said in comment
    assert about in comment
    assert "但仍有对象会改变" in reviewing.review(*given, lang="zh")
    (change,) = document(reviewing, *given)["plan"]["changes"]
    assert change["fields"] == [{"field": QUOTA, "before": "1", "after": "256"}]


def test_where_the_spec_differs_or_nothing_changes_nobody_is_suspected(
    reviewing: Reviewing, tmp_path: Path
) -> None:
    nothing = plan_file(tmp_path, [])
    assert "And yet" not in reviewing.review("--no-cluster", "--plan", str(nothing))
    edit = plan_file(tmp_path, [updated("ClusterQueue", quota("1"), quota("256"), QUOTA)])
    reviewing.repo.change(("training: {A100: 8}", "training: {A100: 4}"))
    text = reviewing.review("--no-cluster", "--plan", str(edit))
    assert QUOTA in text
    assert "And yet" not in text


def test_no_value_of_a_secret_is_told_in_any_form(reviewing: Reviewing, tmp_path: Path) -> None:
    steps = [
        updated("Secret", {"data": {"key": "aHVudGVy"}}, {"data": {"key": "Mg=="}}, "data.key"),
        updated("ConfigMap", {"data": "[secret]"}, {"data": {"a": "open"}}, "data.a"),
    ]
    steps[1]["urn"] += "-2"
    given = ("--no-cluster", "--plan", str(plan_file(tmp_path, steps)))
    for output in ("table", "markdown", "sarif", "json"):
        text = reviewing.review(*given, "-o", output)
        assert "aHVudGVy" not in text
        assert "Mg==" not in text
    fields = {
        each["kind"]: each["fields"] for each in document(reviewing, *given)["plan"]["changes"]
    }
    hidden = {"field": "data.key", "before": "(secret)", "after": "(secret)"}
    assert fields["Secret"] == [hidden]
    assert fields["ConfigMap"] == [{"field": "data.a", "before": "(secret)", "after": "open"}]


def test_what_pulumi_marks_as_secret_hides_all_that_it_stands_in() -> None:
    marked = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"}
    found = field_changes(
        updated("ConfigMap", {"data": {"a": marked}}, {"data": {"a": [{"b": "[secret]"}]}}, "data")
    )
    assert found == (FieldText("data", "(secret)", "(secret)"),)
    provider = updated("x", {"kubeconfig": "token: 1"}, {"kubeconfig": "token: 2"}, "kubeconfig")
    provider["urn"] = "urn:pulumi:prod::tallyard::pulumi:providers:kubernetes::cluster"
    assert field_changes(provider) == (FieldText("kubeconfig", "(secret)", "(secret)"),)


def test_a_field_that_comes_or_goes_has_one_side_and_keys_may_have_points() -> None:
    label = 'metadata.labels["app.kubernetes.io/name"]'
    before = {"metadata": {"labels": {"app.kubernetes.io/name": "x"}}, "spec": {"a": ""}}
    after: dict[str, Any] = {"metadata": {"labels": {}}, "spec": {"a": "", "b": [1, 2]}}
    found = field_changes(updated("ConfigMap", before, after, label, "spec.b[1]", "spec.a"))
    assert found == (
        FieldText(label, "x", None),
        FieldText("spec.a", '""', '""'),
        FieldText("spec.b[1]", None, "2"),
    )


def test_what_the_server_added_is_found_among_the_outputs() -> None:
    found = updated("Service", {}, {}, "spec.type")
    found["oldState"]["outputs"] = {"spec": {"type": "NodePort"}}
    assert field_changes(found) == (FieldText("spec.type", "NodePort", None),)


def test_a_long_value_is_shown_from_where_it_differs() -> None:
    old, new = ({"data": f"{'x' * 500}{end}{'y' * 500}"} for end in ("1", "2"))
    (found,) = field_changes(updated("ConfigMap", old, new, "data"))
    assert found.before is not None
    assert found.before.startswith("…xxxxxxxxxxxx1yyy")
    assert len(found.before) < 70
    assert found.before != found.after


def test_of_many_fields_five_are_shown_and_all_are_in_json(
    reviewing: Reviewing, tmp_path: Path
) -> None:
    names = [f"spec.f[{n}]" for n in range(12)]
    edit = updated("Cohort", {"spec": {"f": 12 * [1]}}, {"spec": {"f": 12 * [2]}}, *names)
    given = ("--no-cluster", "--plan", str(plan_file(tmp_path, [edit])))
    text = reviewing.review(*given)
    assert "Cohort nlp-training: spec.f[4] 1 → 2" in text
    assert "spec.f[5]" not in text
    assert "Cohort nlp-training: and 7 more" in text
    (change,) = json.loads(reviewing.review(*given, "-o", "json"))["plan"]["changes"]
    assert [each["field"] for each in change["fields"]] == names


def test_an_address_in_a_value_is_not_for_everybody(reviewing: Reviewing, tmp_path: Path) -> None:
    edit = updated("ConfigMap", {"data": "https://10.0.0.1:6443/x"}, {"data": "here"}, "data")
    given = ("--no-cluster", "--plan", str(plan_file(tmp_path, [edit])))
    assert "data (address) → here" in reviewing.review(*given, "-o", "markdown")
    assert "data https://10.0.0.1:6443/x → here" in reviewing.review(*given)
