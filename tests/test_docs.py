"""What the documents show is so."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tallyard.cli.commands import COMMANDS

REPOSITORY = Path(__file__).resolve().parents[1]
README = (REPOSITORY / "README.md").read_text()
PAGES = sorted(page for page in [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")])


def test_the_mistake_in_the_readme_is_told_as_it_stands_there(tmp_path: Path) -> None:
    """The shipped overlay of prod with one letter missing."""
    (tmp_path / "stacks").mkdir()
    for name in ("platform.yaml", "prod.yaml"):
        text = (REPOSITORY / "stacks" / name).read_text()
        (tmp_path / "stacks" / name).write_text(
            text.replace("pool: training, model: A100", "pool: traning, model: A100")
        )
    told = subprocess.run(
        [sys.executable, "-m", "tallyard.cli.main", "spec", "validate", "stacks/prod.yaml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 2
    assert told.stderr.strip("\n") in README


def test_every_make_target_that_a_page_names_is_there() -> None:
    makefile = (REPOSITORY / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    named = {name for page in PAGES for name in re.findall(r"`make ([a-z-]+)", page.read_text())}
    assert {"up", "test", "down"} <= named
    assert named <= targets


def test_every_tally_command_that_a_page_names_is_there() -> None:
    """`tally spec validate|render` names two; what begins with a dash is no command."""
    known = {" ".join(command.path) for command in COMMANDS}
    groups = {command.path[0] for command in COMMANDS if len(command.path) > 1}
    named = [
        (page.name, [word for word in shlex.split(line) if not word.startswith("-")])
        for page in PAGES
        for line in re.findall(r"`tally ([^`…]+)", page.read_text())
    ]
    assert len(named) > 20
    for page_name, words in named:
        if words and words[0] in groups and len(words) > 1:
            for leaf in words[1].split("|"):
                assert f"{words[0]} {leaf}" in known, (page_name, words)
        elif words:
            assert words[0] in known | groups, (page_name, words)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_every_decision_has_a_number_of_its_own() -> None:
    numbers = [page.name[:4] for page in sorted((REPOSITORY / "docs" / "adr").glob("*.md"))]
    assert numbers == [f"{n:04}" for n in range(1, len(numbers) + 1)]
