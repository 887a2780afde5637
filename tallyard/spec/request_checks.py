"""Checks of what goes with cards: the vCPU and memory that a request for them gets are there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from tallyard import units
from tallyard.spec import hosts
from tallyard.spec.document import HostsKeys
from tallyard.spec.draft import Draft
from tallyard.spec.problem import Problem


@dataclass(frozen=True)
class _Short:
    """Hosts that have too little of something for a request for all of their cards."""

    index: int
    key: str
    wanted: int
    has: int


def requests(draft: Draft) -> Iterator[Problem]:
    """A request for all cards of a host gets no more besides them than the host has."""
    if not draft.is_sound("defaults"):
        return
    per_card = draft.platform.keys.defaults.per_card
    groups = dict(enumerate(draft.overlay.keys.nodes))
    usual = ("defaults", "per-card")
    short = list(_short(groups, per_card.cpu, per_card.memory))
    yield from _short_of(draft, "SPEC417", short, groups, usual)
    told = {(each.index, each.key) for each in short}
    by_model: dict[str | None, dict[int, HostsKeys]] = {}
    for index, group in groups.items():
        by_model.setdefault(group.model, {})[index] = group
    for model, card in draft.platform.keys.accelerators.items():
        if card.includes is None:
            continue
        own = by_model.get(model, {})
        found = _short(own, card.includes.cpu, card.includes.memory)
        # Hosts that have too little for the default have it for the rate as well.
        rest = [each for each in found if (each.index, each.key) not in told]
        yield from _short_of(draft, "SPEC418", rest, own, ("accelerators", model, "includes"))


def _short(groups: Mapping[int, HostsKeys], cpu: int, memory: str) -> Iterator[_Short]:
    for index, group in groups.items():
        cards = group.cards or 0
        amounts = (
            ("cpu", cpu * cards, group.cpu),
            ("memory", units.parse_bytes(memory) * cards, units.parse_bytes(group.memory)),
        )
        for key, wanted, has in amounts:
            if wanted > has:
                yield _Short(index, key, wanted, has)


def _short_of(
    draft: Draft,
    code: str,
    short: Iterable[_Short],
    groups: Mapping[int, HostsKeys],
    usual: tuple[str, ...],
) -> Iterator[Problem]:
    """Yield a problem for each hosts that are short; one where all are, at what is asked."""
    for key in ("cpu", "memory"):
        found = [each for each in short if each.key == key]
        with_cards = [index for index, group in groups.items() if group.cards]
        is_everywhere = 1 < len(found) == len(with_cards)
        if is_everywhere:
            found = [max(found, key=lambda each: Fraction(each.wanted, each.has))]
        for each in found:
            group = groups[each.index]
            steps = (*usual, key) if is_everywhere else ("nodes", each.index, key)
            yield draft.problem(
                *(code, *steps),
                found=getattr(group, key),
                host=_first(group),
                cards=group.cards,
                model=group.model,
                key=key,
                wanted=each.wanted if key == "cpu" else units.format_bytes(each.wanted),
            )


def _first(group: HostsKeys) -> str:
    try:
        return hosts.expand(group.hosts)[0]
    except hosts.RangeError:
        return group.hosts  # told by the checks of hosts


CHECKS = (requests,)
