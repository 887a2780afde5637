from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tallyard.registry import pinfile
from tallyard.spec.versions import read_text


def test_a_text_comes_back_as_it_was_written_with_its_line_ends(tmp_path: Path) -> None:
    file = tmp_path / "versions.yaml"
    file.touch()
    pinfile.replace(file, "a: ü\r\nb: 1")
    assert read_text(file) == "a: ü\r\nb: 1"
    assert file.read_bytes() == b"a: \xc3\xbc\r\nb: 1"


def test_rights_of_the_file_and_a_link_to_it_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "real" / "versions.yaml"
    file.parent.mkdir()
    file.write_text("old")
    file.chmod(0o640)
    link = tmp_path / "link.yaml"
    link.symlink_to(file)
    pinfile.replace(link, "new")
    assert link.is_symlink()
    assert file.read_text() == "new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert list(file.parent.iterdir()) == [file]


def test_a_text_that_cannot_be_written_leaves_the_file_and_no_rest(tmp_path: Path) -> None:
    file = tmp_path / "versions.yaml"
    file.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        pinfile.replace(file, "\ud800")
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]
