"""The table of commands: each has a module, a help that ends with an example, and it parses."""

from __future__ import annotations

import importlib
import re
import shlex
from pathlib import Path

import pytest

from tallyard.cli.application import build, options_of
from tallyard.cli.commands import COMMANDS, Command
from tallyard.cli.exit_codes import MEANINGS, ExitCode, of_fault
from tallyard.cli.pages.command_reference import help_of
from tallyard.cluster.faults import ClusterError, Fault


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


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("command", COMMANDS, ids=_id)
def test_what_to_do_about_a_fault_names_no_option_that_the_command_lacks(
    command: Command, lang: str
) -> None:
    # What comes from the scope comes only where there is one.
    scoped = {Fault.BAD_PROJECT, Fault.NO_PROJECT, Fault.NOT_YOURS, Fault.TOO_MANY_PROJECTS}
    options = options_of(command.path)
    for fault in set(Fault) - (set() if "-p" in options else scoped):
        todo = ClusterError(fault, "here", name="x").parts(lang, options).todo
        named = re.findall(r"(?<![\w-])--?[a-z][a-z-]*(?![^`]*`(?:[^`]*`[^`]*`)*[^`]*$)", todo)
        assert set(named) <= options | {"--current", "--namespace"}, (fault, todo)
        assert todo
        assert "[" not in todo


def test_every_exit_code_has_a_meaning_and_every_fault_a_code() -> None:
    assert set(MEANINGS) == set(ExitCode)
    assert {of_fault(fault) for fault in Fault} <= set(ExitCode)
    assert ExitCode.OK not in {of_fault(fault) for fault in Fault}


def test_the_examples_of_work_are_documented_by_a_comment() -> None:
    files = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))
    assert len(files) >= 6
    assert [file.name for file in files if not file.read_text().startswith("# ")] == []
