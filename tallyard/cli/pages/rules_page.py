"""`docs/review/rules.md`: what each rule means, where it is asked and why, from the one table."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tallyard.catalog.rules import RULES, Gate, Rule, Severity
from tallyard.cli.pages.made import NOTE

PAGE = Path("docs/review/rules.md")

_INTRO = """\
Every message of a rule ends with its name in brackets. A finding of a rule of the review is waived by an entry under `waivers` in the spec ([how](README.md#a-waiver)); what the API server refuses is refused.

每条消息以方括号中的规则名结尾。审查规则的发现可以在规格的 `waivers` 中豁免（[写法](README.md#a-waiver)）；API 服务器拒绝的则一律拒绝。"""
_TITLES: Mapping[Gate, tuple[str, str]] = {
    Gate.REVIEW: (
        "Asked of a change / 审查改动时",
        (
            "By `tally review` and by the policy pack of `pulumi preview`. / "
            "由 `tally review` 和 `pulumi preview` 的策略包检查。"
        ),
    ),
    Gate.ADMISSION: (
        "Asked of work that is submitted / 提交作业时",
        (
            "By the API server; how each refusal reads: [docs/admission.md](../admission.md). / "
            "由 API 服务器检查；每种拒绝的说法见 [docs/admission.zh.md](../admission.zh.md)。"
        ),
    ),
}
_SEVERITIES: Mapping[Severity, str] = {
    Severity.MANDATORY: "refuses / 拒绝",
    Severity.ADVISORY: "tells / 提示",
}


def files() -> Mapping[Path, str]:
    """Return the page by its path from the checkout."""
    return {PAGE: page()}


def page() -> str:
    """Return the whole page."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# The rules / 规则"
    yield ""
    yield NOTE
    yield ""
    yield _INTRO
    for gate, (title, intro) in _TITLES.items():
        yield ""
        yield f"## {title}"
        yield ""
        yield intro
        yield ""
        yield from _table(rule for rule in RULES.values() if gate in rule.gates)


def _table(rules: Iterable[Rule]) -> Iterator[str]:
    yield "| rule / 规则 | finding / 发现 | why | 原因 | seen / 案例 |"
    yield "| --- | --- | --- | --- | --- |"
    yield from map(_row, rules)


def _row(rule: Rule) -> str:
    english, chinese = rule.because
    number = rule.incident.rpartition("/")[2]
    seen = f"[#{number}]({rule.incident})" if rule.incident else ""
    cells = (f"`{rule.name}`", _SEVERITIES[rule.severity], english, chinese, seen)
    return f"| {' | '.join(cells)} |"
