"""`tally spec diff` in real repositories of git, which are only ever read."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.cells import cell_len
from syrupy.assertion import SnapshotAssertion

from tallyard.cli.main import run
from tests.spec.specs import DATA, changed

PLATFORM = (DATA / "diff" / "platform.yaml").read_text()
LOCAL = (DATA / "diff" / "local.yaml").read_text()

type Captured = pytest.CaptureFixture[str]


@dataclass(frozen=True)
class Repo:
    """A repository with the small valid spec of `tests/data/spec/diff` in one commit."""

    root: Path

    def git(self, *arguments: str) -> str:
        """Run git and return what it prints."""
        identity = ("-c", "user.name=T", "-c", "user.email=t@example.com")
        dates = {"GIT_AUTHOR_DATE": "2026-01-01T00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00Z"}
        found = subprocess.run(
            ["git", "-C", str(self.root), *identity, *arguments],
            env={
                **os.environ,
                **dates,
                "GIT_CONFIG_GLOBAL": os.devnull,
                "GIT_CONFIG_NOSYSTEM": "1",
            },
            check=True,
            capture_output=True,
            text=True,
        )
        return found.stdout

    def write(self, name: str, text: str) -> None:
        """Write a file."""
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def commit(self) -> str:
        """Commit all there is, and return the hash."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "a change")
        return self.git("rev-parse", "HEAD").strip()

    def change(self, *replaced: tuple[str, str], name: str = "stacks/platform.yaml") -> None:
        """Replace texts of a file, each of which stands there once."""
        text = (self.root / name).read_text()
        for old, new in replaced:
            text = changed(text, old, new)
        self.write(name, text)


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    made = Repo(tmp_path / "a repo")
    made.root.mkdir()
    made.git("init", "--quiet", "--initial-branch", "main")
    made.write("stacks/platform.yaml", PLATFORM)
    made.write("stacks/local.yaml", LOCAL)
    made.commit()
    monkeypatch.chdir(made.root)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    return made


def _diff(capsys: Captured, *arguments: str) -> Mapping[str, Any]:
    assert run(["spec", "diff", *arguments, "-o", "json"]) == 0
    found: Mapping[str, Any] = json.loads(capsys.readouterr().out)
    return found


MORE_FOR_GOLD = ("training: {A100: 8}", "training: {A100: 12}")
# All that a reviewer may meet in one change.
MUCH = (
    MORE_FOR_GOLD,
    ("borrow: {training: 4}", "borrow: {training: 2}"),
    ("core-hours: 200000/month", "core-hours: 300000/month"),
    ("max-time: 24h", "max-time: 36h"),
    ("rate: 30,", "rate: 33,"),
    ("name: training, value: 1000", "name: training, value: 2000"),
    ("chen.yu: {}}", 'wang.fang: {logins: ["oidc:wang.fang"], share: 40%}}'),
    (
        "  vision: {tier: bronze, users: {zhao.min: {}}}",
        (
            "  sight: {id: vision, tier: bronze, users: {zhao.min: {}}, overrides: "
            "[{max-time: 12h, until: 2100-12-31, reason: a paper}]}\n"
            "  robots: {tier: bronze, users: {sun.na: {}}}"
        ),
    ),
)


def test_what_people_read_of_a_large_change(
    repo: Repo, capsys: Captured, snapshot: SnapshotAssertion
) -> None:
    repo.change(*MUCH)
    repo.change(("a100-[00-01]", "a100-[00-02]"), name="stacks/local.yaml")
    assert run(["spec", "diff"]) == 0
    assert capsys.readouterr().out == snapshot
    assert run(["spec", "diff", "-o", "markdown"]) == 0
    assert capsys.readouterr().out == snapshot
    assert run(["--lang", "zh", "spec", "diff"]) == 0
    assert capsys.readouterr().out == snapshot


