# ruff: noqa: RUF001 - Chinese has its own punctuation
"""Every sentence about a spec, in English and Chinese: what was found, why not, what to do.

The sentences themselves are one table, `texts.py`; here its places are filled in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tallyard.languages import LANGUAGES, Language
from tallyard.spec.excerpt import excerpt
from tallyard.spec.problem import Problem
from tallyard.spec.texts import TEXTS

# Nobody reads further, and the first ones are in file order.
PROBLEMS_SHOWN_MAX = 100
_TEXT_SHOWN_MAX = 60
_PATH_SHOWN_MAX = 300
_CHOICES_SHOWN_MAX = 12

_UNNAMED: tuple[tuple[object, tuple[str, str]], ...] = (
    (None, ("Nothing", "空值")),
    ([], ("A list", "列表")),
    ({}, ("A mapping", "映射")),
)
# What somebody has written and is told of stands in quotes; figures, files and names that are
# right stand as they are, and so do these here.
_QUOTED = frozenset({"found", "key", "other"})
# What is as long as it is: a sum with all its terms, a line to be copied.
_LONG = frozenset({"terms", "right"})
_BARE_IN = {
    **dict.fromkeys(("SPEC409", "SPEC322", "SPEC323"), frozenset({"key"})),
    **dict.fromkeys(("SPEC509", "SPEC510", "SPEC512", "SPEC513"), frozenset({"found"})),
    **dict.fromkeys(("SPEC413", "SPEC416"), frozenset({"other"})),
    "SPEC415": frozenset({"other", "found"}),
    **dict.fromkeys(("SPEC417", "SPEC418"), frozenset({"key", "found"})),
}
# What a sentence calls something aside, and where its first clause ends; what stands between
# backticks is one word.
_ASIDE = re.compile(r"\s?\([^)]*\)|（[^）]*）")
_CLAUSE = {
    "en": re.compile(r"(?:`[^`]*`|(?![.:;,](?:\s|$)).)+"),
    "zh": re.compile(r"[^。：；，]+"),
}
# Where the first clause by itself says too little.
_TITLES: Mapping[str, tuple[str, str]] = {
    "SPEC306": ("`borrowed` has no effect in a pool that borrows", "borrowed 在借用池中不起作用"),
}


@dataclass(frozen=True)
class Line:
    """A problem in one line, in its parts; as text it is the whole line.

    `place` is `file:line:column`, `path` the key's or empty, `warning` is empty for an error.
    """

    place: str
    path: str
    warning: str
    sentence: str
    code: str

    def __str__(self) -> str:
        path = f"  {self.path}:" if self.path else " "
        return f"{self.place}{path} {self.warning}{self.sentence} [{self.code}]"


def sentence(problem: Problem, lang: Language = "en") -> str:
    """Return what was found, why it cannot be and what to do, in one or more sentences."""
    template = TEXTS[problem.code][_index(lang)]
    values = {key: _value(key, value, problem.code, lang) for key, value in problem.values.items()}
    suggestion = _suggestion(problem.values.get("nearest"), lang)
    values["nearest"] = suggestion
    values["choices"] = "" if suggestion else _choices(problem.values.get("choices"), lang)
    return _tidy(template.format(**values))


def line(problem: Problem, lang: Language = "en") -> Line:
    """Return the problem in one line, `file:line:column  path: sentence [CODE]`."""
    at = problem.location
    return Line(
        place=f"{_visible(str(at.file), _PATH_SHOWN_MAX)}:{at.line}:{at.column}",
        path=_visible(problem.path, _PATH_SHOWN_MAX),
        warning="" if problem.is_error else ("warning: ", "警告：")[_index(lang)],
        sentence=sentence(problem, lang),
        code=problem.code,
    )


def closing(problems: Iterable[Problem], lang: Language = "en") -> str:
    """Return how many errors and warnings there are, and where more is said about a code.

    Args:
        problems: At least one.
        lang: `en` or `zh`.
    """
    every = tuple(problems)
    errors = sum(problem.is_error for problem in every)
    warnings = len(every) - errors
    code = next((each.code for each in every if each.is_error), every[0].code)
    if lang == "zh":
        counts = (f"{errors} 个错误" * bool(errors), f"{warnings} 个警告" * bool(warnings))
        return f"{'，'.join(filter(None, counts))}。详细说明：tally spec explain {code}"
    counts = (_count(errors, "error"), _count(warnings, "warning"))
    return f"{', '.join(filter(None, counts))}. `tally spec explain {code}` says more."


def meaning(code: str, lang: Language = "en") -> str:
    """Return the sentence of a code with names in capitals for what a problem fills in."""
    template = TEXTS[code][_index(lang)]
    names = re.findall(r"(?<!{){(\w+)}", template)
    values = {name: name.upper().replace("_", " ") for name in names}
    values["found"], values["encoding"] = "VALUE", ""
    values["nearest"] = _suggestion("NAME", lang)
    values["choices"] = "" if "nearest" in names else _choices(("NAME",), lang)
    return _tidy(template.format(**values))


def title(code: str, lang: Language = "en") -> str:
    """Return what a code means in a few words: the first clause of its sentence."""
    if code in _TITLES:
        return _TITLES[code][_index(lang)]
    found = _CLAUSE[lang].match(_ASIDE.sub("", meaning(code, lang)))
    return found[0].strip() if found else code


def report(
    problems: Iterable[Problem],
    lang: Language = "en",
    sources: Mapping[Path, str] | None = None,
) -> str:
    """Return the problems as plain text: place, path, sentence; below it the line and a caret.

    Args:
        problems: In the order in which they are shown.
        lang: `en` or `zh`.
        sources: The texts of the files (`Loaded.texts`); without them no lines are shown.
    """
    every = tuple(problems)
    shown = [_told(problem, lang, sources or {}) for problem in every[:PROBLEMS_SHOWN_MAX]]
    rest = len(every) - len(shown)
    if rest:
        shown.append(f"… and {rest} more" if lang == "en" else f"……另有 {rest} 个问题")
    return "\n".join(shown)


def _told(problem: Problem, lang: Language, sources: Mapping[Path, str]) -> str:
    at = problem.location
    below = excerpt(sources.get(at.file, ""), at.line, at.column)
    return "\n".join((str(line(problem, lang)), *below))


def _tidy(text: str) -> str:
    """Drop the blanks that an empty suggestion leaves, two together or one at the end."""
    return text.replace("  ", " ").strip()


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number > 1)}" if number else ""


def _index(lang: Language) -> int:
    return LANGUAGES.index(lang)


def _value(key: str, value: object, code: str, lang: Language) -> str:
    for kind, names in _UNNAMED:
        if value == kind and type(value) is type(kind):
            return names[_index(lang)]
    if isinstance(value, bool):
        return str(value).lower()
    if key in _LONG:
        return _visible(str(value), _PATH_SHOWN_MAX)
    if isinstance(value, int | float) or key not in _QUOTED or key in _BARE_IN.get(code, ()):
        return _visible(str(value))
    return _quoted(str(value))


def hint(nearest: str, choices: Iterable[str], lang: Language = "en") -> str:
    """Return the nearest name as a question, else the names that there are."""
    return _suggestion(nearest, lang) or _choices(tuple(choices), lang)


def _suggestion(nearest: object, lang: Language) -> str:
    if not nearest:
        return ""
    name = _quoted(str(nearest))
    return f"Did you mean {name}?" if lang == "en" else f"是否想写 {name}？"


def _choices(found: object, lang: Language) -> str:
    if not isinstance(found, (list, tuple)) or not found:
        return ""
    comma = ", " if lang == "en" else "、"
    shown = comma.join(_visible(str(name)) for name in found[:_CHOICES_SHOWN_MAX])
    more = f"{comma}…" if len(found) > _CHOICES_SHOWN_MAX else ""
    return f"Possible: {shown}{more}." if lang == "en" else f"可选：{shown}{more}。"


def _quoted(text: str) -> str:
    return f'"{_visible(text)}"'


def _visible(text: str, limit: int = _TEXT_SHOWN_MAX) -> str:
    """Return a text in one line: bounded, with what cannot be seen or moves the cursor escaped."""
    bounded = text if len(text) <= limit else text[: limit - 1] + "…"
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in bounded)
