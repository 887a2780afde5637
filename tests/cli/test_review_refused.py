"""A spec that is wrong, in the forms that others show: a comment never keeps what was true once."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from tallyard.cli.exit_codes import ExitCode
from tallyard.cli.main import run
from tests.cli.reviewed import DATA, Reviewing
from tests.cli.specs import Captured

SCHEMA = json.loads((DATA / "sarif-2.1.0.schema.json").read_text())
WRONG = ("tier: bronze", "tier: silver")


def told(capsys: Captured, *arguments: str) -> tuple[str, str]:
    assert run(["review", "main", "--no-cluster", *arguments]) == ExitCode.USAGE
    captured = capsys.readouterr()
    return captured.out, captured.err


def log_of(text: str) -> dict[str, Any]:
    log = json.loads(text)
    jsonschema.Draft202012Validator(SCHEMA).validate(log)
    (found,) = log["runs"]
    return dict(found)


def test_markdown_has_the_mistakes_with_place_code_and_sentence(
    reviewing: Reviewing, capsys: Captured
) -> None:
    reviewing.repo.change(WRONG)
    out, err = told(capsys, "-o", "markdown")
    lines = out.splitlines()
    assert lines[0].startswith("## stacks/local.yaml: main (")
    assert lines[2].startswith("**Nothing was reviewed: 1 error")
    assert "`tally spec explain SPEC203` says more" in lines[2]
    assert "- **stacks/platform.yaml:24:18** · projects.vision.tier" in lines
    assert any("silver" in each and each.endswith("\\[SPEC203\\]") for each in lines)
    assert "[SPEC203]" in err
    assert "**未做审查" in told(capsys, "-o", "markdown", "--lang", "zh")[0]


def test_sarif_has_a_rule_for_each_code_and_a_result_for_each_mistake(
    reviewing: Reviewing, capsys: Captured
) -> None:
    reviewing.repo.change(WRONG, ("  training: {models", "  training: {modls"))
    found = log_of(told(capsys, "-o", "sarif")[0])
    rules = [each["id"] for each in found["tool"]["driver"]["rules"]]
    assert len(found["results"]) >= 2
    assert {each["ruleId"] for each in found["results"]} == set(rules)
    assert found["invocations"][0]["executionSuccessful"] is False
    for each in found["results"]:
        assert rules[each["ruleIndex"]] == each["ruleId"]
        place = each["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "stacks/platform.yaml"
    # The same identity as a good review's: it takes the place of that.
    assert found["automationDetails"]["id"] == "tally-review/local/"


def test_mistakes_of_a_revision_lead_to_the_file_without_its_name(
    reviewing: Reviewing, capsys: Captured
) -> None:
    reviewing.repo.git("checkout", "--quiet", "-b", "change")
    reviewing.repo.change(WRONG)
    reviewing.repo.commit()
    found = log_of(told(capsys, "change", "-o", "sarif")[0])
    place = found["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "stacks/platform.yaml"


def test_annotations_for_githubs_runner_do_not_stand_in_the_document(
    reviewing: Reviewing, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    reviewing.repo.change(WRONG)
    log_of(told(capsys, "-o", "sarif")[0])
    out, err = told(capsys, "-o", "markdown")
    assert "::error" not in out
    assert "::error" in err


def test_pins_that_are_wrong_are_in_the_comment_too(reviewing: Reviewing, capsys: Captured) -> None:
    reviewing.repo.write("stacks/versions.yaml", "kubernetes: [")
    out, _ = told(capsys, "-o", "markdown")
    assert "**Nothing was reviewed: what is deployed cannot be read**" in out
    assert "stacks/versions.yaml" in out
    (note,) = log_of(told(capsys, "-o", "sarif")[0])["invocations"][0]["toolExecutionNotifications"]
    assert "stacks/versions.yaml: what is deployed cannot be read" in note["message"]["text"]


def test_a_spec_that_is_wrong_is_told_before_what_pulumi_made_of_it(
    reviewing: Reviewing, capsys: Captured
) -> None:
    """Pulumi writes no plan then, and its empty file says nothing to anybody."""
    reviewing.repo.change(WRONG)
    reviewing.repo.write("plan.json", "")
    out, _ = told(capsys, "-o", "markdown", "--plan", "plan.json")
    assert "SPEC203" in out


def test_a_table_and_json_leave_stdout_as_it_was(reviewing: Reviewing, capsys: Captured) -> None:
    reviewing.repo.change(WRONG)
    for output in ("table", "json"):
        out, err = told(capsys, "-o", output)
        assert (out, "[SPEC203]" in err) == ("", True)
