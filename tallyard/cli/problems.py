"""How the problems of a spec are told: to a person, line by line, to a program, to GitHub.

`document`, `workflow_commands` and `short` are pure; `tell` prints.
"""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from tallyard.cli import output, session

if TYPE_CHECKING:
    from rich.text import Text

    from tallyard.languages import Language
    from tallyard.spec.problem import Problem

PAGES = Path("docs/errors")
_INDENT = "  "
# Their key is what nobody has found.
_MISSING = frozenset({"SPEC104", "SPEC410"})
# What GitHub's runner takes for a command in any line that a step prints.
_COMMAND = re.compile(r"^(\s*:)(?=:)|(##)(?=\[)", re.MULTILINE)


class ErrorFormat(StrEnum):
    """How the problems of a spec are told."""

    FULL = "full"
    SHORT = "short"
    JSON = "json"
    GITHUB = "github"


# One definition for every command that reads a spec.
type ErrorForm = Annotated[
    ErrorFormat | None,
    Parameter(
        name="--error-format",
        help="How errors are told: full (default), short (a line each), json, or github "
        "(annotations; in GitHub Actions they also come with full).",
    ),
]


def tell(
    problems: Sequence[Problem],
    texts: Mapping[Path, str],
    form: ErrorFormat | None,
    *,
    is_stdout_free: bool = True,
) -> None:
    """Print the problems.

    Args:
        problems: In file order; there may be none.
        texts: The text of each file, for the lines that are shown.
        form: How; None is `full`, in GitHub Actions with annotations on stdout.
        is_stdout_free: Whether stdout has room for a document or annotations; where the
            command's own result goes there, they go to stderr.
    """
    lang = session.lang()
    aside = sys.stdout if is_stdout_free else sys.stderr
    in_actions = form is None and os.environ.get("GITHUB_ACTIONS") == "true"
    if form is ErrorFormat.JSON:
        content = document(problems, lang)
        aside.write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    elif form is ErrorFormat.SHORT:
        sys.stderr.writelines(f"{each}\n" for each in short(problems, lang))
    elif form is not ErrorFormat.GITHUB and problems:
        _tell_in_full(problems, texts, lang, for_runner=in_actions)
    if in_actions or form is ErrorFormat.GITHUB:
        root = Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd())
        aside.writelines(f"{each}\n" for each in workflow_commands(problems, lang, root))


def print_aside(text: str, form: ErrorFormat | None) -> None:
    """Print a line of a command that has done its work; a program reads stdout for itself."""
    stream = sys.stderr if form is ErrorFormat.JSON else sys.stdout
    stream.write(f"{text}\n")


def short(problems: Iterable[Problem], lang: Language) -> Iterator[str]:
    """Yield one line for each problem, without excerpts and without a limit."""
    from tallyard.spec.messages import line  # noqa: PLC0415

    return (str(line(problem, lang)) for problem in problems)


def document(problems: Sequence[Problem], lang: Language) -> Mapping[str, Any]:
    """Return the document of all problems; only `message` follows the language."""
    items = [_item(problem, lang) for problem in problems]
    errors = sum(problem.is_error for problem in problems)
    counts = {"errors": errors, "warnings": len(problems) - errors}
    return output.document("ProblemList", {**counts, "items": items})


def workflow_commands(problems: Iterable[Problem], lang: Language, root: Path) -> Iterator[str]:
    """Yield a workflow command for each problem; GitHub shows it beside the line.

    Args:
        problems: In the order in which they are shown.
        lang: `en` or `zh`.
        root: The checkout's folder; GitHub wants paths from there.
    """
    from tallyard.spec.messages import sentence  # noqa: PLC0415

    for problem in problems:
        at = problem.location
        properties = {
            "file": _from(root, at.file),
            "line": str(at.line),
            "col": str(at.column),
            "title": f"{problem.code} {problem.path}".strip(),
        }
        named = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
        kind = "error" if problem.is_error else "warning"
        yield f"::{kind} {named}::{_data(sentence(problem, lang))}"


