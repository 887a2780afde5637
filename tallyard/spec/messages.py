# ruff: noqa: RUF001 - Chinese has its own punctuation
"""Every sentence about a spec, in English and Chinese: what was found, why not, what to do.

The sentences themselves are one table, `texts.py`; here its places are filled in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, get_args

from tallyard.spec.excerpt import excerpt
from tallyard.spec.problem import Problem
from tallyard.spec.texts import TEXTS

type Language = Literal["en", "zh"]
LANGUAGES: tuple[str, ...] = get_args(Language.__value__)

# Nobody reads further, and the first ones are in file order.
PROBLEMS_SHOWN_MAX = 100
_TEXT_SHOWN_MAX = 60
_PATH_SHOWN_MAX = 300
_CHOICES_SHOWN_MAX = 12

_KINDS = {
    "accelerators": ("an accelerator", "加速卡型号"),
    "pools": ("a pool", "资源池"),
    "tiers": ("a tier", "配额等级"),
    "priorities": ("a priority", "优先级"),
}
_UNNAMED: tuple[tuple[object, tuple[str, str]], ...] = (
    (None, ("Nothing", "空值")),
    ([], ("A list", "列表")),
    ({}, ("A mapping", "映射")),
)
# Values that stand in a sentence as they are: figures, files, and what is no name.
_UNQUOTED = frozenset(
    {
        *("count", "character", "limit", "line", "least", "most", "total", "installed", "terms"),
        *("racks", "hosts", "blocks", "length", "value", "other_value", "file", "overlay"),
        *("detail", "encoding", "reason", "tag", "right", "usual", "elsewhere", "name", "lender"),
        *("pool", "other_pool", "tier", "model", "first", "last", "vendor", "project"),
    }
)
_UNQUOTED_IN = {"SPEC409": frozenset({"key"})}


def sentence(problem: Problem, lang: Language = "en") -> str:
    """Return what was found, why it cannot be and what to do, in one or more sentences."""
    template = TEXTS[problem.code][_index(lang)]
    values = {key: _value(key, value, problem.code, lang) for key, value in problem.values.items()}
    suggestion = _suggestion(problem.values.get("nearest"), lang)
    values["nearest"] = suggestion
    values["choices"] = "" if suggestion else _choices(problem.values.get("choices"), lang)
    # A suggestion that is empty leaves two blanks or one at the end.
    return " ".join(template.format(**values).split(" ")).replace("  ", " ").strip()


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
    path = f"  {_visible(problem.path, _PATH_SHOWN_MAX)}:" if problem.path else " "
    warning = "" if problem.is_error else ("warning: ", "警告：")[_index(lang)]
    file = _visible(str(at.file), _PATH_SHOWN_MAX)
    head = f"{file}:{at.line}:{at.column}{path} {warning}{sentence(problem, lang)}"
    below = excerpt(sources.get(at.file, ""), at.line, at.column)
    return "\n".join((f"{head} [{problem.code}]", *below))


def _index(lang: Language) -> int:
    return LANGUAGES.index(lang)


def _value(key: str, value: object, code: str, lang: Language) -> str:
    if key == "kind":
        return _KINDS[str(value)][_index(lang)]
    for kind, names in _UNNAMED:
        if value == kind and type(value) is type(kind):
            return names[_index(lang)]
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float) or key in _UNQUOTED or key in _UNQUOTED_IN.get(code, ()):
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
    shown = ", ".join(_visible(str(name)) for name in found[:_CHOICES_SHOWN_MAX])
    more = ", …" if len(found) > _CHOICES_SHOWN_MAX else ""
    return f"Possible: {shown}{more}." if lang == "en" else f"可选：{shown}{more}。"


def _quoted(text: str) -> str:
    return f'"{_visible(text)}"'


def _visible(text: str, limit: int = _TEXT_SHOWN_MAX) -> str:
    """Return a text in one line: bounded, with what cannot be seen or moves the cursor escaped."""
    bounded = text if len(text) <= limit else text[: limit - 1] + "…"
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in bounded)
