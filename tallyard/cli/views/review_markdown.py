"""A review as Markdown, for one comment on a pull request.

GitHub takes 65,536 characters of a comment. What is too long ends at a whole line, with a
sentence that says so; what matters most stands first.
"""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from tallyard.cli import session
from tallyard.cli.review_verdict import Review, ToldFinding
from tallyard.cli.views.review import (
    groups,
    jobs_section,
    pack_section,
    place_of,
    plan_section,
    reasons,
    verdict_line,
)
from tallyard.cli.views.review_addresses import public, without_addresses
from tallyard.cli.views.review_fields import fields_section, versions_section
from tallyard.cli.views.spec_diff_markdown import escaped, section_lines, with_code
from tallyard.cli.views.spec_diff_parts import COLON, Section
from tallyard.cluster.faults import Parts
from tallyard.spec.messages import closing
from tallyard.spec.messages import line as line_of
from tallyard.spec.problem import Problem

LENGTH_MAX = 65_000
_CUT = {
    "en": "*This is cut here: a comment has no room for more. `tally review` on the command line "
    "shows all of it.*",
    "zh": "*此处已截断：评论放不下更多内容。在命令行运行 `tally review` 可查看全部。*",
}
_WRONG = {"en": "Nothing was reviewed: {}", "zh": "未做审查：{}"}
_FOLD = "</details>"


def markdown(title: str, review: Review, about: str, sections: tuple[Section, ...]) -> str:
    """Return the whole comment, of at most `LENGTH_MAX` characters.

    Args:
        title: Its heading; text.
        review: What was found.
        about: What is said of all that differs in the spec; text, it may be empty.
        sections: What differs in the spec, which is folded.
    """
    review = public(review)
    planned = (plan_section(review), fields_section(review), versions_section(review))
    above = (pack_section(review), *planned, jobs_section(review))
    parts: list[Iterable[str]] = [
        _head(title, verdict_line(review)),
        _findings(review),
        *(section_lines(each) for each in above if each is not None),
        (with_code(about), "") if about else (),
    ]
    # What is told without a table is what a reviewer has to know.
    parts += [section_lines(replace(each, is_detail=bool(each.headings))) for each in sections]
    return _bounded(line for part in parts for line in part)


def markdown_of_problems(title: str, problems: tuple[Problem, ...]) -> str:
    """Return the comment on a spec that has errors, of which no review can be made.

    Args:
        title: Its heading; text.
        problems: At least one, in file order.
    """
    lang = session.lang()
    verdict = _WRONG[lang].format(closing(problems, lang))
    return _bounded(
        (*_head(title, verdict), *(text for each in problems for text in _problem(each)))
    )


def _problem(problem: Problem) -> Iterator[str]:
    told = line_of(problem, session.lang())
    path = f" · {escaped(told.path)}" if told.path else ""
    yield f"- **{escaped(told.place)}**{path}"
    yield f"  - {escaped(told.warning)}{with_code(told.sentence)} {escaped(f'[{told.code}]')}"


def markdown_of_complaint(title: str, parts: Parts) -> str:
    """Return the comment on anything else that keeps a review from being made."""
    lang = session.lang()
    verdict = _WRONG[lang].format(without_addresses(parts.what))
    texts = (parts.where, parts.why, parts.todo)
    lines = (f"- {with_code(without_addresses(each))}" for each in texts if each)
    return _bounded((*_head(title, verdict), *lines))


def _head(title: str, verdict: str) -> tuple[str, ...]:
    return f"## {escaped(title)}", "", f"**{with_code(verdict)}**", ""


def _findings(review: Review) -> Iterator[str]:
    for title, findings in groups(review):
        yield f"### {escaped(title)}"
        yield ""
        for each in findings:
            yield from _finding(each, review.zone)
        yield ""


def _finding(told: ToldFinding, zone: str) -> Iterator[str]:
    yield f"- **{escaped(place_of(told))}** · {escaped(told.finding.subject)}"
    yield f"  - {with_code(told.finding.sentence(session.lang()))}"
    for what, text in reasons(told, zone):
        # An address is ours, from the table of rules, and GitHub makes a link of it.
        shown = text if text == told.finding.rule.incident else with_code(text)
        yield f"  - {escaped(what)}{COLON[session.lang()]}{shown}"


def _bounded(lines: Iterable[str]) -> str:
    """Return as many lines as there is room for; a fold that is cut is closed."""
    cut = _CUT[session.lang()]
    room = LENGTH_MAX - len(f"\n{_FOLD}\n\n{cut}\n")
    kept: list[str] = []
    length, is_folded = 0, False
    for line in lines:
        if length + len(line) + 1 > room:
            kept += ["", _FOLD, "", cut] if is_folded else ["", cut]
            break
        kept.append(line)
        length += len(line) + 1
        is_folded = line == "<details>" or (is_folded and line != _FOLD)
    return "\n".join(kept).rstrip() + "\n"
