"""Where a lab keeps its things."""

from __future__ import annotations

import errno
import stat
from pathlib import Path

import pytest

from lab.errors import LabError
from lab.folder import CHECKOUT, lab_folder, names, require_plain_path, write_private


def test_a_lab_lies_in_the_checkout_unless_told_otherwise(tmp_path: Path) -> None:
    assert lab_folder("demo").root == CHECKOUT / ".lab" / "demo"
    assert lab_folder("demo", tmp_path).root == tmp_path / "demo"


def test_the_labs_that_are_there_are_known_by_their_records(tmp_path: Path) -> None:
    assert names(tmp_path / "none") == ()
    for name in ("newuser", "default"):
        write_private(lab_folder(name, tmp_path).state, b"{}")
    (tmp_path / "half").mkdir()
    assert names(tmp_path) == ("default", "newuser")


@pytest.mark.parametrize("name", ["", "Demo", "a/b", "..", "-a", "a-", "a" * 41, "a b"])
def test_a_name_that_is_no_dns_label_is_refused_with_an_example(name: str) -> None:
    with pytest.raises(LabError, match="demo-2"):
        lab_folder(name)


def test_a_private_file_is_whole_and_only_for_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "new" / "key"
    write_private(path, b"one")
    write_private(path, b"two")
    assert path.read_bytes() == b"two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [p.name for p in path.parent.iterdir()] == ["key"]


@pytest.mark.parametrize("odd", ["my checkout", "a:b", "a'b", "a\nb", "a;b", "a$b"])
def test_a_place_that_programs_would_cut_is_refused_before_anything_starts(
    tmp_path: Path, odd: str
) -> None:
    with pytest.raises(LabError, match="cannot run in") as caught:
        require_plain_path(lab_folder("demo", tmp_path / odd))
    assert "Move the checkout" in caught.value.advice


def test_a_usual_place_is_fine_in_any_letters() -> None:
    for path in ("/home/li.wei/tallyard+2@x", "/home/\u674e/tally-yard_1"):
        require_plain_path(lab_folder("demo", Path(path)))


def test_a_file_that_cannot_be_written_is_named_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk the error of the system itself names no file."""

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left") as caught:
        write_private(tmp_path / "x" / "lab.json", b"{}")
    assert caught.value.filename == str(tmp_path / "x" / "lab.json")
    assert list((tmp_path / "x").iterdir()) == []
