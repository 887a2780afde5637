"""Hosts that come, go, move or become others, in words."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tallyard.cli import session
from tallyard.cli.views.spec_diff_facts import label, texts_of
from tallyard.cli.views.spec_diff_notices import ways_of
from tallyard.cli.views.spec_diff_parts import (
    ARROW,
    COLON,
    SEPARATOR,
    Block,
    Row,
    Section,
    count,
    joined,
    place,
)
from tallyard.cli.words import word, words
from tallyard.spec.changes.hosts import Altered, HostsChange, Move, ranges


def hosts_section(found: tuple[HostsChange, ...], moves: tuple[Move, ...]) -> Section:
    """Return the hosts by pool and model."""
    rows = tuple(
        Row(
            (
                place(each.pool, each.model),
                _hosts_text(each.hosts_before, each.cards_before),
                _hosts_text(each.hosts_after, each.cards_after),
                _signed(each.hosts_after - each.hosts_before),
                SEPARATOR[session.lang()].join(_host_notes(each, moves)),
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


def _host_notes(change: HostsChange, moves: tuple[Move, ...]) -> Iterator[str]:
    here = (change.pool, change.model)
    came = [move for move in moves if (move.pool, move.model) == here]
    went = [move for move in moves if (move.pool_before, move.model_before) == here]
    if joined_only := _without(change.joined, came):
        yield f"{word('new')} {joined(ranges(joined_only))}"
    for move in came:
        yield word("{hosts} from {place}").format(
            hosts=joined(ranges(move.hosts)), place=ways_of(move)[0]
        )
    if left_only := _without(change.left, went):
        yield f"{word('gone')} {joined(ranges(left_only))}"
    for move in went:
        yield word("{hosts} to {place}").format(
            hosts=joined(ranges(move.hosts)), place=ways_of(move)[1]
        )
    yield from map(_altered, change.altered)


def _without(hosts: Iterable[str], moves: Iterable[Move]) -> tuple[str, ...]:
    moved = {host for move in moves for host in move.hosts}
    return tuple(host for host in hosts if host not in moved)


def _altered(found: Altered) -> str:
    differ = joined(
        f"{label(each.fact)} {' '.join((texts_of(each)[0], ARROW, texts_of(each)[1]))}"
        for each in found.changes
    )
    return f"{joined(ranges(found.hosts))}{COLON[session.lang()]}{differ}"


def _signed(number: int) -> str:
    return f"{number:+}" if number else ""


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
