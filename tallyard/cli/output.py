"""Results on stdout: a table for people, JSON or YAML for programs.

The JSON and YAML are the same document: `apiVersion: tally/v1`, a `kind`, and fields that
stay as `docs/cli.md` says. Only sentences (`reason`) follow the language.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import Annotated, Any

from cyclopts import Parameter

from tallyard.cli import session

API_VERSION = "tally/v1"


class Format(StrEnum):
    """How results are printed."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"


Output = Annotated[
    Format, Parameter(name=["--output", "-o"], help="How to print: table, json or yaml.")
]


def document(kind: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a document of ours: who wrote it in which version, what it is, and its content."""
    return {"apiVersion": API_VERSION, "kind": kind, **body}


def emit(form: Format, content: Mapping[str, Any], table: Callable[[], None]) -> None:
    """Print a document as asked; `table` prints it for people."""
    if form is Format.TABLE:
        table()
    elif form is Format.JSON:
        sys.stdout.write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(to_yaml(content))


def to_yaml(content: Any) -> str:
    """Return YAML in the order of the content, with Chinese as it is written.

    A text that some reader would take for a number or a truth stands in quotes.
    """
    # The C library takes a quarter of the time, which tells with a large spec's objects; but
    # it escapes rare signs, which people's names have.
    quick, plain = _dumpers()
    text = _dumped(content, quick)
    return _dumped(content, plain) if "\\U000" in text else text


def _dumped(content: Any, dumper: Any) -> str:
    import yaml  # noqa: PLC0415

    return str(yaml.dump(content, Dumper=dumper, sort_keys=False, allow_unicode=True, width=1000))


@cache
def _dumpers() -> tuple[Any, Any]:
    import yaml  # noqa: PLC0415

    def careful(base: Any) -> Any:
        dumper: Any = type("Dumper", (base,), {})
        # PyYAML knows YAML 1.1, and of that neither these two words nor 1e3; kubectl does.
        dumper.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("[yYnN]$"), list("yYnN"))
        dumper.add_implicit_resolver(
            "tag:yaml.org,2002:float",
            re.compile(r"[-+]?(\.?[0-9][0-9_.]*[eE][-+]?[0-9]+|0o[0-7]+)$"),
            list("-+.0123456789"),
        )
        return dumper

    plain = careful(yaml.SafeDumper)
    return (careful(yaml.CSafeDumper) if yaml.__with_libyaml__ else plain), plain


def print_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    right: Iterable[int] = (),
    *,
    has_header: bool = True,
) -> None:
    """Print columns that line up, Chinese included; `right` are the columns of numbers.

    Without `has_header` they line up as if the headings stood above them.

    Where a terminal is too narrow for all of them, the last ones stand indented below each
    row, broken between words. Elsewhere no line is ever broken.
    """
    from rich.text import Text  # noqa: PLC0415

    from tallyard.cli import layout  # noqa: PLC0415

    lines = [tuple(_printable(cell) for cell in row) for row in rows]
    console = session.out()
    width = console.width if on_terminal() else None
    heading, *body = layout.lines(tuple(headings), lines, frozenset(right), width)
    # Plain writes are much quicker than the console, which only the bold heading needs.
    if has_header:
        console.print(Text(heading, style="bold"), soft_wrap=True)
    sys.stdout.write("".join(f"{line}\n" for line in body))


def on_terminal() -> bool:
    """Return whether a person reads the results as they come."""
    return sys.stdout.isatty()


def print_by_project(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    project: int,
    right: Iterable[int] = (),
) -> None:
    """Print a table with a column of projects; a person needs none where all are the same."""
    lines, numbers = list(rows), list(right)
    # Further lines of one row leave it empty.
    if not on_terminal() or len({line[project] for line in lines} - {""}) > 1:
        print_table(headings, lines, numbers)
        return

    def less(row: Sequence[str]) -> tuple[str, ...]:
        return (*row[:project], *row[project + 1 :])

    moved = [number - (number > project) for number in numbers]
    print_table(less(headings), [less(line) for line in lines], moved)


def _printable(cell: str) -> str:
    """Return a cell as one line; what would steer the terminal becomes a blank."""
    return "".join(letter if letter.isprintable() else " " for letter in cell)


def print_line(text: str = "") -> None:
    """Print one line of text as a result."""
    sys.stdout.write(text + "\n")
