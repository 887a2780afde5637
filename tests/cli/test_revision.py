"""A spec at a revision of git: what is found there, and that nothing else is read or written."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import pytest

from tallyard.cli.main import run
from tests.cli.specs import LOCAL, MORE_FOR_GOLD, PLATFORM, Captured, Repo, diff_of


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
    assert [each["name"] for each in diff_of(capsys)["tiers"]] == ["gold"]
    assert not diff_of(capsys, "HEAD~1", "HEAD")["changed"]


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
    assert [each["name"] for each in diff_of(capsys, "HEAD~1", "HEAD")["tiers"]] == ["gold"]


def test_a_link_out_of_the_repository_is_not_followed(repo: Repo, capsys: Captured) -> None:
    (repo.root.parent / "shared.yaml").write_text(PLATFORM)
    (repo.root / "stacks" / "platform.yaml").unlink()
    (repo.root / "stacks" / "platform.yaml").symlink_to("../../shared.yaml")
    repo.commit()
    assert run(["spec", "diff", "HEAD~1", "HEAD"]) == 2
    assert "HEAD:stacks/local.yaml:1:7" in capsys.readouterr().err
    assert run(["spec", "diff", "HEAD~1"]) == 2
    assert "[SPEC043]" in capsys.readouterr().err


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
    found = diff_of(capsys, "HEAD~1", "HEAD")
    assert (found["before"]["exists"], found["after"]["exists"]) == (True, True)
    assert not found["changed"]


def test_a_temporary_folder_without_room_is_told(
    repo: Repo, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(repo.root / "none"))
    assert run(["spec", "diff"]) == 1
    assert "cannot be copied" in capsys.readouterr().err


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
    found = diff_of(capsys, branch, "-s", odd)
    assert found["before"]["revision"] == branch
    assert [each["name"] for each in found["tiers"]] == ["gold"]


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
    assert not diff_of(capsys)["changed"]
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
    assert diff_of(capsys)["changed"]
    monkeypatch.delenv("GIT_DIR")
    monkeypatch.delenv("GIT_INDEX_FILE")
    repo.git("worktree", "add", "--quiet", str(tmp_path / "linked"))
    monkeypatch.chdir(tmp_path / "linked")
    assert not diff_of(capsys)["changed"]


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
