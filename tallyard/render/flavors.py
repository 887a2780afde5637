"""Which hosts a quota is for: the topology and one flavor for each model in each pool.

Kueue makes a flavor with a topology immutable, and the levels of a topology too. Both
therefore end in a hash of their content: a changed flavor is a new one beside the old.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tallyard import labels
from tallyard.render.manifest import Manifest, manifest
from tallyard.spec.model import Level, Platform
from tallyard.units import thousandths

NODE_LABEL_OF_LEVEL: Mapping[Level, str] = {
    Level.BLOCK: labels.NODE_BLOCK,
    Level.RACK: labels.NODE_RACK,
    Level.HOST: labels.NODE_HOSTNAME,
}


@dataclass(frozen=True, kw_only=True)
class Flavor:
    """Hosts that are alike. This one alone stands for the CPU hosts."""

    name: str
    pool: str
    node_labels: Mapping[str, str]
    tolerations: tuple[Mapping[str, str], ...]
    topology: str


@dataclass(frozen=True, kw_only=True)
class CardFlavor(Flavor):
    """The hosts of one model in one pool.

    `resource` is what their cards are requested by; each card counts as `slices` of it.
    """

    model: str
    resource: str
    slices: int


def topology_manifest(platform: Platform) -> Manifest:
    """Return the topology that every flavor uses."""
    return manifest(
        "topology",
        name=_topology_name(platform),
        levels=_levels(platform),
    )


def flavor_manifests(platform: Platform) -> Iterator[Manifest]:
    """Yield every flavor, in the order of the pools."""
    for flavor in all_flavors(platform):
        yield manifest(
            "resource-flavor",
            name=flavor.name,
            node_labels=flavor.node_labels,
            tolerations=flavor.tolerations,
            topology=flavor.topology,
            # No part of the name: another price is the same flavor with another annotation.
            annotations=_rate(platform, flavor),
        )


def all_flavors(platform: Platform) -> tuple[Flavor, ...]:
    """Return every flavor: those with cards in the order of the pools, the CPU hosts last."""
    with_cards = (
        flavor
        for pool in platform.pools.values()
        if pool.borrows_from is None
        for flavor in pool_flavors(platform, pool.name)
    )
    return (*with_cards, *cpu_flavors(platform))


def pool_flavors(platform: Platform, pool: str) -> tuple[CardFlavor, ...]:
    """Return the flavors of one pool's cards, in the order in which Kueue is to try them."""
    return tuple(_card_flavor(platform, pool, model) for model in platform.pools[pool].models)


def cpu_flavors(platform: Platform) -> tuple[Flavor, ...]:
    """Return the flavor of the CPU hosts, or nothing where there are none."""
    if not platform.nodes_of(labels.CPU_POOL, None):
        return ()
    node_labels = {labels.NODE_POOL: labels.CPU_POOL}
    # Every flavor has a topology, this one too: Kueue refuses a queue that mixes.
    topology = _topology_name(platform)
    flavor = Flavor(
        name=_name((labels.CPU_POOL,), [node_labels, topology]),
        pool=labels.CPU_POOL,
        node_labels=node_labels,
        tolerations=(),
        topology=topology,
    )
    return (flavor,)


def card_resource(platform: Platform, pool: str, model: str) -> str:
    """Return the resource by which cards of a model, or their slices, are requested in a pool."""
    resource = platform.accelerators[model].resource
    return labels.slice_resource(resource) if platform.pools[pool].slices > 1 else resource


def _card_flavor(platform: Platform, pool: str, model: str) -> CardFlavor:
    accelerator = platform.accelerators[model]
    node_labels = {
        labels.NODE_POOL: pool,
        labels.NODE_MODEL: model,
        # Users select on these two; a flavor that lacks them would not be chosen by them.
        labels.GPU_MODEL: model,
        labels.GPU_MEMORY: accelerator.memory,
    }
    # The toleration comes with the flavor and never from a user's template, so that only
    # work with a quota in this pool gets onto its hosts.
    toleration = {
        "key": labels.POOL_TAINT,
        "operator": "Equal",
        "value": pool,
        "effect": labels.NO_SCHEDULE,
    }
    topology = _topology_name(platform)
    return CardFlavor(
        name=_name((pool, model), [node_labels, toleration, topology]),
        pool=pool,
        model=model,
        resource=card_resource(platform, pool, model),
        slices=platform.pools[pool].slices,
        node_labels=node_labels,
        tolerations=(toleration,),
        topology=topology,
    )


def _rate(platform: Platform, flavor: Flavor) -> Mapping[str, str]:
    """Return what a card, or a slice of one, costs for an hour; nothing for the CPU hosts."""
    if not isinstance(flavor, CardFlavor):
        return {}
    # Without a rest: the spec is refused where the slices do not divide the rate.
    milli = platform.accelerators[flavor.model].rate_milli // flavor.slices
    return {labels.RATE: thousandths(milli)}


def _name(parts: tuple[str, ...], content: object) -> str:
    return "-".join([*map(labels.object_name, parts), _content_hash(content)])


def _levels(platform: Platform) -> tuple[str, ...]:
    return tuple(NODE_LABEL_OF_LEVEL[level] for level in platform.topology)


def _topology_name(platform: Platform) -> str:
    return f"{labels.ROOT_COHORT}-{_content_hash(_levels(platform))}"


def _content_hash(content: object) -> str:
    """Return six hex digits: enough to tell the few versions of one object apart."""
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()[:6]
