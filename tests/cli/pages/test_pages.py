"""One command makes every file that is made from the code, or says which is not what it makes."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tallyard.cli.pages.__main__ import main
from tallyard.cli.pages.error_cases import FOLDER
from tallyard.cli.pages.error_pages import NOT_IN_TEXTS
from tallyard.cli.pages.made import CHECKOUT, NOTE

MADE = (
    *("docs/cli.md", "docs/spec.md", "docs/spec.zh.md", "docs/errors/SPEC101.md"),
    *("schemas/platform.schema.json", "schemas/overlay.schema.json"),
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with the slips, and with all that is made."""
    shutil.copytree(CHECKOUT / FOLDER, tmp_path / FOLDER)
    (tmp_path / "tests" / "test_rest.py").write_text(" ".join(sorted(NOT_IN_TEXTS)))
    assert main(["--write"], tmp_path) == 0
    return tmp_path


def test_what_is_committed_is_what_is_made() -> None:
    assert main(["--check"]) == 0


@pytest.mark.parametrize("name", MADE)
def test_a_file_that_is_not_current_is_refused_and_made_anew(
    name: str, checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--check"], checkout) == 0
    right = (checkout / name).read_text(encoding="utf-8")
    assert right == (CHECKOUT / name).read_text(encoding="utf-8")
    (checkout / name).write_text("stale", encoding="utf-8")
    capsys.readouterr()
    assert main(["--check"], checkout) == 1
    told = capsys.readouterr().err.splitlines()
    assert told == [
        f"{name} is stale",
        "They are written by: python -m tallyard.cli.pages --write",
    ]
    (checkout / name).unlink()
    assert main(["--check"], checkout) == 1
    assert f"{name} is missing" in capsys.readouterr().err
    assert main(["--write"], checkout) == 0
    assert (checkout / name).read_text(encoding="utf-8") == right


def test_every_page_with_the_note_is_made_by_the_command(checkout: Path) -> None:
    """Or a page would say so of itself, and nothing would keep it current."""
    for page in (CHECKOUT / "docs").rglob("*.md"):
        if NOTE in page.read_text(encoding="utf-8"):
            assert (checkout / page.relative_to(CHECKOUT)).exists()


@pytest.mark.parametrize("arguments", [[], ["--write", "--check"], ["--help"]])
def test_what_it_cannot_do_is_answered_with_what_it_can(arguments: list[str]) -> None:
    told = subprocess.run(
        [sys.executable, "-m", "tallyard.cli.pages", *arguments],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 2
    assert "--write | --check" in told.stderr


def test_make_check_checks_what_is_made() -> None:
    makefile = (CHECKOUT / "Makefile").read_text()
    recipe = re.search(r"^check: .*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    assert recipe is not None
    assert "tallyard.cli.pages --check" in recipe[1]
