"""Examples are cut out of the shipped files where they stand."""

from __future__ import annotations

from pathlib import Path

from tallyard.cli.pages.shipped_lines import LINES_MAX, Shipped

TEXT = """\
price:
  wait: {charged: 100%}
pools:
  # Not an entry's own.
  training:
    models: [A, B]
    priority: high
  twin: {models: [C], priority: high}
  shared:
    models: [D]
    sharing: {time-slicing: 4}

# The end.
nodes:
  - {hosts: a, cpu: 1}
  - {hosts: b, cpu: 1, model: D}
"""


def shipped(folder: Path, *texts: str) -> Shipped:
    files = []
    for number, text in enumerate(texts):
        files.append(folder / f"{number}.yaml")
        files[-1].write_text(text)
    return Shipped(tuple(files))


def test_an_entry_that_shows_no_new_key_is_left_out(tmp_path: Path) -> None:
    assert shipped(tmp_path, TEXT).cut(("pools", "NAME")) == (
        "pools:",
        "  training:",
        "    models: [A, B]",
        "    priority: high",
        "  shared:",
        "    models: [D]",
        "    sharing: {time-slicing: 4}",
    )


def test_items_of_a_list_stand_below_their_key(tmp_path: Path) -> None:
    assert shipped(tmp_path, TEXT).cut(("nodes", 0)) == (
        "nodes:",
        "  - {hosts: a, cpu: 1}",
        "  - {hosts: b, cpu: 1, model: D}",
    )


def test_what_was_shown_is_not_shown_again(tmp_path: Path) -> None:
    lines = shipped(tmp_path, TEXT)
    assert lines.cut(("price",)) == ("price:", "  wait: {charged: 100%}")
    assert lines.cut(("price", "wait")) == ()


def test_the_next_file_is_asked_where_the_first_has_no_example(tmp_path: Path) -> None:
    lines = shipped(tmp_path, "pools: {}\n", TEXT)
    assert lines.cut(("nodes", 0))[0] == "nodes:"
    assert lines.cut(("tiers", "NAME")) == ()


def test_an_example_is_short(tmp_path: Path) -> None:
    pools = "".join(f"  p{n}:\n    key-{n}: 1\n" for n in range(LINES_MAX))
    cut = shipped(tmp_path, f"pools:\n{pools}").cut(("pools", "NAME"))
    assert LINES_MAX - 2 < len(cut) <= LINES_MAX
