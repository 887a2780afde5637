"""The line below a message, and its caret."""

from __future__ import annotations

from tallyard.spec.excerpt import WIDTH_MAX, cut, excerpt, numbered


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


def test_a_line_of_wide_letters_is_cut_to_the_same_width() -> None:
    """Chinese letters take two cells each."""
    line, caret = excerpt("系统" * 100 + "HERE" + "数量" * 100, 1, 201)
    assert "HERE" in line
    before = line[: line.index("HERE")]
    assert len(caret) - 1 == len(before) + sum(letter in "系统" for letter in before)
    assert 2 * len(line) - 4 - len("HERE") - 2 <= WIDTH_MAX + 6


def test_a_place_near_an_end_shows_as_much_as_one_in_the_middle() -> None:
    text = "".join(chr(ord("a") + n % 26) for n in range(200))
    widths = {len(cut(text, column, 50)[0].strip("…")) for column in (1, 20, 100, 190, 201)}
    assert widths == {50}
    assert cut(text, 190, None) == (text, 189)


def test_neighbours_stand_around_a_line_with_their_numbers() -> None:
    text = "# head\na: 1\nb: 2\nc: 3\nd: 4\n"
    assert numbered(text, 3, 4) == ("2 | a: 1", "3 | b: 2", "  |    ^", "4 | c: 3")
    assert numbered(text, 2, 1, first=2) == ("2 | a: 1", "  | ^", "3 | b: 2")


def test_a_place_without_a_line_shows_nothing() -> None:
    assert excerpt("a: 1\n", 9, 1) == ()
    assert excerpt("a: 1\n\n", 2, 1) == ()
    assert excerpt("", 1, 1) == ()
