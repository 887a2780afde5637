"""The example workflows: who may what in them, what is pinned, and that their commands exist."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tallyard.cli.application import build

FOLDER = Path(__file__).parents[2] / "docs" / "review"
COMMIT = re.compile(r"[0-9a-f]{40}")
SAME_REPOSITORY = "github.event.pull_request.head.repo.full_name == github.repository"
OWN_BRANCH = "$CI_MERGE_REQUEST_SOURCE_PROJECT_PATH == $CI_PROJECT_PATH"
SECRET = re.compile(r"secrets\.\w+")


@pytest.fixture(scope="module")
def github() -> Mapping[str, Any]:
    found: Mapping[str, Any] = yaml.safe_load((FOLDER / "github.yml").read_text())
    return found


@pytest.fixture(scope="module")
def gitlab() -> Mapping[str, Any]:
    found: Mapping[str, Any] = yaml.safe_load((FOLDER / "gitlab.yml").read_text())
    return found


def test_a_pull_request_starts_it_and_nothing_that_runs_its_code_with_more_rights(
    github: Mapping[str, Any],
) -> None:
    # YAML 1.1 reads `on` as a truth.
    triggers = next(value for key, value in github.items() if key is True)  # type: ignore[comparison-overlap]
    assert list(triggers) == ["pull_request"]
    assert github["permissions"] == {}


def test_each_job_has_the_rights_that_it_needs_and_no_others(github: Mapping[str, Any]) -> None:
    rights = {name: job["permissions"] for name, job in github["jobs"].items()}
    assert rights == {
        "review": {"contents": "read"},
        "report": {
            "pull-requests": "write",
            "security-events": "write",
            "contents": "read",
            "actions": "read",
        },
        "preview": {"contents": "read", "pull-requests": "write"},
    }


def test_what_may_write_or_has_secrets_is_not_for_a_fork(github: Mapping[str, Any]) -> None:
    for name, job in github["jobs"].items():
        may_write = "write" in job["permissions"].values()
        secrets = SECRET.findall(yaml.safe_dump(job))
        assert (SAME_REPOSITORY in job.get("if", "")) == may_write, name
        assert bool(secrets) == (name == "preview")
        assert bool(job.get("environment")) == bool(secrets)


def test_what_has_a_token_that_may_write_runs_nothing_of_the_change_unasked(
    github: Mapping[str, Any],
) -> None:
    report = github["jobs"]["report"]
    assert not any("checkout" in step.get("uses", "") for step in report["steps"])
    for job in github["jobs"].values():
        for step in job["steps"]:
            if "checkout" in step.get("uses", ""):
                assert step["with"]["persist-credentials"] is False


def test_no_text_of_a_pull_request_is_put_into_a_script(github: Mapping[str, Any]) -> None:
    scripts = [
        step["run"] for job in github["jobs"].values() for step in job["steps"] if "run" in step
    ]
    assert len(scripts) >= 6
    assert not [each for each in scripts if "${{" in each]


def test_actions_are_pinned_by_commit_or_say_that_nobody_has_looked(
    github: Mapping[str, Any],
) -> None:
    text = (FOLDER / "github.yml").read_text()
    used = [
        step["uses"] for job in github["jobs"].values() for step in job["steps"] if "uses" in step
    ]
    assert len(used) >= 7
    for each in used:
        _, _, pin = each.partition("@")
        assert COMMIT.fullmatch(pin) or pin == "unverified", each
        # The version stands behind it, for people.
        assert re.search(rf"{re.escape(each)} # v\d", text), each


def test_on_gitlab_only_the_own_branches_have_variables_and_secrets_want_a_person(
    gitlab: Mapping[str, Any],
) -> None:
    for name in ("comment", "preview"):
        (rule,) = gitlab[name]["rules"]
        assert OWN_BRANCH in rule["if"]
    assert gitlab["preview"]["rules"][0]["when"] == "manual"
    assert "REVIEW_TOKEN" not in yaml.safe_dump(gitlab["review"])
    assert "--no-cluster" in yaml.safe_dump(gitlab["review"])


def _scripts(github: Mapping[str, Any], gitlab: Mapping[str, Any]) -> Iterator[str]:
    for job in github["jobs"].values():
        yield from (step["run"] for step in job["steps"] if "run" in step)
    for name in ("review", "preview"):
        yield from gitlab[name]["script"]


def test_pulumi_runs_the_program_first_so_that_another_cluster_is_refused(
    github: Mapping[str, Any], gitlab: Mapping[str, Any]
) -> None:
    found = []
    for script in _scripts(github, gitlab):
        found += re.findall(r"pulumi (preview [^>;|\n]+)", script.replace("\\\n", " "))
    assert len(found) == 2
    for each in found:
        assert {"--refresh", "--run-program"} <= set(shlex.split(each))


def test_whatever_can_change_the_result_starts_it(
    github: Mapping[str, Any], gitlab: Mapping[str, Any]
) -> None:
    triggers = next(value for key, value in github.items() if key is True)  # type: ignore[comparison-overlap]
    looked_at = [triggers["pull_request"]["paths"]]
    for name in (".of-merge-request", "comment", "preview"):
        (rule,) = gitlab[name]["rules"]
        looked_at.append([each.replace("/**/*", "/**") for each in rule["changes"]])
    folders = ("stacks", "policies", "tallyard", "templates", "infra", "requirements")
    files = {"Pulumi.yaml", "pyproject.toml"}
    for each in looked_at:
        assert set(each) == {f"{folder}/**" for folder in folders} | files
    assert all((FOLDER.parents[1] / each).exists() for each in (*folders, *files))


@pytest.mark.parametrize(
    ("said", "code"),
    [("", 0), ("**1 refused.**", 5), ("**Nothing was reviewed: 1 error.**", 2), ("", 2)],
)
def test_githubs_review_ends_as_tally_does_and_hands_on_what_it_said(
    github: Mapping[str, Any], tmp_path: Path, said: str, code: int
) -> None:
    """The step is run with stand-ins for git and tally."""
    (script,) = (e["run"] for e in github["jobs"]["review"]["steps"] if e.get("name") == "Review")
    text = said or ("**Fine.**" if code == 0 else "")
    tally = f"#!/bin/sh\n[ -z '{text}' ] || echo '{text}'\nexit {code}\n"
    for name, content in ((".venv/bin/tally", tally), ("git", "#!/bin/sh\necho base\n")):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        file.chmod(0o700)
    more = {"BASE": "x", "STACK": "prod", "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
    path = f"{tmp_path}:{os.environ['PATH']}"
    found = subprocess.run(
        ["bash", "-e", "-c", script], check=False, cwd=tmp_path, env={**more, "PATH": path}
    )
    assert found.returncode == code
    kept = sorted(file.name for file in (tmp_path / "out").glob("*"))
    assert kept == (["review.md", "review.sarif"] if text else [])
    assert (tmp_path / "summary").read_text().strip() == text


def test_gitlabs_review_ends_as_tally_does_and_hands_on_what_it_said(
    gitlab: Mapping[str, Any], tmp_path: Path
) -> None:
    """The lines are run with a stand-in for tally whose spec has a mistake."""
    tally = tmp_path / "tally"
    tally.write_text("#!/bin/sh\necho '**Nothing was reviewed: 1 error.**'\nexit 2\n")
    tally.chmod(0o700)
    (tmp_path / "out").mkdir()
    script = "\n".join(gitlab["review"]["script"])
    more = {"base": "x", "STACK": "prod", "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    found = subprocess.run(["bash", "-e", "-c", script], check=False, cwd=tmp_path, env=more)
    assert found.returncode == 2
    for name in ("review.md", "review.sarif"):
        assert "Nothing was reviewed" in (tmp_path / "out" / name).read_text()
    # It is kept, and the note is written, though the job has failed.
    assert gitlab["review"]["artifacts"]["when"] == "always"
    assert gitlab["comment"]["rules"][0]["when"] == "always"


def test_whoever_sets_it_up_is_told_what_is_not_in_the_files(gitlab: Mapping[str, Any]) -> None:
    text = (FOLDER / "README.md").read_text()
    for each in (
        *("make pins", "pulumi stack init prod", "- local: docs/review/gitlab.yml"),
        *(".github/workflows/review.yml", "Require status checks", "Required reviewers"),
        *("AdmissionRule/NAME", "Pin/charts.kueue.digest", "Setting/tallyard:token"),
    ):
        assert each in text
    # Nothing installs Pulumi there, and the page says so.
    assert "install" not in "\n".join(gitlab["preview"]["script"])
    assert "That image has no Pulumi" in text
    (example,) = re.findall(r"```yaml\n(waivers:\n.*?)```", text, flags=re.DOTALL)
    (waiver,) = yaml.safe_load(example)["waivers"]
    assert set(waiver) == {"rule", "objects", "reason", "until"}


def test_every_command_of_theirs_parses(
    github: Mapping[str, Any], gitlab: Mapping[str, Any]
) -> None:
    found = []
    for script in _scripts(github, gitlab):
        joined = script.replace("\\\n", " ").replace('"$@"', "")
        found += re.findall(r"tally (review [^>;|\n]+)", joined)
    assert len(found) >= 5
    for each in found:
        build().parse_args(shlex.split(each), exit_on_error=False, print_error=False)


def test_the_note_of_gitlab_is_written_once_and_then_anew(
    gitlab: Mapping[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The script is run against a stand-in for GitLab's API."""
    import io  # noqa: PLC0415
    import json  # noqa: PLC0415
    import urllib.request  # noqa: PLC0415

    (script,) = gitlab[".note"]["script"]
    code = script.split("<<'PYTHON'\n")[1].split("\nPYTHON")[0]
    mark = "<!-- tally-review prod -->"
    # Somebody else has begun a note by the mark.
    notes: list[dict[str, Any]] = [{"id": 1, "body": f"{mark}\nhello", "author": {"id": 5}}]
    asked: list[tuple[str, str]] = []

    class Answer(io.BytesIO):
        headers: Mapping[str, str] = {}

    def urlopen(request: urllib.request.Request, timeout: float) -> Answer:
        assert timeout
        asked.append((request.get_method(), request.full_url))
        assert request.get_header("Private-token") == "secret"
        if request.get_method() == "GET":
            is_user = request.full_url == "https://gitlab.example/api/v4/user"
            return Answer(json.dumps({"id": 9} if is_user else notes).encode())
        assert isinstance(request.data, bytes)
        body = json.loads(request.data)["body"]
        mine = {"id": 2, "body": body, "author": {"id": 9}}
        notes[:] = [*(each for each in notes if each["id"] != 2), mine]
        return Answer(b"{}")

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    for name, value in (
        ("CI_PROJECT_ID", "7"),
        ("CI_MERGE_REQUEST_IID", "3"),
        ("CI_API_V4_URL", "https://gitlab.example/api/v4"),
        ("REVIEW_TOKEN", "secret"),
    ):
        monkeypatch.setenv(name, value)
    file = tmp_path / "review.md"
    for text in ("## first", "## second"):
        file.write_text(text)
        monkeypatch.setattr("sys.argv", ["-", mark, str(file)])
        exec(compile(code, "note", "exec"), {})  # noqa: S102 - our own example
    # What broke off has said nothing, and that is no note.
    file.write_text("")
    with pytest.raises(SystemExit) as told:
        exec(compile(code, "note", "exec"), {})  # noqa: S102 - our own example
    assert "is empty" in str(told.value)
    url = "https://gitlab.example/api/v4/projects/7/merge_requests/3/notes"
    assert [each for each in asked if each[0] != "GET"] == [("POST", url), ("PUT", f"{url}/2")]
    assert [each["body"] for each in notes] == [f"{mark}\nhello", f"{mark}\n## second"]
