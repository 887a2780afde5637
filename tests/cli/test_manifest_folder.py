"""The folder that `tally spec render` writes: only ours, whole, and only what is asked for."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from pathlib import Path

import pytest
import yaml

from tallyard.cli.main import run
from tests.cli.specs import STACK


def test_a_folder_that_cannot_be_written_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("a file where a folder should be")
    assert run(["spec", "render", STACK, "--output-dir", str(tmp_path / "file")]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert f"where: {tmp_path / 'file'}" in err


def test_files_of_objects_that_are_no_longer_asked_for_are_removed(
    spec: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "manifests"
    assert run(["spec", "render", str(spec), "--output-dir", str(folder)]) == 0
    assert f"55 objects written to {folder} (0 removed)" in capsys.readouterr().out
    (folder / "notes.txt").write_text("mine")
    assert run(["spec", "render", str(spec), "--scheduler", "--output-dir", str(folder)]) == 0
    platform = spec.parent / "platform.yaml"
    content = yaml.safe_load(platform.read_text())
    del content["projects"]["vision"]
    platform.write_text(yaml.safe_dump(content))
    capsys.readouterr()
    assert run(["spec", "render", str(spec), "--output-dir", str(folder)]) == 0
    told = re.search(r"(\d+) objects written to .* \((\d+) removed\)", capsys.readouterr().out)
    assert told is not None
    assert int(told[1]) + int(told[2]) == 55
    assert int(told[2]) > 0
    # What is not of this run stays: a person's file, and the scheduler's.
    left = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert {"notes.txt", "kube-scheduler.yaml"} <= left
    assert not any("vision" in name for name in left)
    assert not (folder / "vision").exists()
    assert len(left) == int(told[1]) + 3


def test_a_folder_that_holds_something_else_is_refused_and_left_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    assert run(["spec", "render", STACK, "--output-dir", str(tmp_path)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.split(":")[0].strip() for line in err.splitlines()] == [
        *("error", "where", "why", "do"),
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_list_of_files_that_leads_out_of_the_folder_removes_nothing_there(
    tmp_path: Path,
) -> None:
    folder, outside = tmp_path / "manifests", tmp_path / "thesis.txt"
    folder.mkdir()
    outside.write_text("mine")
    (folder / ".tallyard-manifests").write_text(f"../thesis.txt\n{outside}\n")
    assert run(["spec", "render", STACK, "--output-dir", str(folder)]) == 0
    assert outside.read_text() == "mine"


def test_a_list_that_is_no_text_names_no_file_of_ours(tmp_path: Path) -> None:
    (tmp_path / ".tallyard-manifests").write_bytes(b"\xff\xfe\nnlp\x00/x.yaml\n")
    assert run(["spec", "render", STACK, "--output-dir", str(tmp_path)]) == 0


def test_what_is_written_does_not_follow_links_out_of_the_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, outside = tmp_path / "manifests", tmp_path / "outside"
    outside.mkdir()
    (outside / "thesis.txt").write_text("mine")
    assert run(["spec", "render", STACK, "--output-dir", str(folder)]) == 0
    one = folder / "nlp" / "localqueue-training.yaml"
    content = one.read_text()
    one.unlink()
    one.symlink_to(outside / "thesis.txt")
    assert run(["spec", "render", STACK, "--output-dir", str(folder)]) == 0
    assert (one.is_symlink(), one.read_text()) == (False, content)
    shutil.rmtree(folder / "nlp")
    (folder / "nlp").symlink_to(outside)
    capsys.readouterr()
    assert run(["spec", "render", STACK, "--output-dir", str(folder)]) == 1
    assert "this folder is a link" in capsys.readouterr().err
    assert [path.name for path in outside.iterdir()] == ["thesis.txt"]
    assert (outside / "thesis.txt").read_text() == "mine"


def test_two_renders_into_one_folder_do_not_mix(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    handle = os.open(tmp_path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        assert run(["spec", "render", STACK, "--output-dir", str(tmp_path)]) == 1
        assert "another render writes into this folder now" in capsys.readouterr().err
    finally:
        os.close(handle)
    assert run(["spec", "render", STACK, "--output-dir", str(tmp_path)]) == 0


def test_a_list_that_could_not_be_written_whole_is_the_old_one(tmp_path: Path) -> None:
    """As on a full disk: nothing is left half written."""
    assert run(["spec", "render", STACK, "--output-dir", str(tmp_path)]) == 0
    marker = tmp_path / ".tallyard-manifests"
    before = marker.read_text()
    (tmp_path / ".tallyard-manifests.new").mkdir()
    assert run(["spec", "render", STACK, "--output-dir", str(tmp_path)]) == 1
    assert marker.read_text() == before