def _item(problem: Problem, lang: Language) -> dict[str, Any]:
    from tallyard.spec.messages import sentence  # noqa: PLC0415

    at, values = problem.location, problem.values
    return {
        "code": problem.code,
        "severity": "error" if problem.is_error else "warning",
        "file": str(at.file),
        "line": at.line,
        "column": at.column,
        "path": problem.path,
        "found": _found(problem),
        "allowed": _allowed(values),
        "nearest": values.get("nearest") or None,
        "message": sentence(problem, lang),
        "page": f"{PAGES}/{problem.code}.md",
    }


def _found(problem: Problem) -> object:
    """Return the value that stands there, or the key where that is what is wrong."""
    key = None if problem.code in _MISSING else problem.values.get("key")
    return _plain(problem.values.get("found", key))


def _allowed(values: Mapping[str, object]) -> dict[str, Any] | None:
    """Return the names or the range that are possible; None where neither is all that counts."""
    choices = values.get("choices")
    if isinstance(choices, (list, tuple)) and choices:
        return {"choices": [_plain(each) for each in choices]}
    if "least" in values and "most" in values:
        return {"least": _plain(values["least"]), "most": _plain(values["most"])}
    return None


def _plain(value: object) -> object:
    """Return a value that JSON has; a number that it does not have becomes a text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (bool, int, float, str, list, dict)):
        return value
    return str(value)


def _from(root: Path, file: Path) -> str:
    absolute = Path(os.path.abspath(file))  # noqa: PTH100 - links are kept as they are written
    is_below = absolute.is_relative_to(root)
    return (absolute.relative_to(root) if is_below else file).as_posix()


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _tell_in_full(
    problems: Sequence[Problem], texts: Mapping[Path, str], lang: Language, *, for_runner: bool
) -> None:
    """Print places, sentences, lines and carets to stderr; then what there is to know of all.

    Args:
        problems: At least one.
        texts: The texts of the files.
        lang: `en` or `zh`.
        for_runner: Whether no line may look like a command to GitHub's runner.
    """
    from rich.text import Text  # noqa: PLC0415

    from tallyard.spec.messages import PROBLEMS_SHOWN_MAX, closing  # noqa: PLC0415

    shown = [_told(each, texts, lang) for each in problems[:PROBLEMS_SHOWN_MAX]]
    if rest := len(problems) - len(shown):
        more = {
            "en": f"… and {rest} more; --error-format short shows them all",
            "zh": f"……另有 {rest} 个问题；--error-format short 可全部列出",
        }
        shown.append(Text(more[lang]))
    shown.append(Text(closing(problems, lang), style="bold"))
    console = session.err()
    for text in shown:
        if for_runner:
            text = Text(_COMMAND.sub(r"\1\2 ", text.plain))  # noqa: PLW2901 - the same, made harmless
        console.print(text, soft_wrap=True)


def _told(problem: Problem, texts: Mapping[Path, str], lang: Language) -> Text:
    """Return a problem in colour: errors red, warnings yellow."""
    from rich.text import Text  # noqa: PLC0415

    from tallyard.spec.excerpt import excerpt  # noqa: PLC0415
    from tallyard.spec.messages import line  # noqa: PLC0415

    told, at = line(problem, lang), problem.location
    head = _wrapped(told.place, str(told))
    colour = "bold red" if problem.is_error else "bold yellow"
    text = Text("\n".join((head, *excerpt(texts.get(at.file, ""), at.line, at.column))))
    text.stylize("bold", 0, len(told.place))
    text.stylize(colour, len(head) - len(f"[{told.code}]"), len(head))
    if told.warning:
        begin = head.find(told.warning.strip())
        text.stylize(colour, begin, begin + len(told.warning))
    if len(text) > len(head):
        text.stylize(colour, len(text) - 1)
    return text


def _wrapped(place: str, whole: str) -> str:
    """Return a line broken between words where a person reads it on a terminal."""
    if not sys.stderr.isatty():
        return whole
    from rich.cells import cell_len  # noqa: PLC0415

    from tallyard.cli import layout  # noqa: PLC0415

    # A word as wide as the place and the blank behind it, which would else be lost.
    stand_in = "x" * (cell_len(place) + 1)
    width = session.err().width - len(_INDENT)
    first, *rest = layout.wrapped(f"{stand_in} {whole[len(place) :]}", width)
    return f"\n{_INDENT}".join((f"{place} {first[len(stand_in) :]}", *rest))
