"""What there is to grant, of cards and of core-hours, and how much of it is granted, in words."""

# Chinese punctuation is full-width.

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterator

from tallyard.cli import session
from tallyard.cli.views.spec_diff_parts import (
    ARROW,
    SEPARATOR,
    Block,
    Row,
    Section,
    place,
    slices_text,
)
from tallyard.cli.words import word, words
from tallyard.spec.changes.supply import Budget, BudgetChange, Supply, SupplyChange
from tallyard.spec.changes.whole import Changes

type _Amounts = Supply | Budget


def supply_section(found: Changes) -> Section:
    """Return what there is, may be granted, is granted and is not of each model in each pool.

    The core-hours of the whole platform stand below. What may be granted has a column only
    where `overcommit` makes it something else than what there is.
    """
    if not (found.supply or found.budget.differs):
        return Section("", (), ())
    budget = found.budget
    sides: list[_Amounts] = [budget.before, budget.after]
    sides += [side for each in found.supply for side in (each.before, each.after)]
    is_overcommitted = any(side.allowed != _there(side) for side in sides)
    rows = (
        *(_supply_row(each, is_overcommitted=is_overcommitted) for each in found.supply),
        _budget_row(budget, is_overcommitted=is_overcommitted),
    )
    allowed = words("MAY BE GRANTED") if is_overcommitted else ()
    headings = (*words("POOL", "INSTALLED"), *allowed, *words("GRANTED", "NOT GRANTED"))
    right = tuple(range(1, len(headings)))
    block = Block("", (), rows)
    title = word("Cards and core-hours")
    return Section(title, (*headings, ""), (block,), right=right, coloured=right[-1])


def _supply_row(each: SupplyChange, *, is_overcommitted: bool) -> Row:
    cells = _cells(each.before, each.after, is_overcommitted=is_overcommitted)
    note = SEPARATOR[session.lang()].join(_notes(each))
    effect = _sign(each.after.unassigned - each.before.unassigned)
    return Row((place(each.pool, each.model), *cells, note), effect)


def _notes(each: SupplyChange) -> Iterator[str]:
    after = each.after
    if after.granted > after.installed:
        yield word("more granted than installed")
    slices = max(each.before.slices, after.slices)
    if slices > 1:
        now = slices_text(after.installed, after.slices)
        was = slices_text(each.before.installed, each.before.slices)
        is_same = each.before.slices in {1, after.slices}
        yield now if is_same and after.slices > 1 else f"{was} {ARROW} {now}"


def _budget_row(each: BudgetChange, *, is_overcommitted: bool) -> Row:
    cells = _cells(each.before, each.after, is_overcommitted=is_overcommitted)
    effect = _sign(each.after.unassigned - each.before.unassigned)
    return Row((word("core-hours a month"), *cells, _budget_note(each)), effect)


def _budget_note(each: BudgetChange) -> str:
    was, now = each.before.availability, each.after.availability
    share = f"{was}% {ARROW} {now}%" if was and now and was != now else f"{now or was}%"
    if session.lang() == "zh":
        note = f"已安装：所有卡在可用率 {share} 时的产出"
    else:
        note = f"installed: what all cards give at {share} availability"
    if each.after.granted > each.after.given:
        return SEPARATOR[session.lang()].join((note, word("more granted than that")))
    return note


def _cells(before: _Amounts, after: _Amounts, *, is_overcommitted: bool) -> Iterator[str]:
    yield _moved(_there(before), _there(after))
    if is_overcommitted:
        yield _moved(before.allowed, after.allowed)
    yield _moved(before.granted, after.granted)
    yield _moved(before.unassigned, after.unassigned)


def _there(side: _Amounts) -> int:
    return side.installed if isinstance(side, Supply) else side.given


def _moved(before: int, after: int) -> str:
    return str(after) if before == after else f"{before} {ARROW} {after}"


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
