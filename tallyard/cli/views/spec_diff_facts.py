"""Tiers, projects and what everybody shares, in words: one row for each fact that differs."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from rich.cells import cell_len

from tallyard.cli import session
from tallyard.cli.views.spec_diff_parts import (
    ARROW,
    NOTHING,
    SEPARATOR,
    Block,
    Row,
    Section,
    count,
    joined,
)
from tallyard.cli.views.spec_diff_values import delta_text, moment, value_text
from tallyard.cli.words import word, words
from tallyard.spec.changes.change import Cause, Change, Presence, Subject, Through
from tallyard.spec.changes.facts import Fact, Unit
from tallyard.spec.changes.projects import OverrideChange, ProjectChange
from tallyard.spec.changes.whole import Changes
from tallyard.spec.model import Override

# What is longer than the longest grant (1000000000/month) has no room in a column.
_COLUMN_MAX = 18


def facts_section(title: str, blocks: Iterable[Block]) -> Section:
    """Return a section of facts before and after."""
    headings = (*words("KEY", "FROM", "TO", "CHANGE"), "")
    return Section(title, headings, tuple(blocks), right=(1, 2, 3), coloured=3)


def tier_block(tier: Subject) -> Block:
    """Return what is told of a tier."""
    zh = session.lang() == "zh"
    if tier.used_by:
        names = joined(tier.used_by)
        used = f"项目：{names}" if zh else f"of {names}"
    else:
        used = "没有项目使用" if zh else "no project has it"
    return Block(tier.name, (*_came_or_went(tier.presence), used), _rows(tier.changes))


def subject_block(subject: Subject) -> Block:
    """Return what is told of something that everybody shares."""
    kind = word(subject.kind)
    facts = (kind, *_came_or_went(subject.presence))
    if not subject.name:
        return Block(kind, (), _rows(subject.changes))
    return Block(subject.name, facts, _rows(subject.changes))


def project_block(project: ProjectChange, found: Changes) -> Block:
    """Return what is told of a project."""
    zh = session.lang() == "zh"
    people = f"{project.people} 人" if zh else count(project.people, "person", "people")
    facts = (*_came_or_went(project.presence), f"{word('tier')} {project.tier}", people)
    lines = tuple(line for each in project.overrides for line in _override_lines(each, found))
    return Block(project.key, facts, _rows(project.changes), tuple(_moves(project)), lines)


def _moves(project: ProjectChange) -> Iterator[str]:
    """Yield what happens to the project's name and to its namespace."""
    zh = session.lang() == "zh"
    before, new, old = project.key_before, project.id, project.id_before
    if before:
        yield (
            f"原名 {before}；id 仍为 {new}，无任何迁移"
            if zh
            else f"renamed from {before}; its id stays {new}, nothing moves"
        )
    if old:
        yield (
            f"id {old} {ARROW} {new}：新建命名空间 {new} 和队列；旧命名空间 {old} 及其内容保留，不会迁移"
            if zh
            else f"id {old} {ARROW} {new}: a new namespace {new} with queues of its own; "
            f"the namespace {old} stays with what is in it, and nothing moves over"
        )
    if project.presence is Presence.REMOVED:
        yield (
            f"命名空间 {new} 及其内容保留"
            if zh
            else f"the namespace {new} stays with what is in it"
        )


def _override_lines(change: OverrideChange, found: Changes) -> Iterator[str]:
    sides = (
        ("-", change.before, found.zone_before),
        ("+", change.after, found.zone_after),
    )
    over = f", {word('it has ended')}," if change.is_over else ""
    for sign, override, zone in sides:
        if override is not None:
            until = f"{word('until')} {moment(override.until, zone)}"
            said = ", ".join(_override_parts(override))
            yield f"{sign} {word('override')} {until}{over} ({override.reason}): {said}"


def _override_parts(override: Override) -> Iterator[str]:
    for pool, models in override.cards.items():
        yield from (f"{pool} {model} {cards}" for model, cards in models.items())
    for pool, cards in override.borrow.items():
        yield f"{label(Fact.BORROW)} {pool} {cards}"
    if override.core_hours is not None:
        yield f"{label(Fact.CORE_HOURS)} {value_text(override.core_hours, Unit.GRANT)}"
    if override.max_time_seconds is not None:
        yield f"{label(Fact.MAX_TIME)} {value_text(override.max_time_seconds, Unit.SECONDS)}"


def _rows(changes: Iterable[Change]) -> tuple[Row, ...]:
    return tuple(_row(each) for each in changes)


def _row(change: Change) -> Row:
    what = " ".join((label(change.fact), *(name for _, name in change.about)))
    note = _cause(change.cause) if _is_told(change) else ""
    before, after = texts_of(change)
    if change.fact is Fact.USER and None in {change.before, change.after}:
        state = word("new") if change.before is None else word("gone")
        logins = after if change.before is None else before
        # Without logins of their own people log in by their names.
        note = "" if logins == dict(change.about)["user"] else logins
        return Row((what, "", "", state, note), 1 if change.before is None else -1)
    if max(cell_len(before), cell_len(after)) > _COLUMN_MAX:
        note = SEPARATOR[session.lang()].join(filter(None, (f"{before} {ARROW} {after}", note)))
        before = after = ""
    return Row((what, before, after, delta_text(change), note), change.effect)


def texts_of(change: Change) -> tuple[str, str]:
    """Return both values in words."""
    nothing = "0" if change.fact is Fact.BORROW else NOTHING
    texts = (value_text(value, change.unit) for value in (change.before, change.after))
    before, after = (text or nothing for text in texts)
    return before, after


def label(fact: Fact) -> str:
    """Return what a fact is called: as in the spec, where it is a key."""
    return word(_SAID.get(fact, fact.value))


def _cause(cause: Cause | None) -> str:
    return "" if cause is None else word(_CAUSES[cause.through]).format(name=cause.name)


def _is_told(change: Change) -> bool:
    """Return whether the cause of a change is not in its own name."""
    return change.fact is not Fact.PRIORITY


def _came_or_went(presence: Presence) -> tuple[str, ...]:
    said = {Presence.ADDED: "new", Presence.REMOVED: "removed"}.get(presence)
    return (word(said),) if said else ()


# Where the spec has no such key, or its key says too little by itself.
_SAID: Mapping[Fact, str] = {
    Fact.RATE: "rate per card-hour",
    Fact.LASTS: "hours at full quota",
    Fact.SHARE: "share of",
    Fact.CARD_MEMORY: "memory",
    Fact.POOL_PRIORITY: "priority",
    Fact.CARDS_PER_HOST: "cards",
    Fact.CPU: "vCPU",
}
_CAUSES: Mapping[Through, str] = {
    Through.TIER: "through tier {name}",
    Through.OTHER_TIER: "through its new tier {name}",
    Through.OVERRIDE: "through an override",
    Through.POOL: "through pool {name}",
    Through.RATES: "through the rates",
}
