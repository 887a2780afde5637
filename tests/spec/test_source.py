"""Faults of files and bytes, and what is no fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallyard.spec import source
from tallyard.spec.tree import Scalar, Table, child
from tests.spec.specs import LOCAL, PLATFORM, changed, load_texts


def test_a_file_in_utf_16_is_named_as_such(tmp_path: Path) -> None:
    loaded = load_texts(tmp_path, platform=PLATFORM.encode("utf-16"))
    assert [(p.code, p.values["encoding"]) for p in loaded.problems] == [("SPEC005", " (UTF-16)")]


def test_a_file_in_another_encoding_is_told_at_its_first_odd_byte(tmp_path: Path) -> None:
    text = changed(PLATFORM, "small", "gr\N{LATIN SMALL LETTER U WITH DIAERESIS}n")
    loaded = load_texts(tmp_path, platform=text.encode("latin-1"))
    (problem,) = loaded.problems
    assert (problem.code, problem.location.line, problem.location.column) == ("SPEC005", 3, 20)


def test_a_byte_order_mark_and_windows_line_ends_are_no_fault(tmp_path: Path) -> None:
    windows = "\ufeff" + LOCAL.replace("\n", "\r\n")
    assert load_texts(tmp_path, local=windows).problems == ()


def test_a_file_above_the_bound_is_not_read(tmp_path: Path) -> None:
    big = tmp_path / "big.yaml"
    with big.open("wb") as stream:
        stream.truncate(source.FILE_BYTES_MAX + 1)
    read = source.read(big, big)
    assert [problem.code for problem in read.problems] == ["SPEC004"]


def test_what_comes_after_very_many_keys_is_not_looked_at() -> None:
    lines = "".join(f"k{number}: 1\n" for number in range(source.NODES_MAX // 2 + 1))
    read = source.parse(lines, Path("many.yaml"))
    (problem,) = read.problems
    assert (read.tree, problem.code) == (None, "SPEC036")
    assert problem.location.line == source.NODES_MAX // 2


def test_very_many_faults_of_a_text_are_told_in_part_and_so_is_that() -> None:
    """Each line has a word that readers of YAML take for a boolean."""
    lines = "".join(f"k{number}: NO\n" for number in range(source.FAULTS_MAX + 10))
    codes = [problem.code for problem in source.parse(lines, Path("many.yaml")).problems]
    assert codes == ["SPEC030"] * source.FAULTS_MAX + ["SPEC037"]


@pytest.mark.parametrize("target", ["link.yaml", "nowhere.yaml"])
def test_a_link_that_leads_to_no_file_is_no_missing_file(target: str, tmp_path: Path) -> None:
    link = tmp_path / "link.yaml"
    link.symlink_to(target)
    (problem,) = source.read(link, Path("link.yaml")).problems
    assert problem.code == "SPEC002"


def test_a_file_that_cannot_be_read_says_why() -> None:
    # A regular file whose reading fails for everybody, also for root.
    memory = Path("/proc/self/mem")
    (problem,) = source.read(memory, memory).problems
    assert (problem.code, problem.values["reason"]) == ("SPEC003", "EIO")


def test_a_fault_in_the_base_name_is_told_where_the_name_stands(tmp_path: Path) -> None:
    loaded = load_texts(tmp_path, local=changed(LOCAL, "platform.yaml", "no/such.yaml"))
    (problem,) = loaded.problems
    assert (problem.code, problem.path, problem.location.line) == ("SPEC001", "base", 1)


@pytest.mark.parametrize("text", ["a: [" * 100_000, "[" * 1_000_000, "a:\n" + " - " * 50_000])
def test_depth_is_bounded(text: str) -> None:
    read = source.parse(text, Path("deep.yaml"))
    assert read.tree is None
    assert read.problems[-1].code in {"SPEC024", "SPEC012", "SPEC017", "SPEC018"}


def test_quoted_numbers_stay_texts_and_columns_count_letters() -> None:
    read = source.parse('视觉: {a: "010", b: 10}\n', Path("x.yaml"))
    assert isinstance(read.tree, Table)
    inner = child(read.tree, "视觉")
    assert inner is not None
    first, second = child(inner, "a"), child(inner, "b")
    assert isinstance(first, Scalar)
    assert isinstance(second, Scalar)
    assert (first.value, second.value) == ("010", 10)
    assert (first.location.column, second.location.column) == (9, 19)
    assert first.path == "视觉.a"
