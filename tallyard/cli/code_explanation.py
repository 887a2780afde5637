"""`tally spec explain SPEC101`: the page of an error's code, as plain text and as data."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tallyard.cli import session
from tallyard.cli.errors import Complaint
from tallyard.cli.exit_codes import ExitCode
from tallyard.cli.output import document, on_terminal, print_line
from tallyard.cluster.faults import Parts

if TYPE_CHECKING:
    from tallyard.cli.pages.error_pages import Page

_CODE = re.compile(r"SPEC[0-9A-Z]{1,5}", re.IGNORECASE)
_LOOKALIKES = str.maketrans("OIL", "011")
_INDENT = "  "
_WORDS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "error": "error",
        "warning": "warning",
        "wrong": "wrong:",
        "right": "right:",
        "todo": "what to do:",
        "page": "page: ",
    },
    "zh": {
        "error": "错误",
        "warning": "警告",
        "wrong": "错误写法：",
        "right": "正确写法：",
        "todo": "处理：",
        "page": "页面：",
    },
}


def is_code(text: str) -> bool:
    """Say whether a text is meant as a code; no key of the spec looks like one."""
    return bool(_CODE.fullmatch(text))


def explained(text: str) -> Page:
    """Return the page of a code.

    Raises:
        Complaint: There is no such code.
    """
    from tallyard.cli.pages.error_pages import page  # noqa: PLC0415
    from tallyard.spec.messages import hint  # noqa: PLC0415
    from tallyard.spec.texts import TEXTS  # noqa: PLC0415

    code, lang = text.upper(), session.lang()
    if code in TEXTS:
        return page(code)
    what = {"en": f'There is no error code "{text}"', "zh": f'没有错误代码 "{text}"'}[lang]
    raise Complaint(ExitCode.NOT_FOUND, Parts("", what, "", hint(_nearest(code), (), lang)))


def body(told: Page) -> Mapping[str, Any]:
    """Return the document of a code; the texts follow the language."""
    from tallyard.spec.messages import meaning, title  # noqa: PLC0415

    lang, case = session.lang(), told.case
    wrong = case and {
        "file": f"tests/data/spec/broken/{case.file.name}",
        "lines": list(case.wrong(told.code)),
        "message": case.line_of(told.code, lang),
    }
    return document(
        "ErrorCode",
        {
            "code": told.code,
            "severity": "warning" if told.is_warning else "error",
            "title": title(told.code, lang),
            "meaning": meaning(told.code, lang),
            "advice": told.advice(lang),
            "wrong": wrong,
            "right": list(case.right()) if case and case.fixes else None,
            "page": told.file,
        },
    )


def show(told: Page) -> None:
    """Print what a code means, and a text in which it is wrong and one in which it is right."""
    from tallyard.spec.messages import meaning  # noqa: PLC0415

    lang, case = session.lang(), told.case
    words = _WORDS[lang]
    print_line(f"{told.code}  ({words['warning' if told.is_warning else 'error']})")
    _print(meaning(told.code, lang))
    width = _width()
    if case:
        print_line(f"\n{words['wrong']}")
        # Numbers, a bar and the marks of a cut take their room beside a line.
        for line in case.wrong(told.code, width and width - 8):
            print_line(f"{_INDENT}{line}")
        print_line()
        _print(case.line_of(told.code, lang))
    right = case.right(width and width - 2) if case else ()
    print_line(f"\n{words['right' if right else 'todo']}")
    for line in right:
        print_line(f"{_INDENT}{line}")
    if not right:
        _print(told.advice(lang))
    print_line(f"\n{words['page']}{told.file}")


def _nearest(code: str) -> str:
    """Return the code that is next by its number; letters that look like digits count as such."""
    from tallyard.spec.texts import TEXTS  # noqa: PLC0415

    digits = re.sub(r"\D", "", code.removeprefix("SPEC").translate(_LOOKALIKES)) or "0"
    return min(TEXTS, key=lambda each: abs(int(each[4:]) - int(digits)))


def _width() -> int | None:
    """Return the cells of a line beside the indent; None where nobody reads it on a terminal."""
    return session.out().width - len(_INDENT) if on_terminal() else None


def _print(text: str) -> None:
    from tallyard.cli import layout  # noqa: PLC0415

    width = _width()
    for line in (text,) if width is None else layout.wrapped(text, width):
        print_line(f"{_INDENT}{line}")
