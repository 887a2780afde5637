"""What the operating system refuses is told as any other failure."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from lab.errors import of_system


@pytest.mark.parametrize(
    ("number", "why", "advice"),
    [
        (errno.ENOSPC, "the disk is full", "Free some space"),
        (errno.EDQUOT, "quota", "quota"),
        (errno.EROFS, "read-only", "Move the checkout"),
        (errno.EACCES, "may not", "Give the file back"),
        (errno.ENOTDIR, "Not a directory", "tally lab down"),
    ],
)
def test_each_cause_has_its_own_advice_and_the_file(number: int, why: str, advice: str) -> None:
    told = of_system(OSError(number, os.strerror(number), "/lab/x"))
    assert why in told.why
    assert advice in told.advice
    assert told.what == "/lab/x cannot be used"
    assert told.log == Path("/lab/x")


def test_of_two_files_the_one_that_was_to_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(IsADirectoryError) as caught:
        (tmp_path / "file").replace(tmp_path / "folder")
    assert of_system(caught.value).log == tmp_path / "folder"


def test_without_a_file_and_a_number_it_is_still_told() -> None:
    told = of_system(OSError("odd"))
    assert told.why == "odd"
    assert told.log is None
