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
    slices_text,
)
from tallyard.cli.views.spec_diff_values import delta_text, value_text
from tallyard.cli.words import word, words
from tallyard.spec import moments
from tallyard.spec.changes.change import Change, Presence, Subject, Through
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


def tier_block(tier: Subject, found: Changes) -> Block:
    """Return what is told of a tier."""
    zh = session.lang() == "zh"
    if tier.used_by:
        names = joined(tier.used_by)
        used = f"项目：{names}" if zh else f"of {names}"
    else:
        used = "没有项目使用" if zh else "no project has it"
    return Block(
        tier.name, (*_came_or_went(tier.presence), used), _rows(tier.changes, found.slices)
    )


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
    rows = _rows(project.changes, found.slices)
    return Block(project.key, facts, rows, tuple(_moves(project)), lines)


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
    if project.rename_of:
        like, id_before = project.rename_of.key, project.rename_of.id
        yield (
            f"可能是 {like} 改名：如果是，请写 `id: {id_before}`"
            if zh
            else f"it may be {like} under a new key: if so, write `id: {id_before}`"
        )
    if project.presence is Presence.REMOVED:
        yield (
            f"命名空间 {new} 及其内容保留"
            if zh
            else f"the namespace {new} stays with what is in it"
        )


def _override_lines(change: OverrideChange, found: Changes) -> Iterator[str]:
    zh = session.lang() == "zh"
    sides = (
        ("-", change.before, found.zone_before, change.is_over_before),
        ("+", change.after, found.zone_after, change.is_over_after),
    )
    for sign, override, zone, is_over in sides:
        if override is None:
            continue
        until, said = moments.until(override.until, zone), joined(_override_parts(override))
        head = f"{sign} {word('override')}"
        if zh:
            over = "，已结束" if is_over else ""
            yield f"{head}至 {until}{over}（{override.reason}）：{said}"
        else:
            over = "that has ended on" if is_over else "until"
            yield f"{head} {over} {until} ({override.reason}): {said}"


def _override_parts(override: Override) -> Iterator[str]:
    for pool, models in override.cards.items():
        yield from (f"{pool} {model} {cards}" for model, cards in models.items())
    for pool, cards in override.borrow.items():
        yield f"{label(Fact.BORROW)} {pool} {cards}"
    if override.core_hours is not None:
        yield f"{label(Fact.CORE_HOURS)} {value_text(override.core_hours, Unit.GRANT)}"
    if override.max_time_seconds is not None:
        yield f"{label(Fact.MAX_TIME)} {value_text(override.max_time_seconds, Unit.SECONDS)}"


def _rows(changes: Iterable[Change], slices: Mapping[str, int] | None = None) -> tuple[Row, ...]:
    return tuple(_row(each, slices or {}) for each in changes)


def _row(change: Change, slices: Mapping[str, int]) -> Row:
    what = " ".join((label(change.fact), *(name for _, name in change.about)))
    if change.fact is Fact.USER and None in {change.before, change.after}:
        return _person_row(what, change)
    before, after = texts_of(change)
    notes = [_slices(change, slices), _cause(change)]
    if max(cell_len(before), cell_len(after)) > _COLUMN_MAX:
        notes.insert(0, f"{before} {ARROW} {after}")
        before = after = ""
    note = SEPARATOR[session.lang()].join(filter(None, notes))
    return Row((what, before, after, delta_text(change), note), change.effect)


def _person_row(what: str, change: Change) -> Row:
    """Return the row of somebody who came or went, or did both: who only moves gains nothing."""
    is_new = change.before is None
    before, after = texts_of(change)
    logins = after if is_new else before
    # Without logins of their own people log in by their names.
    own = "" if logins == dict(change.about)["user"] else logins
    note = SEPARATOR[session.lang()].join(filter(None, (_cause(change), own)))
    if change.cause is not None:
        return Row((what, "", "", word("moved"), note))
    return Row((what, "", "", word("new" if is_new else "gone"), note), 1 if is_new else -1)


def _slices(change: Change, slices: Mapping[str, int]) -> str:
    """Return how many slices the cards are, where the pool cuts them."""
    each = slices.get(dict(change.about).get("pool", ""))
    cards = change.after or change.before
    if each is None or change.unit is not Unit.CARDS or not isinstance(cards, int):
        return ""
    return slices_text(cards, each) if cards else ""


def texts_of(change: Change) -> tuple[str, str]:
    """Return both values in words."""
    nothing = "0" if change.fact is Fact.BORROW else NOTHING
    texts = (value_text(value, change.unit) for value in (change.before, change.after))
    before, after = (text or nothing for text in texts)
    return before, after


def label(fact: Fact) -> str:
    """Return what a fact is called: as in the spec, where it is a key."""
    return word(_SAID.get(fact, fact.value))


def _cause(change: Change) -> str:
    cause = change.cause
    # That the pool has another priority is what the row itself says.
    is_said = change.fact is Fact.PRIORITY and cause and cause.through is Through.POOL
    return "" if cause is None or is_said else word(_CAUSES[cause.through]).format(name=cause.name)


def _came_or_went(presence: Presence) -> tuple[str, ...]:
    said = {Presence.ADDED: "new", Presence.REMOVED: "removed"}.get(presence)
    return (word(said),) if said else ()


# Where the spec has no such key, or its key says too little by itself.
_SAID: Mapping[Fact, str] = {
    Fact.RATE: "rate per card-hour",
    Fact.LASTS: "lasts at full quota",
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
    Through.PRIORITY: "`pulumi up` refuses it",
    Through.FROM_PROJECT: "from project {name}",
    Through.TO_PROJECT: "to project {name}",
}
