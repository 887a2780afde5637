"""The table of commands: each has a module, a help that ends with an example, and it parses."""

from __future__ import annotations

import importlib
import shlex
from pathlib import Path

import pytest

from tallyard.cli.application import build
from tallyard.cli.commands import COMMANDS, Command
from tallyard.cli.exit_codes import MEANINGS, ExitCode, of_fault
from tallyard.cli.reference import PAGE, help_of, page
from tallyard.cluster.faults import Fault


def _id(command: Command) -> str:
    return " ".join(command.path)


@pytest.mark.parametrize("command", COMMANDS, ids=_id)
def test_the_help_of_a_command_ends_with_an_example(command: Command) -> None:
    text = help_of(command)
    assert command.summary in " ".join(text.split())
    assert text.splitlines()[-1] == f"Example: {command.example}"


@pytest.mark.parametrize("command", COMMANDS, ids=_id)
def test_the_example_of_a_command_really_parses(command: Command) -> None:
    words = shlex.split(command.example, comments=True)
    if ">" in words:
        words = words[: words.index(">")]
    assert words[0] == "tally"
    assert words[1 : 1 + len(command.path)] == list(command.path)
    found, _, _ = build().parse_args(words[1:], exit_on_error=False, print_error=False)
    module, _, name = command.target.partition(":")
    assert found is getattr(importlib.import_module(module), name)


def test_the_reference_is_current() -> None:
    """`python -m tallyard.cli.reference --write` makes it so."""
    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_exit_code_has_a_meaning_and_every_fault_a_code() -> None:
    assert set(MEANINGS) == set(ExitCode)
    assert {of_fault(fault) for fault in Fault} <= set(ExitCode)
    assert ExitCode.OK not in {of_fault(fault) for fault in Fault}


def test_the_examples_of_work_are_documented_by_a_comment() -> None:
    files = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))
    assert len(files) >= 6
    assert [file.name for file in files if not file.read_text().startswith("# ")] == []
