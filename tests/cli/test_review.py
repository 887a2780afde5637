"""`tally review` as people and programs meet it: exit codes, plans, clusters, other revisions."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tallyard import labels
from tallyard.cli.exit_codes import ExitCode
from tallyard.cli.main import run
from tallyard.cli.views.review_markdown import LENGTH_MAX
from tests.cli.reviewed import Reviewing, answers, with_pins
from tests.cli.specs import MORE_FOR_GOLD, Captured, Repo
from tests.cluster.conftest import refusal
from tests.spec.specs import SOON

RAISED = ("name: training, value: 1000", "name: training, value: 2000")
REMOVED = ("  vision: {tier: bronze, users: {zhao.min: {}}}\n", "")
SPEC_MAP = f"/api/v1/namespaces/{labels.SYSTEM_NAMESPACE}/configmaps/{labels.SPEC_CONFIG}"


def document(reviewing: Reviewing, *arguments: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(reviewing.review("-o", "json", *arguments))
    return found


def test_a_table_tells_the_verdict_first_and_the_difference_last(reviewing: Reviewing) -> None:
    reviewing.repo.change(RAISED, REMOVED, MORE_FOR_GOLD)
    text = reviewing.review()
    assert reviewing.codes == [ExitCode.POLICY]
    assert text.splitlines()[1] == "2 refused, `pulumi up` refuses 2 protected objects, 2 told."
    order = [
        "\nRefused\n",
        "stacks/platform.yaml:11:22  PriorityClass/training",
        "\nTold\n",
        "\nWhat would be done\n",
        "\nJobs that it affects now\n",
        "\nBefore you apply this\n",
        "\nProjects\n",
    ]
    places = [text.index(each) for each in order]
    assert places == sorted(places)


def test_a_spec_with_errors_is_refused_before_any_rule_is_asked(
    reviewing: Reviewing, capsys: Captured
) -> None:
    reviewing.repo.change(("tier: bronze", "tier: silver"))
    assert run(["review"]) == ExitCode.USAGE
    told = capsys.readouterr()
    assert told.out == ""
    assert "[SPEC" in told.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "there is no such file"),
        ("kubernetes: [", "it is not YAML"),
        ("kubernetes: {version: 1}", "stacks/versions.yaml:1"),
    ],
)
def test_pins_that_cannot_be_read_are_told_with_their_file(
    reviewing: Reviewing, capsys: Captured, text: str | None, said: str
) -> None:
    file = reviewing.repo.root / "stacks" / "versions.yaml"
    file.unlink() if text is None else file.write_text(text)
    assert run(["review"]) == ExitCode.USAGE
    told = capsys.readouterr().err
    assert said in told
    assert "stacks/versions.yaml" in told
    assert "Traceback" not in told


def test_pins_of_a_revision_are_read_from_it_and_not_from_the_working_tree(
    reviewing: Reviewing,
) -> None:
    reviewing.repo.change((f"sha256:{64 * 'a'}", "unverified"), name="stacks/versions.yaml")
    reviewing.repo.commit()
    (reviewing.repo.root / "stacks" / "versions.yaml").unlink()
    found = document(reviewing, "HEAD", "--no-cluster")
    (finding,) = found["findings"]
    assert (finding["rule"], finding["file"]) == ("pins-verified", "HEAD:stacks/versions.yaml")
    log = json.loads(reviewing.review("HEAD", "--no-cluster", "-o", "sarif"))
    place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "stacks/versions.yaml"


def test_a_lab_pulls_nothing_so_its_pins_may_be_unverified(reviewing: Reviewing) -> None:
    reviewing.repo.change((f"sha256:{64 * 'a'}", "unverified"), name="stacks/versions.yaml")
    lab = ("config:\n", "config:\n  tallyard:lab: true\n")
    assert document(reviewing, "--no-cluster")["refused"] == 1
    reviewing.repo.change(lab, name="stacks/Pulumi.local.yaml")
    # The change that makes a lab of an environment is judged as before it.
    assert document(reviewing, "--no-cluster")["refused"] == 1
    reviewing.repo.commit()
    assert document(reviewing, "--no-cluster")["refused"] == 0


def test_an_environment_that_comes_is_created_and_one_that_goes_breaks_no_rule(
    reviewing: Reviewing,
) -> None:
    repo = reviewing.repo
    (repo.root / "stacks" / "local.yaml").rename(repo.root / "stacks" / "other.yaml")
    went = document(reviewing, "--no-cluster")
    assert went["findings"] == []
    # Nothing is applied of it, so there is nothing that `pulumi up` would refuse.
    assert went["plan"]["changes"] == []
    assert reviewing.codes == [ExitCode.OK]
    came = document(reviewing, "--no-cluster", "-s", "other")
    assert {each["deed"] for each in came["plan"]["changes"]} == {"created"}


def test_findings_of_a_waiver_say_why_and_until_when(reviewing: Reviewing) -> None:
    objects = '"ClusterQueue/*", "LocalQueue/*/*"'
    waiver = (
        f"waivers: [{{rule: queues-removed, objects: [{objects}], reason: it is empty, "
        f"until: {SOON}}}]\n"
    )
    reviewing.repo.change(REMOVED, ("tiers:\n", f"{waiver}tiers:\n"))
    text = reviewing.review("--no-cluster")
    assert f"2 waived until {SOON}." in text
    assert f"Waived until {SOON}: it is empty" in text
    (run_of_log,) = json.loads(reviewing.review("--no-cluster", "-o", "sarif"))["runs"]
    for result in run_of_log["results"]:
        (suppression,) = result["suppressions"]
        assert suppression["justification"] == f"Waived until {SOON}: it is empty"
        line = suppression["location"]["physicalLocation"]["region"]["startLine"]
        file = (reviewing.repo.root / "stacks" / "platform.yaml").read_text().splitlines()
        assert "queues-removed" in file[line - 1]
    assert reviewing.codes == [0, 0]


def plan_file(folder: Path, steps: Iterable[Mapping[str, Any]], **more: Any) -> Path:
    content = {"steps": list(steps), "changeSummary": {}, **more}
    file = folder / "plan.json"
    file.write_text(json.dumps(content))
    return file


def step(operation: str, kind: str, name: str, **old: Any) -> dict[str, Any]:
    state = {"custom": True, "inputs": {"kind": kind, "metadata": {"name": name}}}
    urn = f"urn:pulumi:prod::tallyard::x$kubernetes:v1:{kind}::{name}"
    return {"op": operation, "urn": urn, "newState": state, "oldState": {**state, **old}}


def test_a_plan_of_pulumi_says_what_is_done(
    reviewing: Reviewing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = [step("refresh", "Namespace", "nlp"), step("update", "ConfigMap", "kueue")]
    file = plan_file(tmp_path, steps, config={"tallyard:overlay": "local.yaml"})
    for given in (str(file), "-"):
        monkeypatch.setattr(sys, "stdin", io.StringIO(file.read_text()))
        plan = document(reviewing, "--no-cluster", "--plan", given)["plan"]
        (change,) = plan["changes"]
        assert (plan["source"], change["deed"], change["kind"]) == (
            "pulumi",
            "changed",
            "ConfigMap",
        )
    assert "Pulumi says so, by a preview." in reviewing.review("--no-cluster", "--plan", str(file))


LOCKED = {"severity": "error", "message": "error: the stack is locked\nby another\n"}
LAST_WORDS = {"severity": "error", "message": "error: preview failed\n"}


def test_what_pulumi_itself_fails_on_is_not_lost(reviewing: Reviewing, tmp_path: Path) -> None:
    file = plan_file(tmp_path, [], diagnostics=[LOCKED, LAST_WORDS])
    reviewing.repo.change(REMOVED)
    text = reviewing.review("--no-cluster", "--plan", str(file), "-o", "markdown")
    assert "Pulumi itself fails: the stack is locked by another" in text
    # And what it has not come to is told all the same.
    assert "| deleted | ClusterQueue | 2 | vision-elastic, vision-training |" in text


def events_file(folder: Path, *events: tuple[str, str, str]) -> Path:
    log = folder / "events"
    lines = [
        {"policyEvent": {"policyName": name, "enforcementLevel": level, "message": message}}
        for name, level, message in events
    ]
    log.write_text("".join(f"{json.dumps(each, separators=(',', ':'))}\n" for each in lines))
    return log


def test_what_the_policy_pack_alone_finds_is_shown_as_pulumi_says_it(
    reviewing: Reviewing, tmp_path: Path, capsys: Captured
) -> None:
    """And it counts; what the rules have found too is told once."""
    reviewing.repo.change(REMOVED)
    gone = document(reviewing, "--no-cluster")["findings"][0]["message"]
    log = events_file(
        tmp_path,
        ("images-pinned", "mandatory", "an image by tag [images-pinned]"),
        ("queues-removed", "advisory", f"stacks/platform.yaml:22: {gone}"),
    )
    for output in ("table", "markdown"):
        text = reviewing.review("--no-cluster", "--events", str(log), "-o", output)
        assert "1 refused, 2 told." in text
        assert text.count("an image by tag") == 1
        assert text.count("queue vision-training goes away") == 1
    assert reviewing.codes == [0, 5, 5]
    assert run(["review", "--events", "/nowhere/events"]) == ExitCode.USAGE
    assert "Pulumi's log of events cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("no JSON", "this is no plan of Pulumi"),
        ("[]", "this is no plan of Pulumi"),
        ('{"steps": [{}]}', "this is no plan of Pulumi"),
        (None, "the plan cannot be read"),
        (
            '{"steps": [], "config": {"tallyard:overlay": "prod.yaml"}}',
            "the plan is of another environment",
        ),
    ],
)
def test_what_is_no_plan_of_this_stack_is_refused(
    repo: Repo, tmp_path: Path, capsys: Captured, content: str | None, said: str
) -> None:
    with_pins(repo)
    file = tmp_path / "plan.json"
    if content is not None:
        file.write_text(content)
    assert run(["review", "--no-cluster", "--plan", str(file)]) == ExitCode.USAGE
    assert said in capsys.readouterr().err


def test_without_a_cluster_one_line_says_so_and_why(
    reviewing: Reviewing, monkeypatch: pytest.MonkeyPatch
) -> None:
    reviewing.repo.change(REMOVED)
    assert "No cluster was asked: --no-cluster says so." in reviewing.review("--no-cluster")
    monkeypatch.setenv("KUBECONFIG", "/nowhere")
    text = reviewing.review()
    assert "No cluster was asked: no kubeconfig: the file does not exist." in text
    assert reviewing.codes == [0, 0]


def test_a_cluster_of_another_environment_is_not_asked_for_its_work(reviewing: Reviewing) -> None:
    reviewing.repo.change(REMOVED)
    reviewing.server.answers |= answers(overlay="prod.yaml")
    found = document(reviewing)["jobs"]
    assert found["items"] == []
    assert "is of prod.yaml and not of local.yaml" in found["notAsked"]
    reviewing.server.answers[SPEC_MAP] = refusal(404, "not found", name="platform")
    assert "has no platform" in document(reviewing)["jobs"]["notAsked"]
    reviewing.server.answers[SPEC_MAP] = refusal(403, "forbidden", name="platform")
    found = document(reviewing)["jobs"]
    # Who may not read the spec there may still be of the right cluster.
    assert found["notAsked"] is None
    assert [each["name"] for each in found["items"]] == ["segment", "sort"]


def test_names_of_users_and_reasons_open_nothing_in_a_comment(reviewing: Reviewing) -> None:
    reason = "see @everyone <b>now</b> | `x` [y](http://z)"
    objects = ["ClusterQueue/*", "LocalQueue/*/*"]
    waiver = {"rule": "queues-removed", "objects": objects, "reason": reason, "until": SOON}
    text = yaml.safe_dump({"waivers": [waiver]}, width=1000)
    reviewing.repo.change(REMOVED, ("tiers:\n", f"{text}tiers:\n"))
    comment = reviewing.review("--no-cluster", "-o", "markdown")
    assert "see @<!-- -->everyone" in comment
    assert "<b>" not in comment
    assert "[y](" not in comment


def test_a_comment_that_is_too_long_ends_whole_and_says_so(reviewing: Reviewing) -> None:
    users = ", ".join(f"person-{n}: {{}}" for n in range(8))
    many = "".join(f"  p{n:03}: {{tier: tiny, users: {{{users}}}}}\n" for n in range(140))
    tiny = "  tiny: {weight: 1, cards: {training: {A100: 1}}, core-hours: 10/month, max-time: 8h}\n"
    reviewing.repo.change(
        ("tiers:\n", f"overcommit: {{cards: 10, core-hours: 10}}\ntiers:\n{tiny}"),
        ("projects:\n", f"projects:\n{many}"),
    )
    comment = reviewing.review("--no-cluster", "-o", "markdown")
    assert LENGTH_MAX - 2000 < len(comment) <= LENGTH_MAX
    assert comment.rstrip().endswith("shows all of it.*")
    assert comment.count("<details>") == comment.count("</details>")
    # In Chinese it is as short.
    chinese = reviewing.review("--no-cluster", "-o", "markdown", lang="zh")
    assert len(chinese) <= LENGTH_MAX
    assert "此处已截断" in chinese


def test_the_document_has_the_whole_difference_and_every_affected_job(
    reviewing: Reviewing,
) -> None:
    reviewing.repo.change(("training: {A100: 8}", "training: {A100: 4}"))
    found = document(reviewing)
    assert (found["kind"], found["diff"]["kind"]) == ("Review", "SpecDiff")
    losses = {each["name"]: each["losses"] for each in found["jobs"]["items"]}
    lost = ["cards training A100 8 → 4"]
    assert losses == {"finetune": lost, "pretrain": lost}
