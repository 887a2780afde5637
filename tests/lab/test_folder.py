"""Where a lab keeps its things."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from lab.errors import LabError
from lab.folder import CHECKOUT, lab_folder, write_private


def test_a_lab_lies_in_the_checkout_unless_told_otherwise(tmp_path: Path) -> None:
    assert lab_folder("demo").root == CHECKOUT / ".lab" / "demo"
    assert lab_folder("demo", tmp_path).root == tmp_path / "demo"


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
