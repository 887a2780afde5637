"""Tables that line up."""

from __future__ import annotations

import sys

import pytest
from rich.cells import cell_len

from tallyard.cli.output import print_table

ROWS = (("训练队列", "7", "等待 2 张卡"), ("q", "12345", "x"))


def _lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_chinese_takes_two_columns_a_letter_and_the_next_column_still_lines_up(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_table(("队列", "N", "原因"), ROWS, right=(1,))
    heading, first, second = _lines(capsys)
    starts = {
        cell_len(heading[: heading.index("原因")]),
        cell_len(first[: first.index("等待")]),
        cell_len(second[: second.index("x")]),
    }
    assert len(starts) == 1


def test_numbers_stand_at_the_right(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("Q", "N", "R"), (("a", "7", "r"), ("b", "12345", "r")), right=(1,))
    _, first, second = _lines(capsys)
    assert first.index("7") == second.index("5")


def test_a_piped_line_is_never_broken_and_ends_without_blanks(
    capsys: pytest.CaptureFixture[str],
) -> None:
    long = "because " * 100
    print_table(("Q", "R"), (("a", long), ("b", "")))
    heading, first, second = _lines(capsys)
    assert first.endswith(long.strip())
    assert (heading, second) == ("Q  R", "b")


def test_what_looks_like_markup_is_printed_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("R",), (("[bold]not[/bold] :smile: [x]",),))
    assert _lines(capsys)[1] == "[bold]not[/bold] :smile: [x]"


def test_a_narrow_terminal_breaks_the_lines_itself_rather_than_crop_a_column(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At 40 columns the two columns in front leave no room for a reason."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    for width, lines in (("40", 2), ("70", 4)):
        monkeypatch.setenv("COLUMNS", width)
        print_table(("A", "B", "R"), (("a" * 20, "b" * 15, "because of the quota " * 4),))
        shown = capsys.readouterr().out
        assert "a" * 20 in shown
        assert "b" * 15 in shown
        assert len(shown.splitlines()) == lines
