"""`docs/errors`: a page for each code, made from the texts and the slips.

What a page holds is `Page`; `spec explain` prints it too.
"""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tallyard.cli.pages import made
from tallyard.cli.pages.error_cases import FOLDER, Case, FixError, example, read_all
from tallyard.cli.problems import PAGES
from tallyard.languages import Language
from tallyard.spec.messages import meaning, title
from tallyard.spec.problem import WARNINGS
from tallyard.spec.texts import TEXTS

# Faults of bytes and of reading, which no text can have; SPEC199 is for a kind of fault that a
# newer pydantic may bring. A test elsewhere names them.
NOT_IN_TEXTS = frozenset({"SPEC003", "SPEC004", "SPEC005", "SPEC036", "SPEC037", "SPEC199"})
# A set in which many files show one code shows little of the others.
CASES_PER_CODE_MAX = 8

_INDEX = "README.md"
_GROUPS: Mapping[str, str] = {
    "0": "The file, and its text as YAML",
    "1": "The shape: keys and values",
    "2": "References",
    "3": "Accelerators, topology, priorities, pools",
    "4": "Hosts",
    "5": "Quotas, and what they promise",
    "6": "Projects and people",
    "7": "Waivers of rules",
}
# Where no change of the text mends it.
_IN_WORDS: Mapping[str, tuple[str, str]] = {
    "SPEC003": (
        "Let yourself read the file: chmod u+r, or ask its owner.",
        "给自己读取权限（chmod u+r），或联系文件的所有者。",
    ),
    "SPEC004": (
        "Name the right file; write hosts as ranges, a100-[00-99] instead of a hundred entries.",
        "请给出正确的文件；主机请写成范围，用 a100-[00-99] 代替一百个条目。",
    ),
    "SPEC005": (
        "Save the file as UTF-8: the editor offers it as encoding, `iconv -f GB18030 -t UTF-8` does it for a file in GB 18030.",
        "请把文件另存为 UTF-8：编辑器的编码选项，或对 GB 18030 文件运行 iconv -f GB18030 -t UTF-8。",
    ),
    "SPEC006": (
        "Fill the file: copy stacks/local.yaml (or platform.yaml) and change it.",
        "请填写文件：复制 stacks/local.yaml（或 platform.yaml）再修改。",
    ),
    "SPEC040": (
        "Name the environment's file, not the platform's: tally spec validate stacks/local.yaml.",
        "请给出环境文件，而不是平台文件：tally spec validate stacks/local.yaml。",
    ),
    "SPEC199": (
        "See what the key takes: tally spec explain and the key's path.",
        "请查看该键的取值：tally spec explain 加上键的路径。",
    ),
}


@dataclass(frozen=True)
class Page:
    """What is said about a code. `case` is None where no file of the set shows it."""

    code: str
    case: Case | None

    @property
    def is_warning(self) -> bool:
        """Whether it only tells."""
        return self.code in WARNINGS

    @property
    def file(self) -> str:
        """Return the page's file, seen from the checkout."""
        return f"{PAGES}/{self.code}.md"

    def advice(self, lang: Language) -> str:
        """Return in words what to do."""
        if self.code in _IN_WORDS:
            return _IN_WORDS[self.code][lang == "zh"]
        stop = r"(?<=。)" if lang == "zh" else r"(?<=[.?]) "
        return re.split(stop, meaning(self.code, lang), maxsplit=1)[-1].strip()


def page(code: str, cases: tuple[Case, ...] | None = None) -> Page:
    """Return what is said about a code of the table.

    Args:
        code: E.g. `SPEC101`.
        cases: The set of slips; without it that of the checkout.
    """
    return Page(code, example(code, read_all() if cases is None else cases))


def markdown(told: Page) -> str:
    """Return the page as its file has it."""
    return "\n".join(_markdown(told)) + "\n"


def index() -> str:
    """Return the page of all codes."""
    return "\n".join(_index()) + "\n"


def files(cases: tuple[Case, ...]) -> dict[Path, str]:
    """Return every file of `docs/errors`, by its path from the checkout."""
    pages = {PAGES / f"{code}.md": markdown(page(code, cases)) for code in sorted(TEXTS)}
    return {**pages, PAGES / _INDEX: index()}


