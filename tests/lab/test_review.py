"""The review of a real lab: Pulumi's own plan and pack, and the work that is there now."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tallyard.cli.exit_codes import ExitCode
from tallyard.cli.review_command import ReviewFormat
from tallyard.cli.review_lab import review_lab
from tests.lab import work
from tests.running_lab import OVERLAY, RunningLab
from tests.spec.specs import changed

NLP = "nlp"
MODEL = "A800-SXM4-80GB"


@pytest.fixture
def running(full_lab: RunningLab) -> Iterator[dict[str, Any]]:
    """A job that runs in a queue from which cards are taken."""
    job = work.job("reviewed", "training", 2, namespace=NLP, model=MODEL)
    work.submit(full_lab, job, user="li.wei")
    try:
        work.wait(lambda: bool(work.running(full_lab, "reviewed", NLP)))
        yield job
    finally:
        work.remove(full_lab, job)


def changed_spec(folder: Path, *changes: tuple[str, str]) -> Path:
    """Return the environment's file of a copy of the spec that differs."""
    for name in ("platform.yaml", "local.yaml"):
        shutil.copy(OVERLAY.parent / name, folder / name)
    text = (folder / "platform.yaml").read_text()
    for old, new in changes:
        text = changed(text, old, new)
    (folder / "platform.yaml").write_text(text)
    return folder / "local.yaml"


def test_a_change_is_reviewed_with_pulumis_plan_its_pack_and_the_jobs_that_run(
    full_lab: RunningLab,
    running: dict[str, Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Fewer cards, and a priority's value that no object can take."""
    overlay = changed_spec(
        tmp_path,
        (f"training: {{{MODEL}: 16,", f"training: {{{MODEL}: 8,"),
        ("{name: training, value: 10000}", "{name: training, value: 20000}"),
    )
    code = review_lab(full_lab.folder, overlay, ReviewFormat.JSON)
    found = json.loads(capsys.readouterr().out)
    assert code == ExitCode.POLICY
    rules = {each["rule"]: each for each in found["findings"] if each["status"] == "refused"}
    assert set(rules) == {"objects-replaced"}
    text = (tmp_path / "platform.yaml").read_text().splitlines()
    assert "value: 20000" in text[rules["objects-replaced"]["line"] - 1]
    # The pack asks the same rules, and what it says besides would be another fault of ours.
    assert [each for each in found["pack"] if each["rule"] == "objects-replaced"] == []
    plan = found["plan"]
    assert plan["source"] == "pulumi"
    assert "currently marked for protection" in " ".join(plan["errors"])
    deeds = {(each["kind"], each["name"]): each["deed"] for each in plan["changes"]}
    assert deeds["WorkloadPriorityClass", "training"] == "refused"
    jobs = {each["name"]: each for each in found["jobs"]["items"]}
    assert found["jobs"]["notAsked"] is None
    mine = jobs[running["metadata"]["name"]]
    assert (mine["state"], mine["projectKey"], mine["user"]) == ("running", NLP, "li.wei")
    assert mine["losses"] == [f"cards training {MODEL} 16 → 8"]
    assert found["diff"]["before"]["revision"] == "deployed"


def test_a_project_that_leaves_while_its_job_runs_is_told_with_its_job(
    full_lab: RunningLab,
    running: dict[str, Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Its queues go away, which may be wanted: it is told and stops nothing."""
    text = (OVERLAY.parent / "platform.yaml").read_text()
    project = text[text.index("  nlp:\n") : text.index("  vision:\n")]
    code = review_lab(full_lab.folder, changed_spec(tmp_path, (project, "")), ReviewFormat.JSON)
    found = json.loads(capsys.readouterr().out)
    assert code == ExitCode.OK
    assert {each["rule"] for each in found["findings"]} == {"queues-removed"}
    assert {each["status"] for each in found["findings"]} == {"told"}
    # The pack asks the same rules, and what it says besides would be another fault of ours.
    assert found["pack"] == []
    deeds = {(each["kind"], each["name"]): each["deed"] for each in found["plan"]["changes"]}
    assert deeds["ClusterQueue", "nlp-training"] == "deleted"
    assert deeds["Namespace", "nlp"] == "kept"
    [job] = [e for e in found["jobs"]["items"] if e["name"] == running["metadata"]["name"]]
    assert (job["state"], job["projectKey"]) == ("running", NLP)


def test_what_is_deployed_passes_and_nothing_is_changed(
    full_lab: RunningLab, capsys: pytest.CaptureFixture[str]
) -> None:
    code = review_lab(full_lab.folder, OVERLAY, ReviewFormat.TABLE)
    told = capsys.readouterr()
    assert code == ExitCode.OK, told.out
    assert "Nothing is refused, nothing to tell." in told.out
    assert "The spec means the same as before." in told.out
    assert "pulumi preview: " in told.err