def test_the_document_of_a_large_change(
    repo: Repo, capsys: Captured, snapshot: SnapshotAssertion
) -> None:
    repo.change(*MUCH)
    found = dict(_diff(capsys))
    assert found.pop("at").endswith("Z")
    assert json.dumps(found, indent=2) == snapshot
    assert run(["spec", "diff", "-o", "yaml"]) == 0
    as_yaml = yaml.safe_load(capsys.readouterr().out)
    as_yaml.pop("at")
    assert as_yaml == found


def test_the_document_says_what_a_program_would_have_to_guess(repo: Repo, capsys: Captured) -> None:
    """Names, moves, periods, slices, and on which side an override has ended."""
    override = "[{max-time: 12h, until: UNTIL, reason: a paper}]"
    vision = "  vision: {tier: bronze, "
    own = f"{vision}overrides: {override}, "
    repo.change((vision, own.replace("UNTIL", "2100-12-31")))
    repo.commit()
    repo.change(
        ("2100-12-31", "2026-01-31"),
        ("  bronze: {", "  copper: {"),
        ("tier: bronze", "tier: copper"),
        ("30000/month", "985/day"),
        ("burst: 50%", "sharing: {time-slicing: 4}"),
        ("RTX: {vendor: nvidia, memory: 24Gi", "RTX: {vendor: nvidia, memory: 48Gi"),
        ("\ntiers", "\novercommit: {cards: 1.5, core-hours: 1}\ntiers"),
    )
    moved = "{hosts: a100-01, pool: domestic, model: BI-V150, cards: 8, cpu: 128, memory: 1Ti, "
    repo.change(
        ('"a100-[00-01]"', "a100-00"),
        ('"r[0-1]"', "r0"),
        ("nodes:", f"nodes:\n  - {moved}block: b0, rack: r0}}"),
        name="stacks/local.yaml",
    )
    found = _diff(capsys)
    assert found["renames"] == []
    assert {each["name"]: each["presence"] for each in found["tiers"]} == {
        "copper": "added",
        "bronze": "removed",
    }
    project = next(each for each in found["projects"] if each["key"] == "vision")
    (change,) = project["overrides"]
    assert [change[side]["isOver"] for side in ("before", "after")] == [False, True]
    grant, lasts = (
        next(each for each in project["changes"] if each["fact"] == fact)
        for fact in ("core-hours", "lasts")
    )
    assert (grant["delta"], grant["percent"], grant["effect"]) == (None, 0, "loss")
    assert lasts["before"] == {"hours": 500, "period": "month", "percent": 68}
    assert lasts["after"] == {"hours": 16, "period": "day", "percent": 68}
    pool = next(each for each in found["everybody"] if each["kind"] == "pool")
    sharing = next(each for each in pool["changes"] if each["fact"] == "sharing")
    assert (sharing["before"], sharing["after"]) == ("exclusive", {"time-slicing": 4})
    assert found["slices"] == {"inference": 4}
    assert found["moves"] == [
        {
            "hosts": ["a100-01"],
            "before": {"pool": "training", "model": "A100"},
            "after": {"pool": "domestic", "model": "BI-V150"},
        }
    ]
    (flavor,) = found["flavors"]
    assert (flavor["pool"], flavor["model"]) == ("inference", "RTX")
    assert flavor["before"] != flavor["after"]
    assert {each["after"]["allowed"] for each in found["supply"]} == {12, 24}
    assert "SPEC612" not in {each["code"] for each in found["warnings"]}


def test_a_new_name_is_said_and_everything_else_is_no_difference(
    repo: Repo, capsys: Captured
) -> None:
    repo.change(("  bronze: {", "  copper: {"), ("tier: bronze", "tier: copper"))
    found = _diff(capsys)
    assert found["renames"] == [{"kind": "tier", "before": "bronze", "after": "copper"}]
    assert found["changed"]
    assert found["tiers"] == found["projects"] == found["removed"] == found["warnings"] == []
    assert run(["--lang", "zh", "spec", "diff"]) == 0
    assert "配额等级 bronze 改名为 copper" in capsys.readouterr().out


