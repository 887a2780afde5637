"""A review in words: the verdict, and sections as a diff has them. Pure, but for the language."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import groupby

from tallyard.catalog.rules import RULES
from tallyard.cli import session
from tallyard.cli.review_losses import AffectedJob
from tallyard.cli.review_plan import Deed, Plan, PlannedChange, PlanSource
from tallyard.cli.review_verdict import PackFinding, Review, ToldFinding
from tallyard.cli.views.spec_diff_parts import (
    COLON,
    SEPARATOR,
    Block,
    Row,
    Section,
    count,
    joined,
)
from tallyard.cli.words import word
from tallyard.spec import moments
from tallyard.spec.waiver import Waiver

# More names or jobs than these are counted: a reviewer reads no longer list.
NAMES_SHOWN_MAX = 8
JOBS_SHOWN_MAX = 40
# Longer tables of what would be done are folded in a comment.
PLAN_ROWS_OPEN_MAX = 12


def verdict_line(review: Review) -> str:
    """Return the verdict in one line."""
    zh = session.lang() == "zh"
    parts = []
    if review.refused:
        parts.append(f"拒绝 {review.refused} 项" if zh else f"{review.refused} refused")
    if review.plan.errors:
        parts.append(word("Pulumi itself fails"))
    if review.protected:
        parts.append(_protected(len(review.protected)))
    if review.told:
        parts.append(f"提示 {review.told} 项" if zh else f"{review.told} told")
    if review.waived:
        parts.append(_waived(review))
    if not parts:
        return word("Nothing is refused, nothing to tell.")
    return "，".join(parts) + "。" if zh else ", ".join(parts) + "."


def _protected(number: int) -> str:
    if session.lang() == "zh":
        return f"`pulumi up` 会拒绝 {number} 个受保护的对象"
    return f"`pulumi up` refuses {count(number, 'protected object', 'protected objects')}"


def _waived(review: Review) -> str:
    ends = sorted(each.waiver.until for each in review.waived if each.waiver)
    first, number = moments.until(ends[0], review.zone), len(review.waived)
    is_one = ends[0] == ends[-1]
    if session.lang() == "zh":
        return f"豁免 {number} 项（{'' if is_one else '最早'}至 {first}）"
    return f"{number} waived {'until' if is_one else 'and the first only until'} {first}"


def findings_sections(review: Review) -> tuple[Section, ...]:
    """Return what the rules say, in the order of its weight."""
    return tuple(
        Section(title, (), tuple(_finding(each, review.zone) for each in group))
        for title, group in groups(review)
    )


def groups(review: Review) -> tuple[tuple[str, tuple[ToldFinding, ...]], ...]:
    """Return the findings under their headings; none that has none."""
    found = review.findings
    every = (
        ("Refused", tuple(each for each in found if each.is_refused)),
        ("Told", tuple(each for each in found if each.waiver is None and not each.is_refused)),
        ("Waived", review.waived),
    )
    return tuple((word(title), group) for title, group in every if group)


def pack_section(review: Review) -> Section | None:
    """Return what Pulumi's policy pack says beside them, in its own words; None for nothing."""
    blocks = tuple(map(_pack_finding, review.pack))
    return Section(word("Pulumi's policy pack"), (), blocks) if blocks else None


def with_notices(sections: tuple[Section, ...], notes: tuple[str, ...]) -> tuple[Section, ...]:
    """Return sections in which more stands under what has to be known before it is applied."""
    if not notes:
        return sections
    title = word("Before you apply this")
    if sections and sections[0].title == title:
        (block,) = sections[0].blocks
        first = replace(sections[0], blocks=(replace(block, notes=(*notes, *block.notes)),))
        return (first, *sections[1:])
    return (Section(title, (), (Block("", (), (), notes),)), *sections)


def place_of(told: ToldFinding) -> str:
    """Return `file:line:column`, or that no key of a person's says it."""
    at = told.location
    return f"{at.file}:{at.line}:{at.column}" if at else word("no place in a file")


def reasons(told: ToldFinding, zone: str) -> Iterator[tuple[str, str]]:
    """Yield what stands below a finding: what it is called, and the text."""
    if told.waiver is not None:
        yield waiver_text(told.waiver, zone), told.waiver.reason
    rule = told.finding.rule
    yield word("Why"), rule.because[session.lang() == "zh"]
    if rule.incident:
        yield word("Seen"), rule.incident


def waiver_text(waiver: Waiver, zone: str) -> str:
    """Return until when something is waived."""
    return f"{word('Waived until')} {moments.until(waiver.until, zone)}"


