"""Results on stdout: a table for people, JSON or YAML for programs.

The JSON and YAML are the same document: `apiVersion: tally/v1`, a `kind`, and fields that
stay as `docs/cli.md` says. Only sentences (`reason`) follow the language.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
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
    """Return YAML in the order of the content, with Chinese as it is written."""
    import yaml  # noqa: PLC0415

    text: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=1000)
    return text


def print_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()
) -> None:
    """Print columns that line up, Chinese included; `right` are the columns of numbers.

    On a terminal the last column may break into several lines, elsewhere no line is broken.
    """
    from rich.table import Table  # noqa: PLC0415

    lines = [tuple(row) for row in rows]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    numbers = set(right)
    last = len(headings) - 1
    for index, heading in enumerate(headings):
        table.add_column(
            heading,
            justify="right" if index in numbers else "left",
            no_wrap=index != last,
            overflow="fold",
        )
    for line in lines:
        table.add_row(*line)
    console = session.out()
    console.width = _width(console.width, [tuple(headings), *lines])
    with console.capture() as captured:
        console.print(table)
    # Cells are filled up to their column's width; nobody wants the blanks at the end.
    sys.stdout.write("".join(line.rstrip() + "\n" for line in captured.get().splitlines()))


# A last column narrower than this is a tower of words; then the terminal may break the lines.
_LAST_COLUMN_MIN = 24


def _width(terminal: int, lines: Sequence[Sequence[str]]) -> int:
    """Return the width to print in: the terminal's, or none where the last column has no room."""
    from rich.cells import cell_len  # noqa: PLC0415

    columns = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    before = sum(columns[:-1]) + 2 * len(columns)
    needed = before + columns[-1]
    return terminal if needed <= terminal or terminal - before >= _LAST_COLUMN_MIN else needed


def print_line(text: str = "") -> None:
    """Print one line of text as a result."""
    sys.stdout.write(text + "\n")