def test_the_working_tree_is_compared_with_the_last_commit_unless_revisions_are_named(
    repo: Repo, capsys: Captured
) -> None:
    repo.git("branch", "before")
    repo.change(MORE_FOR_GOLD)
    commit = repo.commit()
    assert not _diff(capsys)["changed"]
    repo.change(("weight: 1", "weight: 2"))
    facts = {
        arguments: [
            each["fact"] for tier in _diff(capsys, *arguments)["tiers"] for each in tier["changes"]
        ]
        for arguments in ((), ("before",), ("before", "main"), ("main", "before"), (commit,))
    }
    assert facts == {
        (): ["weight"],
        ("before",): ["cards", "weight"],
        ("before", "main"): ["cards"],
        ("main", "before"): ["cards"],
        (commit,): ["weight"],
    }
    backwards = _diff(capsys, "main", "before")
    assert backwards["before"] == {"revision": "main", "commit": commit, "exists": True}
    assert backwards["tiers"][0]["changes"][0]["effect"] == "loss"


def test_the_exit_code_tells_of_a_difference_only_where_it_is_asked_to(repo: Repo) -> None:
    assert run(["spec", "diff", "--exit-code"]) == 0
    repo.change(MORE_FOR_GOLD)
    assert run(["spec", "diff"]) == 0
    assert run(["spec", "diff", "--exit-code"]) == 7
    assert run(["spec", "diff", "--exit-code", "-o", "json"]) == 7


