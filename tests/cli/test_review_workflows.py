"""The example workflows: who may what in them, what is pinned, and that their commands exist."""

from __future__ import annotations

import re
import shlex
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
    notes: list[dict[str, Any]] = [{"id": 1, "body": "hello"}]
    asked: list[tuple[str, str]] = []

    class Answer(io.BytesIO):
        headers: Mapping[str, str] = {}

    def urlopen(request: urllib.request.Request, timeout: float) -> Answer:
        assert timeout
        asked.append((request.get_method(), request.full_url))
        assert request.get_header("Private-token") == "secret"
        if request.get_method() == "GET":
            return Answer(json.dumps(notes).encode())
        assert isinstance(request.data, bytes)
        body = json.loads(request.data)["body"]
        notes[:] = [*(each for each in notes if each["id"] != 2), {"id": 2, "body": body}]
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
        monkeypatch.setattr("sys.argv", ["-", "<!-- tally-review prod -->", str(file)])
        exec(compile(code, "note", "exec"), {})  # noqa: S102 - our own example
    url = "https://gitlab.example/api/v4/projects/7/merge_requests/3/notes"
    assert [each for each in asked if each[0] != "GET"] == [("POST", url), ("PUT", f"{url}/2")]
    assert notes[1]["body"] == "<!-- tally-review prod -->\n## second"
