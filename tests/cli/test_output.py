"""Tables that line up."""

from __future__ import annotations

import sys

import pytest
from rich.cells import cell_len

from tallyard.cli.output import print_by_project, print_table

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


WIDE = (
    ("JOB", "QUEUE", "CARDS", "TIME", "REASON"),
    (
        ("train-waits", "training", "2 x A800-SXM4-80GB", "12s", "waits for 2 more of them " * 4),
        ("train-fill", "training", "24 x A800-SXM4-80GB", "1m02s", ""),
    ),
)


@pytest.mark.parametrize("width", [30, 40, 60, 80, 120])
def test_on_a_terminal_no_line_is_too_long_and_no_word_is_broken(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    print_table(*WIDE, right=(3,))
    shown = _lines(capsys)
    assert max(map(len, shown)) <= width
    for cell in (cell for row in WIDE[1] for cell in row):
        for word in cell.split():
            assert any(word in line.split() for line in shown)


def test_a_reason_stands_below_its_row_and_one_that_is_empty_takes_no_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    print_table(*WIDE, right=(3,))
    _, first, *reason, last = _lines(capsys)
    assert first.split() == ["train-waits", "training", "2", "x", "A800-SXM4-80GB", "12s"]
    assert len(reason) == 2
    assert all(line.startswith("    ") for line in reason)
    assert last.startswith("train-fill")


def test_a_short_sentence_stays_beside_its_row_where_a_long_one_goes_below(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    print_table(("STEP", "NOTE"), (("submitted", "training"), ("waited", "because of it " * 9)))
    heading, first, second, *below = _lines(capsys)
    assert "NOTE" in heading
    assert first == "submitted  training"
    assert second == "waited"
    assert below[0].startswith("    because of it because")


def test_columns_without_room_stand_below_with_their_headings(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "44")
    print_table(*WIDE, right=(3,))
    assert "    TIME 12s" in _lines(capsys)


def test_chinese_is_broken_between_letters_and_names_in_it_are_not(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    print_table(
        ("作业", "原因"), (("a" * 20, "等待队列训练再有两张卡片A800-SXM4-80GB已用十六张" * 2),)
    )
    shown = _lines(capsys)
    assert max(map(cell_len, shown[1:])) <= 40
    assert sum(line.count("A800-SXM4-80GB") for line in shown) == 2


def test_a_person_needs_no_column_of_projects_where_there_is_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = (("a", "nlp", "7"), ("b", "", "8"))
    print_by_project(("JOB", "PROJECT", "N"), one, project=1, right=(2,))
    assert "PROJECT" in capsys.readouterr().out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_by_project(("JOB", "PROJECT", "N"), one, project=1, right=(2,))
    assert [line.split() for line in _lines(capsys)[1:]] == [["a", "7"], ["b", "8"]]
    print_by_project(("JOB", "PROJECT", "N"), (*one, ("c", "vision", "9")), project=1)
    assert "vision" in capsys.readouterr().out


def test_what_would_steer_the_terminal_is_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("R",), (("a\x1b[2Jb\nc",),))
    assert _lines(capsys)[1] == "a [2Jb c"