def test_comments_order_and_formatting_are_no_difference_and_it_is_said(
    repo: Repo, capsys: Captured
) -> None:
    assert run(["spec", "diff", "--exit-code"]) == 0
    assert "No difference: the files are the same." in capsys.readouterr().out
    first, second = PLATFORM.splitlines()[-2:]
    repo.change((f"{first}\n{second}", f"  # the teams\n{second}\n{first}"), ("24h", "1d"))
    assert run(["spec", "diff", "--exit-code"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "Nothing changes in meaning: only comments, order or formatting differ."
    ]
    assert run(["--lang", "zh", "spec", "diff", "-o", "markdown"]) == 0
    assert "含义没有任何变化" in capsys.readouterr().out


def test_it_works_in_a_subfolder_and_with_a_base_elsewhere(
    repo: Repo, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.git("mv", "stacks/platform.yaml", "shared.yaml")
    repo.change(("base: platform.yaml", "base: ../shared.yaml"), name="stacks/local.yaml")
    repo.commit()
    repo.change(MORE_FOR_GOLD, name="shared.yaml")
    below = repo.root / "docs" / "deep"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert [each["name"] for each in _diff(capsys)["tiers"]] == ["gold"]
    assert not _diff(capsys, "HEAD~1", "HEAD")["changed"]


def test_a_base_outside_of_the_repository_is_not_read(repo: Repo, capsys: Captured) -> None:
    (repo.root.parent / "shared.yaml").write_text("password: hunter2")
    repo.change(("base: platform.yaml", "base: ../../shared.yaml"), name="stacks/local.yaml")
    repo.commit()
    assert run(["spec", "diff", "HEAD~1"]) == 2
    err = capsys.readouterr().err
    assert "[SPEC043]" in err
    assert "hunter2" not in err
    assert run(["spec", "diff", "HEAD", "HEAD"]) == 2
    assert "hunter2" not in capsys.readouterr().err


def test_links_within_the_repository_are_followed(repo: Repo, capsys: Captured) -> None:
    repo.git("mv", "stacks/platform.yaml", "shared.yaml")
    (repo.root / "stacks" / "platform.yaml").symlink_to("../shared.yaml")
    repo.commit()
    repo.change(MORE_FOR_GOLD, name="shared.yaml")
    repo.commit()
    assert [each["name"] for each in _diff(capsys, "HEAD~1", "HEAD")["tiers"]] == ["gold"]


def test_a_link_out_of_the_repository_is_not_followed(repo: Repo, capsys: Captured) -> None:
    (repo.root.parent / "shared.yaml").write_text(PLATFORM)
    (repo.root / "stacks" / "platform.yaml").unlink()
    (repo.root / "stacks" / "platform.yaml").symlink_to("../../shared.yaml")
    repo.commit()
    assert run(["spec", "diff", "HEAD~1", "HEAD"]) == 2
    assert "HEAD:stacks/local.yaml:1:7" in capsys.readouterr().err
    assert run(["spec", "diff", "HEAD~1"]) == 2
    assert "[SPEC043]" in capsys.readouterr().err


def test_a_project_with_another_id_is_told_of_its_namespaces(repo: Repo, capsys: Captured) -> None:
    repo.change(("  vision: {tier", "  vision: {id: sight, tier"))
    assert run(["spec", "diff"]) == 0
    out = capsys.readouterr().out
    assert "id vision → sight: a new namespace sight with queues of its own" in out
    assert "the namespace vision stays with what is in it, and nothing moves over" in out
    assert "vision  removed" not in out
    (project,) = _diff(capsys)["projects"]
    assert (project["id"], project["idBefore"], project["changes"]) == ("sight", "vision", [])


def test_a_base_that_is_a_path_of_this_machine_is_refused_with_the_way_out(
    repo: Repo, capsys: Captured
) -> None:
    there = f'base: "{repo.root}/stacks/platform.yaml"'
    repo.change(("base: platform.yaml", there), name="stacks/local.yaml")
    repo.commit()
    assert run(["spec", "diff"]) == 2
    err = capsys.readouterr().err
    assert "HEAD:stacks/local.yaml:1:7" in err
    assert "[SPEC043]" in err


@pytest.mark.parametrize("depth", range(1, 9))
def test_a_base_far_above_makes_nothing_outside_of_the_temporary_folder(
    depth: int, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a" / "b" / "tmp"
    folder.mkdir(parents=True)
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    base = "../" * depth + "etc/passwd"
    repo.change(("base: platform.yaml", f"base: {base}"), name="stacks/local.yaml")
    repo.commit()
    before = sorted(tmp_path.rglob("*"))
    assert run(["spec", "diff", "HEAD", "HEAD"]) == 2
    assert sorted(tmp_path.rglob("*")) == before


def test_stacks_that_became_a_link_are_found_on_both_sides(repo: Repo, capsys: Captured) -> None:
    repo.git("mv", "stacks", "real")
    (repo.root / "stacks").symlink_to("real")
    repo.commit()
    found = _diff(capsys, "HEAD~1", "HEAD")
    assert (found["before"]["exists"], found["after"]["exists"]) == (True, True)
    assert not found["changed"]


def test_a_temporary_folder_without_room_is_told(
    repo: Repo, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(repo.root / "none"))
    assert run(["spec", "diff"]) == 1
    assert "cannot be copied" in capsys.readouterr().err


def test_an_environment_that_comes_or_goes_is_told_as_such(repo: Repo, capsys: Captured) -> None:
    repo.write("stacks/big site.yaml", LOCAL)
    added = _diff(capsys, "-s", "big site")
    assert (added["presence"], added["before"]["exists"]) == ("added", False)
    assert {each["presence"] for each in added["projects"]} == {"added"}
    assert added["removed"] == added["replaced"] == []
    repo.commit()
    repo.git("rm", "--quiet", "stacks/big site.yaml")
    assert run(["spec", "diff", "-s", "big site", "--exit-code"]) == 7
    out = capsys.readouterr().out
    assert "The environment is removed: working tree has none." in out
    assert "left in the cluster: nlp, vision" in out
    gone = _diff(capsys, "-s", "big site")
    assert {each["presence"] for each in gone["projects"]} == {"removed"}
    assert {"kind": "Namespace", "name": "nlp", "namespace": None, "fate": "kept"} in gone[
        "removed"
    ]


def test_an_environment_that_is_nowhere_is_told_with_the_nearest_one(
    repo: Repo, capsys: Captured
) -> None:
    assert repo.root.is_dir()
    assert run(["spec", "diff", "-s", "locale"]) == 6
    err = capsys.readouterr().err
    assert "there is no environment locale" in err
    assert "do you mean -s local?" in err


@pytest.mark.parametrize(("name", "likely"), [("mian", '"main"'), ("featur", '"feature/Ω-1"')])
def test_a_revision_that_is_not_there_is_told_with_the_nearest_branch(
    name: str, likely: str, repo: Repo, capsys: Captured
) -> None:
    repo.git("branch", "feature/Ω-1")
    assert run(["spec", "diff", name]) == 6
    err = capsys.readouterr().err
    assert f'error: there is no revision "{name}"' in err
    assert f"do you mean {likely}?" in err


@pytest.mark.parametrize(
    "name", ["-x", "--output=x", "--help", "", "a\nb", "HEAD:stacks", "main..x"]
)
def test_nothing_that_is_no_revision_becomes_an_option_or_a_command(
    name: str, repo: Repo, capsys: Captured
) -> None:
    before = _content(repo.root)
    assert run(["spec", "diff", "-o", "json", "--", name]) == 6
    out, err = capsys.readouterr()
    assert out == ""
    assert "there is no revision" in err
    assert _content(repo.root) == before


@pytest.mark.parametrize("odd", ["it's `odd`; $(touch x) 环境", "two\nlines", "HEAD:x", "*"])
def test_branches_and_files_with_odd_names_are_only_names(
    odd: str, repo: Repo, capsys: Captured
) -> None:
    repo.write(f"stacks/{odd}.yaml", LOCAL)
    repo.commit()
    branch = "a'b$(c)|d"
    repo.git("branch", branch)
    repo.change(MORE_FOR_GOLD)
    found = _diff(capsys, branch, "-s", odd)
    assert found["before"]["revision"] == branch
    assert [each["name"] for each in found["tiers"]] == ["gold"]


def test_errors_of_the_older_side_are_told_with_their_places_there(
    repo: Repo, capsys: Captured
) -> None:
    repo.change(("weight: 1", "weight: heavy"))
    repo.change(("cpu: 128", "cpu: many"), name="stacks/local.yaml")
    repo.commit()
    repo.write("stacks/platform.yaml", PLATFORM)
    repo.write("stacks/local.yaml", LOCAL)
    assert run(["spec", "diff", "--error-format", "short"]) == 2
    out, err = capsys.readouterr()
    first, second = err.splitlines()
    assert out == ""
    assert first.startswith("HEAD:stacks/platform.yaml:21:")
    assert second.startswith("HEAD:stacks/local.yaml:3:")
    assert run(["spec", "diff"]) == 2
    err = capsys.readouterr().err
    assert "weight: heavy" in err
    assert "tally-" not in err
    assert run(["spec", "diff", "HEAD~1", "--exit-code"]) == 0


def test_errors_of_both_sides_come_out_in_one_run(repo: Repo, capsys: Captured) -> None:
    repo.change(("weight: 1", "weight: heavy"))
    repo.commit()
    repo.change(("tier: gold", "tier: golden"))
    assert run(["spec", "diff", "HEAD", "--error-format", "json"]) == 2
    files = {item["file"] for item in json.loads(capsys.readouterr().out)["items"]}
    assert files == {"HEAD:stacks/platform.yaml", "stacks/platform.yaml"}


def test_a_base_that_a_revision_lacks_is_told_where_it_is_named(
    repo: Repo, capsys: Captured
) -> None:
    repo.git("rm", "--quiet", "stacks/platform.yaml")
    repo.commit()
    repo.write("stacks/platform.yaml", PLATFORM)
    assert run(["spec", "diff", "--error-format", "short"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("HEAD:stacks/local.yaml:1:7")
    assert "HEAD:stacks/platform.yaml" in line
    assert "tally-" not in line


def test_without_a_repository_or_without_git_there_is_one_complaint(
    repo: Repo, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = tmp_path / "plain" / "stacks"
    plain.mkdir(parents=True)
    (plain / "platform.yaml").write_text(PLATFORM)
    (plain / "local.yaml").write_text(LOCAL)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    monkeypatch.chdir(plain.parent)
    assert run(["spec", "diff"]) == 1
    err = capsys.readouterr().err
    assert [line.split(":")[0].strip() for line in err.splitlines()] == [
        "error",
        "where",
        "why",
        "do",
    ]
    assert "not a git repository" in err
    monkeypatch.chdir(repo.root)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run(["spec", "diff"]) == 1
    err = capsys.readouterr().err
    assert [line.split(":")[0].strip() for line in err.splitlines()] == [
        "error",
        "where",
        "why",
        "do",
    ]
    assert "git cannot be started" in err


def test_in_a_repository_without_a_commit_it_says_what_to_do(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = Repo(tmp_path)
    empty.git("init", "--quiet")
    empty.write("stacks/local.yaml", LOCAL)
    monkeypatch.chdir(tmp_path)
    assert run(["spec", "diff"]) == 6
    assert "make a first commit" in capsys.readouterr().err


def test_a_shallow_clone_says_how_to_get_the_rest(
    repo: Repo, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.change(MORE_FOR_GOLD)
    repo.commit()
    clone = tmp_path / "clone"
    repo.git("clone", "--quiet", "--depth", "1", f"file://{repo.root}", str(clone))
    monkeypatch.chdir(clone)
    assert not _diff(capsys)["changed"]
    assert run(["spec", "diff", "HEAD~1"]) == 6
    err = capsys.readouterr().err
    assert "shallow" in err
    assert "git fetch --unshallow" in err


def test_it_works_in_a_hook_and_in_a_linked_worktree(
    repo: Repo, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.change(MORE_FOR_GOLD)
    # As git sets them for its hooks.
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/index")
    assert _diff(capsys)["changed"]
    monkeypatch.delenv("GIT_DIR")
    monkeypatch.delenv("GIT_INDEX_FILE")
    repo.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    monkeypatch.chdir(tmp_path / "linked")
    assert not _diff(capsys)["changed"]


def _content(root: Path) -> Mapping[str, str]:
    """Return what every file of a folder holds, git's own too."""
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in root.rglob("*")
        if path.is_file()
    }


def test_nothing_in_the_repository_is_written(repo: Repo, capsys: Captured) -> None:
    repo.change(MORE_FOR_GOLD)
    before = _content(repo.root)
    assert len(before) > 10
    for arguments in ((), ("HEAD",), ("main", "HEAD"), ("nothing",), ("-s", "nothing")):
        run(["spec", "diff", *arguments])
    assert _content(repo.root) == before
    assert capsys.readouterr().err


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("width", [60, 80, 120])
def test_on_a_terminal_no_line_is_too_long_and_gains_and_losses_are_coloured(
    width: int, lang: str, repo: Repo, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.change(*MUCH)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert run(["--lang", lang, "spec", "diff"]) == 0
    coloured = capsys.readouterr().out
    assert "\x1b[32m+4\x1b[0m" in coloured
    assert "\x1b[31m-2\x1b[0m" in coloured
    assert run(["--lang", lang, "--no-color", "spec", "diff"]) == 0
    plain = capsys.readouterr().out
    assert "\x1b" not in plain
    assert max(map(cell_len, plain.splitlines())) <= width


def test_piped_output_has_no_colour(repo: Repo, capsys: Captured) -> None:
    repo.change(*MUCH)
    assert run(["spec", "diff"]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_in_markdown_a_name_is_text_and_nothing_else(repo: Repo, capsys: Captured) -> None:
    """A project may be called anything that can be seen; a reviewer's page must survive it."""
    evil = "<img src=x onerror=y>|`a`@all [x](y)"
    repo.change(("  vision: {tier", f'  "{evil}": {{id: vision, tier'), ("weight: 1", "weight: 2"))
    assert run(["spec", "diff", "-o", "markdown"]) == 0
    out = capsys.readouterr().out
    (heading,) = (line for line in out.splitlines() if line.startswith("#### ") and "img" in line)
    assert heading == r"#### &lt;img src=x onerror=y&gt;\|\`a\`@<!-- -->all \[x\](y)"
    assert "<img" not in out
    assert "|`" not in out
