"""That no more is promised than the hosts have: cards, and what goes with them."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from policies.finding import Finding, Text, about
from policies.planned import Planned, mappings
from tallyard import labels
from tallyard.render.capacity import BASE_RESOURCES, CPU, MEMORY, STORAGE, of_hosts
from tallyard.render.flavors import CardFlavor, Flavor, all_flavors
from tallyard.render.manifest import Manifest
from tallyard.units import BYTES_MAX, QuantityError, format_bytes, format_cpu, parse_cpu

_WHOLE = 1000
_MILLI = 1000
_BYTES = frozenset({MEMORY, STORAGE})


def quota_within_capacity(planned: Planned) -> Iterator[Finding]:
    """The quotas of all queues and cohorts together are what is installed, at most.

    Of each flavor: its cards, and the vCPU, memory, disk and pods of its hosts.

    Seen: a pool of 8 cards with two tiers of 6 each; Kueue admitted 12 and 4 waited for ever
    on their hosts.
    """
    promised: Counter[tuple[str, str]] = Counter()
    largest: dict[tuple[str, str], Manifest] = {}
    # In whatever order a plan has them, the same queue is told of.
    for key, amount, each in sorted(
        _promises(planned), key=lambda each: (-each[1], each[2].kind, each[2].name)
    ):
        promised[key] += amount
        largest.setdefault(key, each)
    flavors = {f.name: f for f in all_flavors(planned.platform)}
    unknown: dict[str, list[str]] = defaultdict(list)
    for (name, resource), amount in promised.items():
        flavor, subject = flavors.get(name), largest[name, resource]
        if flavor is not None and resource in BASE_RESOURCES:
            yield from _beside_cards(planned, flavor, resource, amount, subject)
        elif isinstance(flavor, CardFlavor) and resource == flavor.resource:
            yield from _cards(planned, flavor, amount, subject)
        # Of what a flavor has not, each lists nothing.
        elif amount:
            unknown[name].append(resource)
    for name, resources in unknown.items():
        yield _unknown(name, sorted(resources), largest[name, resources[0]])


def _promises(planned: Planned) -> Iterator[tuple[tuple[str, str], int, Manifest]]:
    """Yield the quotas: of which flavor and resource, how much, by whom."""
    for each in planned.of_kind("ClusterQueue", "Cohort"):
        for group in mappings(each.object, "spec", "resourceGroups"):
            for flavor in mappings(group, "flavors"):
                for resource in mappings(flavor, "resources"):
                    key = (str(flavor.get("name")), str(resource.get("name")))
                    yield key, quantity(key[1], resource.get("nominalQuota")), each


def quantity(resource: str, quota: Any) -> int:
    """Return thousandths of vCPU, or how many; a part of one is one that cannot be had."""
    if quota is None:
        return 0
    try:
        milli = parse_cpu(str(quota))
    except QuantityError:
        # The API server refuses it, or it is in exbibytes, which no host has.
        return BYTES_MAX
    return milli if resource == CPU else -(-milli // _MILLI)


def _cards(
    planned: Planned, flavor: CardFlavor, amount: int, largest: Manifest
) -> Iterator[Finding]:
    cards = planned.platform.cards_installed(flavor.pool, flavor.model) * flavor.slices
    most = int(cards * _overcommit(planned))
    if amount > most:
        text = _too_much(largest, flavor, amount, most, cards)
        yield about("quota-within-capacity", text, largest, _grant(planned, largest, flavor))


def _too_much(
    largest: Manifest, flavor: CardFlavor, amount: int, most: int, installed: int
) -> Text:
    what = f"{flavor.model} in pool {flavor.pool}"
    allowed = f"{installed} are installed"
    if most != installed:
        allowed += f", {most} may be promised"
    return Text(
        f"{amount} {what} are promised, most of them by {largest.name}, and {allowed}: promise "
        "less, or say `overcommit`",
        f"资源池 {flavor.pool} 的 {flavor.model} 共承诺 {amount}（其中 {largest.name} 最多），"
        f"已安装 {installed}，最多可承诺 {most}：请减少承诺，或写明 overcommit",
    )


def _beside_cards(
    planned: Planned, flavor: Flavor, resource: str, amount: int, largest: Manifest
) -> Iterator[Finding]:
    """Yield where more goes with the cards than their hosts have, by as much as cards may."""
    is_of_cards = isinstance(flavor, CardFlavor)
    model = flavor.model if isinstance(flavor, CardFlavor) else None
    there = of_hosts(planned.platform.nodes_of(flavor.pool, model)).quantities()[resource]
    most = int(quantity(resource, there) * (_overcommit(planned) if is_of_cards else 1))
    if amount > most:
        text = Text(
            f"{_shown(resource, amount)} {resource} of flavor {flavor.name} are promised, most of "
            f"it by {largest.name}, and {_shown(resource, most)} may be: make the quotas from the "
            "spec",
            f"规格 {flavor.name} 的 {resource} 共承诺 {_shown(resource, amount)}"
            f"（其中 {largest.name} 最多），最多可承诺 {_shown(resource, most)}："
            "配额应由规格生成",
        )
        path = _grant(planned, largest, flavor) if isinstance(flavor, CardFlavor) else "pools"
        yield about("quota-within-capacity", text, largest, path)


def _shown(resource: str, amount: int) -> str:
    if resource == CPU:
        return format_cpu(amount)
    return format_bytes(amount) if resource in _BYTES else str(amount)


def _unknown(flavor: str, resources: list[str], largest: Manifest) -> Finding:
    text = Text(
        f"{largest.name} promises {', '.join(resources)} of flavor {flavor}, which no host of the "
        "spec has: make it from the spec",
        f"{largest.name} 承诺了 {flavor} 的 {'、'.join(resources)}，规格中没有这样的主机："
        "应由规格生成",
    )
    return about("quota-within-capacity", text, largest, "pools")


def _overcommit(planned: Planned) -> Fraction:
    return Fraction(planned.platform.overcommit.cards_milli, _WHOLE)


def _grant(planned: Planned, queue: Manifest, flavor: CardFlavor) -> str:
    """Return the key that grants a queue its cards."""
    project = next(
        (
            project
            for project in planned.platform.projects.values()
            if queue.name == labels.cluster_queue(project.id, flavor.pool)
        ),
        None,
    )
    if project is None:
        return f"pools.{flavor.pool}"
    return f"tiers.{project.tier.name}.cards.{flavor.pool}.{flavor.model}"
