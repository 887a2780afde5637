"""What other programs' failures look like in ours."""

from __future__ import annotations

from tallyard.failures import causes, one_line


def test_text_from_outside_becomes_one_line_that_steers_no_terminal() -> None:
    assert one_line("a\x1b[2J\n\t\u202eb") == "a [2J b"
    assert one_line(ValueError("two\nlines")) == "two lines"


def test_a_line_is_cut_only_where_a_length_is_given() -> None:
    assert len(one_line("x" * 1000)) == 1000
    assert len(one_line("x" * 1000, 200)) == 200


def test_the_causes_of_an_error_end_with_the_innermost() -> None:
    first, second, third = OSError("disk"), ValueError("state"), RuntimeError("start")
    second.__cause__ = first
    third.__context__ = second
    assert list(causes(third)) == [third, second, first]
    assert list(causes(None)) == []
