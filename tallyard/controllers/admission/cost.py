"""What a Workload costs for an hour: at most, before it has quota; and as it was given. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tallyard import labels, units
from tallyard.cluster.node_selection import admits
from tallyard.cluster.workloads import PodSet, Workload
from tallyard.ledger import pricing
from tallyard.ledger.books import Books
from tallyard.ledger.pricing import Ask
from tallyard.render.flavors import CardFlavor, pool_flavors
from tallyard.spec.model import Platform

_MEMORY = "memory"


@dataclass(frozen=True)
class Cost:
    """What all pods of a Workload cost together for an hour, in thousandths of a core-hour.

    `pods` has the rate of one pod by pod set; `asked` is how people say it, `2 x A100-SXM4-40GB`.
    """

    asked: str
    rate_milli: int
    pods: Mapping[str, int]


@dataclass(frozen=True)
class NoHosts:
    """A pod set that fits no hosts of its queue: it can never run, whatever is available."""

    pod_set: str
    queue: str


@dataclass(frozen=True)
class Tariff:
    """By what work is priced: the spec, and what each model's card costs at one moment."""

    platform: Platform
    books: Books
    at: int

    def card(self, model: str) -> int:
        """Return what a whole card costs for an hour, in thousandths of a core-hour."""
        known = self.books.rate_at(model, self.at)
        return self.platform.accelerators[model].rate_milli if known is None else known


def at_most(tariff: Tariff, work: Workload) -> Cost | NoHosts:
    """Return what a Workload costs on the dearest hosts that it may get, with all its pods."""
    chosen: dict[str, CardFlavor | None] = {}
    for pod_set in work.pod_sets:
        dearest = _dearest(tariff, work.queue, pod_set)
        if isinstance(dearest, NoHosts):
            return dearest
        chosen[pod_set.name] = dearest
    return _cost(tariff, work, {each.name: each.count for each in work.pod_sets}, chosen)


def as_given(tariff: Tariff, work: Workload) -> Cost | None:
    """Return what a Workload costs as quota was reserved for it; None before that.

    Partial admission gives fewer pods than were asked for, and another model may be cheaper.
    """
    if not work.has_quota or any(each.given is None for each in work.pod_sets):
        return None
    by_name = {flavor.name: flavor for flavor in _flavors(tariff.platform, work.queue)}
    chosen = {
        each.name: next((by_name[f] for f in each.flavors.values() if f in by_name), None)
        for each in work.pod_sets
    }
    return _cost(tariff, work, {each.name: each.pods for each in work.pod_sets}, chosen)


def _dearest(tariff: Tariff, queue: str, pod_set: PodSet) -> CardFlavor | NoHosts | None:
    """Return the flavor on which a pod costs most, or None for one without cards."""
    asking = [f for f in _flavors(tariff.platform, queue) if pod_set.requests.get(f.resource)]
    if not asking:
        return NoHosts(pod_set.name, queue) if _asks_cards(tariff.platform, pod_set) else None
    fitting = [flavor for flavor in asking if admits(pod_set.spec, flavor.node_labels)]
    if not fitting:
        return NoHosts(pod_set.name, queue)
    return max(fitting, key=lambda flavor: _rate(tariff, pod_set, flavor))


def _flavors(platform: Platform, queue: str) -> tuple[CardFlavor, ...]:
    """Return the flavors with cards of a queue, which is called like its pool."""
    pool = platform.pools.get(queue)
    return () if pool is None else pool_flavors(platform, pool.cohort)


def _asks_cards(platform: Platform, pod_set: PodSet) -> bool:
    whole = {card.resource for card in platform.accelerators.values()}
    sliced = map(labels.slice_resource, whole)
    return any(pod_set.requests.get(name) for name in (*whole, *sliced))


def _rate(tariff: Tariff, pod_set: PodSet, flavor: CardFlavor | None) -> int:
    cpu, memory = (pod_set.requests.get(name, 0) for name in (units.CPU, _MEMORY))
    if flavor is None:
        return pricing.rate(tariff.platform, Ask(cpu, memory))
    slices = pod_set.requests[flavor.resource]
    ask = Ask(cpu, memory, flavor.model, slices, flavor.slices)
    return pricing.rate(tariff.platform, ask, tariff.card(flavor.model))


def _cost(
    tariff: Tariff,
    work: Workload,
    counts: Mapping[str, int],
    chosen: Mapping[str, CardFlavor | None],
) -> Cost:
    pods = {each.name: _rate(tariff, each, chosen[each.name]) for each in work.pod_sets}
    rate_milli = sum(rate * counts[name] for name, rate in pods.items())
    return Cost(", ".join(_asked(work, counts, chosen)), rate_milli, pods)


def _asked(
    work: Workload, counts: Mapping[str, int], chosen: Mapping[str, CardFlavor | None]
) -> Iterator[str]:
    """Yield what is asked, each model once: `2 x A100-SXM4-40GB`, or `4 vCPU` without cards."""
    cards: dict[str, int] = {}
    for each in work.pod_sets:
        flavor = chosen[each.name]
        if flavor is not None:
            unit = f"{flavor.model} slice" if labels.is_sliced(flavor.resource) else flavor.model
            count = counts[each.name] * each.requests[flavor.resource]
            cards[unit] = cards.get(unit, 0) + count
    if not cards:
        cpu = sum(counts[each.name] * each.requests.get(units.CPU, 0) for each in work.pod_sets)
        yield f"{units.vcpu(cpu)} vCPU"
    yield from (f"{count} x {unit}" for unit, count in cards.items())