def _finding(told: ToldFinding, zone: str) -> Block:
    colon = COLON[session.lang()]
    notes = (f"{what}{colon}{text}" for what, text in reasons(told, zone))
    return Block(
        place_of(told), (told.finding.subject,), (), (told.finding.sentence(session.lang()), *notes)
    )


def _pack_finding(found: PackFinding) -> Block:
    rule, colon = RULES.get(found.rule), COLON[session.lang()]
    because = (
        () if rule is None else (f"{word('Why')}{colon}{rule.because[session.lang() == 'zh']}",)
    )
    name = found.urn.rpartition("::")[2] or found.rule
    severity = word("Refused" if found.is_mandatory else "Told")
    return Block(name, (severity,), (), (found.message, *because))


def plan_section(review: Review) -> Section:
    """Return what `pulumi up` would do, by deed and kind, and who says so."""
    plan, colon = review.plan, COLON[session.lang()]
    rows = tuple(
        Row((word(_DEEDS.get(deed, deed.value)), kind, str(len(group)), _names(group)))
        for (deed, kind), group in (
            (key, list(each))
            for key, each in groupby(plan.changes, lambda each: (each.deed, each.kind))
        )
    )
    errors = tuple(f"{word('Pulumi itself fails')}{colon}{error}" for error in plan.errors)
    warnings = tuple(f"{word('Pulumi warns')}{colon}{each}" for each in plan.warnings)
    notes = (*errors, *warnings, *(() if rows else (_nothing(review),)), word(_source(plan)))
    headings = tuple(map(word, ("WHAT", "KIND", "NUMBER")))
    return Section(
        word("What would be done"),
        (*headings, ""),
        _rows_and(rows, notes),
        right=(2,),
        is_detail=len(rows) > PLAN_ROWS_OPEN_MAX and not errors and not warnings,
    )


def _nothing(review: Review) -> str:
    """Return that nothing would be done; what other versions bring follows from no spec."""
    if not review.versions or review.plan.source is PlanSource.PULUMI:
        return word("Nothing.")
    if session.lang() == "zh":
        return "除版本改动所带来的之外，无。"
    return "Nothing but what the other versions bring."


def _source(plan: Plan) -> str:
    if plan.source is PlanSource.PULUMI and plan.errors:
        return _BROKEN_OFF
    return _SOURCES[plan.source]


def _rows_and(rows: tuple[Row, ...], notes: tuple[str, ...]) -> tuple[Block, ...]:
    """Return a table with notes below it: those of one block would stand under its headings."""
    return (*((Block("", (), rows),) if rows else ()), Block("", (), (), notes))


def _names(group: list[PlannedChange]) -> str:
    shown = joined(each.title for each in group[:NAMES_SHOWN_MAX])
    rest = len(group) - NAMES_SHOWN_MAX
    return f"{shown} {more(rest)}" if rest > 0 else shown


def more(number: int) -> str:
    """Return how many further ones there are."""
    return f"等另外 {number} 个" if session.lang() == "zh" else f"and {number} more"


def jobs_section(review: Review) -> Section:
    """Return the queued and running work that the change takes something from."""
    jobs = review.jobs
    title = word("Jobs that it affects now")
    if jobs.not_asked:
        return Section(title, (), (Block("", (), (), (jobs.not_asked,)),))
    rows = tuple(map(_job, jobs.items[:JOBS_SHOWN_MAX]))
    rest = len(jobs.items) - JOBS_SHOWN_MAX
    notes = (
        *(() if rows else (word("None."),)),
        *((more(rest),) if rest > 0 else ()),
        jobs.where,
    )
    headings = tuple(map(word, ("JOB", "PROJECT", "USER", "QUEUE", "STATE", "CARDS")))
    changes = "变化" if session.lang() == "zh" else "WHAT CHANGES"
    return Section(title, (*headings, changes), _rows_and(rows, notes))


def _job(each: AffectedJob) -> Row:
    row = each.row
    return Row(
        (
            row.name,
            row.project_key,
            row.user,
            row.queue,
            word(row.state),
            row.cards(session.lang()),
            SEPARATOR[session.lang()].join(each.losses),
        )
    )


_DEEDS: Mapping[Deed, str] = {
    Deed.REFUSED: "protected, `pulumi up` refuses",
    Deed.KEPT: "left in the cluster",
}
_BROKEN_OFF = (
    "Pulumi's preview broke off; what it has not come to follows from the objects that the spec "
    "asks for."
)
_SOURCES: Mapping[PlanSource, str] = {
    PlanSource.PULUMI: "Pulumi says so, by a preview.",
    PlanSource.OBJECTS: (
        "This follows from the objects that the spec asks for. The charts, the controllers, the "
        "copy of the spec and drift in the cluster are not in it; a preview by Pulumi shows them."
    ),
}
