"""What a slip says about itself in its head, and what becomes of it when it is mended."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallyard.cli.pages.error_cases import Case, FixError, example, read

HEAD = "# en: local.yaml:{line}:4  b: It is wrong. [SPEC101]\n# zh: local.yaml:{line}:4  b: 错。 [SPEC101]\n"


def case(folder: Path, body: str, *fixes: str, line: int = 5, name: str = "local-x.yaml") -> Case:
    head = HEAD.format(line=line) + "".join(f"# fix: {fix}\n" for fix in fixes)
    (folder / name).write_bytes((head + body).encode())
    return read(folder / name)


def test_the_head_says_what_is_told_and_how_it_is_mended(tmp_path: Path) -> None:
    read_case = case(tmp_path, "a: 1\nb: [\n", "[ => [x]")
    assert read_case.codes == ("SPEC101",)
    assert read_case.told["zh"] == ("local.yaml:5:4  b: 错。 [SPEC101]",)
    assert read_case.fixes == (("[", "[x]"),)
    assert (read_case.head, read_case.name) == (3, "local.yaml")


def test_all_fixes_are_made_below_the_head(tmp_path: Path) -> None:
    mended = case(tmp_path, "a: 1\nb: SPEC\n", "a: 1 => a: 2", "SPEC => x").mended()
    assert mended.endswith("# fix: SPEC => x\na: 2\nb: x\n")


def test_a_line_of_which_nothing_is_left_is_dropped(tmp_path: Path) -> None:
    assert case(tmp_path, "a: 1\nb: 2\nc: 3\n", "b: 2 =>").mended().endswith("=>\na: 1\nc: 3\n")


def test_what_cannot_stand_in_a_comment_is_written_as_an_escape(tmp_path: Path) -> None:
    mended = case(tmp_path, "a:\n\tb: x\x01y\n", r"\tb =>   b", r"x\u0001y => x\n  c: y").mended()
    assert mended.endswith("a:\n  b: x\n  c: y\n")
    assert case(tmp_path, r'a: "x\qy"', r"x\qy => xy").mended().endswith('\na: "xy"')


@pytest.mark.parametrize("old", ["z", "a"])
def test_a_fix_names_exactly_one_place(tmp_path: Path, old: str) -> None:
    with pytest.raises(FixError, match=r"local-x\.yaml: '.' stands [02] times"):
        case(tmp_path, "a: 1\naa: 2\n".replace("aa", "a"), f"{old} => x").mended()


def test_the_wrong_lines_stand_around_the_place_and_without_the_head(tmp_path: Path) -> None:
    read_case = case(tmp_path, "a: 1\nb: 2\nc: 3\nd: 4\n", line=4)
    assert read_case.wrong("SPEC101") == ("3 | a: 1", "4 | b: 2", "  |    ^", "5 | c: 3")


def test_a_place_in_the_other_file_shows_what_this_one_has(tmp_path: Path) -> None:
    read_case = case(tmp_path, "a: 1\nb: 2\n", name="platform-x.yaml")
    assert read_case.wrong("SPEC101") == ("a: 1", "b: 2")


def test_the_right_lines_are_the_changed_ones_with_their_neighbours(tmp_path: Path) -> None:
    body = "".join(f"k{n}: {n}\n" for n in range(9))
    right = case(tmp_path, body, "k1: 1 => k1: x", "k7: 7 => k7: y").right()
    assert right == ("k0: 0", "k1: x", "k2: 2", "# …", "k6: 6", "k7: y", "k8: 8")
    assert case(tmp_path, body).right() == ()


def test_a_byte_order_mark_is_no_part_of_the_head(tmp_path: Path) -> None:
    (tmp_path / "local-bom.yaml").write_text("\ufeff" + HEAD.format(line=3) + "a: 1\n")
    assert read(tmp_path / "local-bom.yaml").codes == ("SPEC101",)


def test_the_best_example_is_mended_and_about_its_code_alone(tmp_path: Path) -> None:
    broken = case(tmp_path, "a: 1\n", name="local-a.yaml")
    mended = case(tmp_path, "a: 1\n", "1 => 2", name="local-b.yaml")
    assert example("SPEC101", (broken, mended)) is mended
    assert example("SPEC101", (broken,)) is broken
    assert example("SPEC102", (broken, mended)) is None
