"""The line below a message, and its caret."""

from __future__ import annotations

from tallyard.spec.excerpt import WIDTH_MAX, excerpt


def test_the_caret_stands_below_the_column() -> None:
    assert excerpt("a: 1\n  b: x\n", 2, 6) == ("      b: x", "         ^")


def test_wide_letters_move_the_caret_by_two() -> None:
    line, caret = excerpt("视觉: {x: 1}", 1, 6)
    assert line == "    视觉: {x: 1}"
    assert caret == "    " + " " * 7 + "^"


def test_a_long_line_is_cut_around_the_place() -> None:
    line, caret = excerpt("x" * 200 + "HERE" + "y" * 200, 1, 201)
    assert line[caret.index("^") :].startswith("HERE")
    assert line.startswith("    …")
    assert line.endswith("…")
    assert len(line) <= WIDTH_MAX + 6


def test_a_place_without_a_line_shows_nothing() -> None:
    assert excerpt("a: 1\n", 9, 1) == ()
    assert excerpt("a: 1\n\n", 2, 1) == ()
    assert excerpt("", 1, 1) == ()
