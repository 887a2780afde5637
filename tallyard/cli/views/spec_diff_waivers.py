"""Waivers that come, go or say something else, in words."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterator

from tallyard.cli import session
from tallyard.cli.views.spec_diff_parts import Block, Section, joined
from tallyard.cli.words import word
from tallyard.spec import moments
from tallyard.spec.changes.waivers import WaiverChange
from tallyard.spec.changes.whole import Changes
from tallyard.spec.waiver import Waiver


def waivers_section(found: Changes) -> Section:
    """Return what of the waivers is gone and what is there, a line for each."""
    lines = tuple(line for each in found.waivers for line in _lines(each, found))
    return Section(word("Waivers"), (), (Block("", (), (), lines=lines),))


def waiver_notices(found: Changes) -> Iterator[str]:
    """Yield what the review will let pass from now on, and until when."""
    for each in found.waivers:
        waiver = each.after
        if waiver is None:
            continue
        rule, said = waiver.rule, _said(waiver, found.zone_after)
        if session.lang() == "zh":
            yield f"规则 {rule} {'的豁免有变' if each.before else '被豁免'}：{said}"
        elif each.before:
            yield f"the waiver of the rule {rule} says something else: {said}"
        else:
            yield f"the rule {rule} is waived {said}"


def _lines(change: WaiverChange, found: Changes) -> Iterator[str]:
    sides = (("-", change.before, found.zone_before), ("+", change.after, found.zone_after))
    for sign, waiver, zone in sides:
        if waiver is not None:
            yield f"{sign} {waiver.rule} {_said(waiver, zone)}"


def _said(waiver: Waiver, zone: str) -> str:
    """Return for what a rule is waived, until when and why."""
    until, objects = moments.until(waiver.until, zone), joined(waiver.objects)
    if session.lang() == "zh":
        return f"{objects}，到 {until} 为止（{waiver.reason}）"
    return f"for {objects} until {until} ({waiver.reason})"
