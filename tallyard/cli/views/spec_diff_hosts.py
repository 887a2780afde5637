"""Hosts, and what they leave of cards to grant and to borrow, in words."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterator

from tallyard.cli import session
from tallyard.cli.views.spec_diff_facts import label, texts_of
from tallyard.cli.views.spec_diff_parts import ARROW, SEPARATOR, Block, Row, Section, count, joined
from tallyard.cli.words import word, words
from tallyard.spec.changes.hosts import Altered, HostsChange, SupplyChange, ranges


def hosts_section(found: tuple[HostsChange, ...]) -> Section:
    """Return the hosts by pool and model."""
    rows = tuple(
        Row(
            (
                f"{each.pool} {each.model}" if each.model else each.pool,
                _hosts_text(each.hosts_before, each.cards_before),
                _hosts_text(each.hosts_after, each.cards_after),
                _signed(each.hosts_after - each.hosts_before),
                SEPARATOR[session.lang()].join(_host_notes(each)),
            ),
            _sign(each.hosts_after - each.hosts_before),
        )
        for each in found
    )
    headings = (*words("POOL", "FROM", "TO", "CHANGE"), "")
    block = Block("", (), rows)
    title = word("Hosts")
    return Section(title, headings, (block,), right=(1, 2, 3), coloured=3, is_detail=True)


def _hosts_text(hosts: int, cards: int) -> str:
    if session.lang() == "zh":
        return f"{hosts} 台" + (f"，{cards} 张卡" if cards else "")
    return count(hosts, "host", "hosts") + (f", {count(cards, 'card', 'cards')}" if cards else "")


def _host_notes(change: HostsChange) -> Iterator[str]:
    if change.joined:
        yield f"{word('new')} {joined(ranges(change.joined))}"
    if change.left:
        yield f"{word('gone')} {joined(ranges(change.left))}"
    yield from map(_altered, change.altered)


def _altered(found: Altered) -> str:
    differ = ", ".join(
        f"{label(each.fact)} {' '.join((texts_of(each)[0], ARROW, texts_of(each)[1]))}"
        for each in found.changes
    )
    return f"{joined(ranges(found.hosts))}: {differ}"


def supply_section(found: tuple[SupplyChange, ...]) -> Section:
    """Return what is installed, granted and left of each model in each pool."""
    rows = tuple(
        Row(
            (
                f"{each.pool} {each.model}",
                _moved(each.before.installed, each.after.installed),
                _moved(each.before.granted, each.after.granted),
                _moved(each.before.unassigned, each.after.unassigned),
                word("more granted than installed")
                if each.after.granted > each.after.installed
                else "",
            ),
            _sign(each.after.unassigned - each.before.unassigned),
        )
        for each in found
    )
    headings = (*words("POOL", "INSTALLED", "GRANTED", "LEFT TO BORROW"), "")
    block = Block("", (), rows)
    return Section(word("Cards"), headings, (block,), right=(1, 2, 3), coloured=3)


def _moved(before: int, after: int) -> str:
    return str(after) if before == after else f"{before} {ARROW} {after}"


def _signed(number: int) -> str:
    return f"{number:+}" if number else ""


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
