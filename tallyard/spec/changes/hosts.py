"""Which hosts come, go, move between pools, or become others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tallyard.spec.changes.change import Change, Facts, compared
from tallyard.spec.changes.facts import Fact
from tallyard.spec.model import Node, Platform

_LAST_NUMBER = re.compile(r"(.*?)([0-9]+)([^0-9]*)", re.ASCII | re.DOTALL)


@dataclass(frozen=True)
class Altered:
    """Hosts that stay and differ in the same way."""

    hosts: tuple[str, ...]
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class HostsChange:
    """The hosts of one model in one pool; `model` is None for hosts without cards.

    `hosts_*` and `cards_*` are numbers; `joined`, `left` and `altered` name hosts.
    """

    pool: str
    model: str | None
    hosts_before: int
    hosts_after: int
    cards_before: int
    cards_after: int
    joined: tuple[str, ...]
    left: tuple[str, ...]
    altered: tuple[Altered, ...]


@dataclass(frozen=True)
class Move:
    """Hosts that stand in another pool than before, or have cards of another model."""

    hosts: tuple[str, ...]
    pool_before: str
    pool: str
    model_before: str | None
    model: str | None


def host_changes(before: Platform | None, after: Platform | None) -> Iterator[HostsChange]:
    """Yield the pools and models whose hosts differ."""
    old, new = _grouped(before), _grouped(after)
    for pool, model in dict.fromkeys((*new, *old)):
        was, now = old.get((pool, model), {}), new.get((pool, model), {})
        found = HostsChange(
            pool=pool,
            model=model,
            hosts_before=len(was),
            hosts_after=len(now),
            cards_before=sum(node.cards for node in was.values()),
            cards_after=sum(node.cards for node in now.values()),
            joined=tuple(name for name in now if name not in was),
            left=tuple(name for name in was if name not in now),
            altered=tuple(_altered(was, now)),
        )
        if found.joined or found.left or found.altered:
            yield found


def moves(before: Platform | None, after: Platform | None) -> Iterator[Move]:
    """Yield the hosts that go from one pool or model to another, those together that go alike."""
    old = {node.name: node for node in before.nodes} if before else {}
    alike: dict[tuple[str, str, str | None, str | None], list[str]] = {}
    for node in after.nodes if after else ():
        was = old.get(node.name)
        if was is not None and (was.pool, was.model) != (node.pool, node.model):
            way = (was.pool, node.pool, was.model, node.model)
            alike.setdefault(way, []).append(node.name)
    yield from (Move(tuple(hosts), *way) for way, hosts in alike.items())


def ranges(names: Iterable[str]) -> tuple[str, ...]:
    """Return names as the spec writes them, in ranges: `a100-[00-03,07]`.

    Those that differ in their last number alone, and write it with as many digits, are one
    range. The order is that of the names.
    """
    groups: dict[tuple[str, int, str], list[int]] = {}
    for name in dict.fromkeys(names):
        found = _LAST_NUMBER.fullmatch(name)
        if found is None:
            groups[name, 0, ""] = []
            continue
        prefix, number, suffix = found.groups()
        groups.setdefault((prefix, len(number), suffix), []).append(int(number))
    return tuple(_range(*key, numbers) for key, numbers in groups.items())


def _range(prefix: str, width: int, suffix: str, numbers: list[int]) -> str:
    if not numbers:
        return prefix
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    parts = [
        f"{first:0{width}d}" if first == last else f"{first:0{width}d}-{last:0{width}d}"
        for first, last in runs
    ]
    inside = ",".join(parts)
    return f"{prefix}{inside}{suffix}" if len(numbers) == 1 else f"{prefix}[{inside}]{suffix}"


type _Groups = Mapping[tuple[str, str | None], Mapping[str, Node]]


def _grouped(platform: Platform | None) -> _Groups:
    groups: dict[tuple[str, str | None], dict[str, Node]] = {}
    for node in platform.nodes if platform else ():
        groups.setdefault((node.pool, node.model), {})[node.name] = node
    return groups


def _altered(was: Mapping[str, Node], now: Mapping[str, Node]) -> Iterator[Altered]:
    """Yield the hosts that stay and differ, those together that differ alike."""
    alike: dict[tuple[Change, ...], list[str]] = {}
    for name, node in now.items():
        if name in was and (changes := compared(_facts(was[name]), _facts(node))):
            alike.setdefault(changes, []).append(name)
    yield from (Altered(tuple(names), changes) for changes, names in alike.items())


def _facts(node: Node) -> Facts:
    return {
        (Fact.CARDS_PER_HOST, ()): node.cards,
        (Fact.CPU, ()): node.cpu,
        (Fact.MEMORY, ()): node.memory_bytes,
        (Fact.LINKS, ()): node.links,
        (Fact.BLOCK, ()): node.block,
        (Fact.RACK, ()): node.rack,
    }