def faults(checkout: Path = made.CHECKOUT) -> Iterator[str]:
    """Yield what is wrong with the pages and the set of slips, one sentence each."""
    cases = read_all(checkout)
    untitled = {code[4] for code in TEXTS} - set(_GROUPS)
    yield from (f"the codes SPEC{hundred}xx have no heading" for hundred in sorted(untitled))
    yield from _wrong_cases(cases)
    yield from _unshown(cases, checkout)
    try:
        wanted = files(cases)
    except FixError as error:
        yield f"a fix does not fit: {error}"
        return
    yield from made.faults(wanted, checkout)
    there = {file.relative_to(checkout) for file in (checkout / PAGES).glob("*")}
    yield from (
        f"{file} is left over: there is no such code" for file in sorted(there - set(wanted))
    )


def write(checkout: Path = made.CHECKOUT) -> None:
    """Write the pages and remove those that are left over."""
    wanted = files(read_all(checkout))
    made.write(wanted, checkout)
    for file in (checkout / PAGES).glob("SPEC*.md"):
        if file.relative_to(checkout) not in wanted:
            file.unlink()


def _wrong_cases(cases: tuple[Case, ...]) -> Iterator[str]:
    for case in cases:
        yield from (
            f"{case.file.name} expects {code}, which is no code"
            for code in dict.fromkeys(case.codes)
            if code not in TEXTS
        )
    first = Counter(case.codes[0] for case in cases if case.codes)
    for code, count in sorted(first.items()):
        if count > CASES_PER_CODE_MAX:
            yield f"{count} files show {code} first; at most {CASES_PER_CODE_MAX} may"


def _unshown(cases: tuple[Case, ...], checkout: Path) -> Iterator[str]:
    shown = {code for case in cases for code in case.codes}
    sources = (file.read_text(encoding="utf-8") for file in (checkout / "tests").rglob("*.py"))
    tested = set(re.findall(r"SPEC\d{3}", "\n".join(sources)))
    for code in sorted(set(TEXTS) - shown - NOT_IN_TEXTS):
        yield f"no file of {FOLDER} shows {code}"
    for code in sorted(NOT_IN_TEXTS - tested):
        yield f"no test names {code}"


def _markdown(told: Page) -> Iterator[str]:
    code = told.code
    yield f"# {code}: {_escaped(title(code))}"
    yield ""
    yield made.NOTE
    yield ""
    if told.is_warning:
        yield "A warning: the spec holds, and this is worth a look."
    else:
        yield "An error: nothing is rendered or applied before it is corrected."
    yield ""
    yield f"> {_escaped(meaning(code))}"
    yield ">"
    yield f"> {_escaped(meaning(code, 'zh'))}"
    yield ""
    case = told.case
    right = case.right() if case else ()
    if case:
        yield "## Wrong"
        yield ""
        yield from _block("text", (*case.wrong(code), "", case.line_of(code, "en")))
    yield "## Right" if right else "## What to do"
    yield ""
    if right:
        yield from _block("yaml", right)
    else:
        yield _escaped(told.advice("en"))
        yield ""
        yield _escaped(told.advice("zh"))
        yield ""
    yield f"[All codes]({_INDEX})"


def _block(language: str, lines: tuple[str, ...]) -> Iterator[str]:
    # A slip may hold backticks; a fence of four outlives three of them.
    yield from (f"````{language}", *lines, "````", "")


def _index() -> Iterator[str]:
    yield "# Error codes of the spec"
    yield ""
    yield made.NOTE
    yield ""
    yield "Every problem that `tally spec validate` tells ends in a code. Its page says what it means,"
    yield "in English and Chinese, and shows it wrong and right; `tally spec explain SPEC101` prints"
    yield "the page. Errors are to be corrected before anything is rendered; warnings only tell."
    for hundred in sorted({code[4] for code in TEXTS}):
        yield ""
        yield f"## {hundred}xx: {_GROUPS.get(hundred, '')}"
        yield ""
        yield "| code | | meaning |"
        yield "| --- | --- | --- |"
        for code in sorted(code for code in TEXTS if code[4] == hundred):
            kind = "warning" if code in WARNINGS else "error"
            yield f"| [{code}]({code}.md) | {kind} | {_escaped(title(code)).replace('|', '\\|')} |"


def _escaped(text: str) -> str:
    """Return a text of which Markdown outside of backticks takes no letter for itself."""
    parts = re.split(r"(`[^`]*`)", text)
    parts[::2] = [re.sub(r"([*_<\[\]])", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)
