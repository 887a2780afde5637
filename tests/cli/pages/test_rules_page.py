"""The page of the rules has every rule with its reasons, and people are led to it."""

from __future__ import annotations

from tallyard.catalog.rules import RULES, Gate, Severity
from tallyard.cli.commands import COMMANDS
from tallyard.cli.pages import rules_page
from tallyard.cli.pages.command_reference import help_of
from tallyard.cli.pages.made import CHECKOUT

PAGE = rules_page.page()


def test_every_rule_stands_under_each_of_its_gates() -> None:
    assert len(RULES) > 30
    review, _, admission = PAGE.partition("## Asked of work")
    for rule in RULES.values():
        row = f"| `{rule.name}` |"
        assert (row in review) == (Gate.REVIEW in rule.gates)
        assert (row in admission) == (Gate.ADMISSION in rule.gates)


def test_a_row_has_severity_reason_in_both_languages_and_incident() -> None:
    for rule in RULES.values():
        (row, *_) = (each for each in PAGE.splitlines() if each.startswith(f"| `{rule.name}` |"))
        assert all(text in row for text in rule.because)
        assert ("refuses" in row.split("|")[2]) == (rule.severity is Severity.MANDATORY)
        assert f"]({rule.incident})" in row or not rule.incident
        assert row.count("|") == 6


def test_people_are_led_to_it() -> None:
    assert "](rules.md)" in (CHECKOUT / "docs/review/README.md").read_text(encoding="utf-8")
    (command,) = (each for each in COMMANDS if each.path == ("review",))
    assert rules_page.PAGE.as_posix() in help_of(command)
