"""A review of a preview that failed, or of what `pulumi up` would refuse: never all is well."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from pathlib import Path

from tallyard.cli.exit_codes import ExitCode
from tallyard.cli.main import run
from tests.cli.reviewed import Reviewing
from tests.cli.specs import Captured
from tests.cli.test_review import LAST_WORDS, LOCKED, RAISED, document, events_file, plan_file
from tests.cli.test_review_sarif import sarif_run


def test_a_preview_that_failed_is_no_good_review_in_any_form(
    reviewing: Reviewing, tmp_path: Path
) -> None:
    given = ("--no-cluster", "--plan", str(plan_file(tmp_path, [], diagnostics=[LOCKED])))
    assert reviewing.review(*given).splitlines()[1] == "Pulumi itself fails."
    assert "\n**Pulumi itself fails.**\n" in reviewing.review(*given, "-o", "markdown")
    assert "\n**Pulumi 自身报错。**\n" in reviewing.review(*given, "-o", "markdown", lang="zh")
    assert document(reviewing, *given)["fails"] is True
    (invocation,) = sarif_run(reviewing, *given)["invocations"]
    assert invocation["executionSuccessful"] is False
    (told,) = invocation["toolExecutionNotifications"]
    assert told["message"]["text"] == "Pulumi itself fails: the stack is locked by another"
    assert reviewing.codes == 5 * [ExitCode.FAILED]
    # What the rules refuse goes before.
    reviewing.repo.change(RAISED)
    assert "2 refused, Pulumi itself fails, `pulumi up`" in reviewing.review(*given)
    assert reviewing.codes[-1] == ExitCode.POLICY


def test_what_pulumi_warns_of_is_told_in_every_form_and_fails_nothing(
    reviewing: Reviewing, tmp_path: Path
) -> None:
    said = "RoleBinding nlp/b: subjects[1] was added by hand; `pulumi up` takes it out"
    warned = {"severity": "warning", "message": f"warning: {said}\n"}
    given = ("--no-cluster", "--plan", str(plan_file(tmp_path, [], diagnostics=[warned, warned])))
    # A table breaks it over lines.
    assert f"Pulumi warns: {said}" in " ".join(reviewing.review(*given).split())
    assert reviewing.review(*given, "-o", "markdown").count("Pulumi warns: RoleBinding nlp/b") == 1
    assert "Pulumi 提示：RoleBinding nlp/b" in reviewing.review(*given, "-o", "markdown", lang="zh")
    assert document(reviewing, *given)["plan"]["warnings"] == [said]
    (invocation,) = sarif_run(reviewing, *given)["invocations"]
    (told,) = invocation["toolExecutionNotifications"]
    # In SARIF a bracket begins a link.
    assert told["message"]["text"].replace("\\", "") == f"Pulumi warns: {said}"
    assert told["level"] == "warning"
    assert reviewing.codes == 5 * [ExitCode.OK]


def test_what_is_protected_is_in_the_verdict_where_no_rule_refuses_it(
    reviewing: Reviewing,
) -> None:
    """A priority under a new name: the rules do not mind, and `pulumi up` stops at the old one."""
    reviewing.repo.change(
        ("{name: inference, value: 5000}", "{name: serving, value: 5000}"),
        ("priority: inference", "priority: serving"),
    )
    text = reviewing.review("--no-cluster")
    assert text.splitlines()[1] == "`pulumi up` refuses 2 protected objects."
    assert document(reviewing, "--no-cluster")["fails"] is True
    (invocation,) = sarif_run(reviewing, "--no-cluster")["invocations"]
    told = [each["message"]["text"] for each in invocation["toolExecutionNotifications"]]
    assert "PriorityClass inference: protected, `pulumi up` refuses" in told
    assert reviewing.codes == 3 * [ExitCode.FAILED]


def test_a_preview_that_the_pack_alone_made_fail_does_not_fail_by_itself(
    reviewing: Reviewing, tmp_path: Path
) -> None:
    plan = plan_file(tmp_path, [], diagnostics=[LAST_WORDS])
    given = ("--no-cluster", "--plan", str(plan))
    assert "Pulumi itself fails: preview failed" in reviewing.review(*given)
    log = events_file(tmp_path, ("images-pinned", "mandatory", "an image by tag"))
    text = reviewing.review(*given, "--events", str(log))
    assert text.splitlines()[1] == "1 refused."
    assert reviewing.codes == [ExitCode.FAILED, ExitCode.POLICY]


def test_a_file_without_any_event_is_not_taken_for_a_pack_that_found_nothing(
    reviewing: Reviewing, tmp_path: Path, capsys: Captured
) -> None:
    log = tmp_path / "events"
    for content in ("nonsense\n", "", '{"steps": []}\n'):
        log.write_text(content)
        assert run(["review", "--no-cluster", "--events", str(log)]) == ExitCode.USAGE
        told = capsys.readouterr().err
        for each in ("this is no log of Pulumi's events", str(log), "why:", "--event-log FILE"):
            assert each in told
    # Pulumi may fail before the first event.
    log.write_text("")
    plan = plan_file(tmp_path, [], diagnostics=[LOCKED])
    reviewing.review("--no-cluster", "--plan", str(plan), "--events", str(log))
    log.write_text('{"sequence":0,"timestamp":1,"preludeEvent":{"config":{}}}\n')
    reviewing.review("--no-cluster", "--events", str(log))
    assert reviewing.codes == [ExitCode.FAILED, ExitCode.OK]
