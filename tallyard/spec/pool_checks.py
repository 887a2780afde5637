"""Checks of accelerators, topology and pools."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from tallyard import labels, units
from tallyard.catalog import vendors
from tallyard.spec import fields, rates, resolve
from tallyard.spec.draft import Draft
from tallyard.spec.keys_of_pools import SharingKeys
from tallyard.spec.model import Level
from tallyard.spec.problem import Problem

RESERVED_POOLS = frozenset({labels.CPU_POOL, labels.ROOT_COHORT})


def resources(draft: Draft) -> Iterator[Problem]:
    """Each vendor but NVIDIA says under which resource its cards are offered."""
    for name, card in draft.platform.keys.accelerators.items():
        if resolve.resource(card) is None:
            usual = vendors.USUAL_RESOURCE.get(card.vendor, f"{card.vendor}.com/gpu")
            yield draft.problem_at_key(
                "SPEC312", "accelerators", name, vendor=card.vendor, usual=usual
            )


def slice_names(draft: Draft) -> Iterator[Problem]:
    """A card's resource is that of the whole card; the slices' follows from it."""
    for name, card in draft.platform.keys.accelerators.items():
        is_sliced = card.resource is not None and labels.is_sliced(card.resource)
        if is_sliced and card.vendor in vendors.TIME_SLICING:
            yield draft.problem(
                *("SPEC330", "accelerators", name, "resource"),
                found=card.resource,
                vendor=card.vendor,
                right=(card.resource or "").removesuffix(labels.slice_resource("")),
            )


def accelerator_names(draft: Draft) -> Iterator[Problem]:
    """No two models become the same name of a Kubernetes object."""
    first: dict[str, str] = {}
    for name in draft.platform.keys.accelerators:
        object_name = labels.object_name(name)
        other = first.setdefault(object_name, name)
        if other != name:
            yield draft.problem_at_key(
                "SPEC311", "accelerators", name, found=name, other=other, name=object_name
            )


def accelerators_sold(draft: Draft) -> Iterator[Problem]:
    """Each accelerator is in a pool; else nobody can ask for it (a warning)."""
    owned = {
        name: draft.owned_models(name)
        for name, pool in draft.platform.keys.pools.items()
        if pool.borrows_from is None
    }
    if not draft.is_sound("pools") or None in owned.values():
        return
    sold = {model for models in owned.values() for model in models or ()}
    for name in draft.platform.keys.accelerators:
        if name not in sold:
            yield draft.problem_at_key("SPEC315", "accelerators", name, found=name)


def topology(draft: Draft) -> Iterator[Problem]:
    """Levels stand widest first, each once, down to the host."""
    levels = tuple(Level(level) for level in draft.platform.keys.topology)
    valid = [level for level in Level if level in levels or level is Level.HOST]
    if draft.is_sound("topology") and list(levels) != valid:
        yield draft.problem_at_key("SPEC313", "topology", right=", ".join(valid))


def pool_names(draft: Draft) -> Iterator[Problem]:
    """A pool is not called like the built-in pool or the root of the cohorts."""
    for name in draft.platform.keys.pools:
        if name in RESERVED_POOLS:
            yield draft.problem_at_key("SPEC302", "pools", name, found=name)


def pool_sources(draft: Draft) -> Iterator[Problem]:
    """A pool either lists its models or borrows from a pool that does."""
    pools = draft.platform.keys.pools
    for name, pool in pools.items():
        steps = ("pools", name)
        lender = pools.get(pool.borrows_from or "")
        if pool.models is None and pool.borrows_from is None:
            yield draft.problem_at_key("SPEC303", *steps, found=name)
        if pool.models is not None and pool.borrows_from is not None:
            yield draft.problem_at_key("SPEC304", *steps, "models", lender=pool.borrows_from)
        if lender is not None and lender.borrows_from is not None:
            owners = [key for key, each in pools.items() if each.borrows_from is None]
            yield draft.problem(
                "SPEC305", *steps, "borrows-from", found=pool.borrows_from, choices=owners
            )
        if pool.borrows_from is not None and "borrowed" in pool.model_fields_set:
            yield draft.problem_at_key("SPEC306", *steps, "borrowed", found=name)


def pool_models(draft: Draft) -> Iterator[Problem]:
    """A pool lists a model once."""
    for name, pool in draft.platform.keys.pools.items():
        counts: Counter[str] = Counter()
        for index, model in enumerate(pool.models or ()):
            counts[model] += 1
            if counts[model] == 2:  # noqa: PLR2004 - the second time
                yield draft.problem("SPEC310", "pools", name, "models", index, found=model)


def default_models(draft: Draft) -> Iterator[Problem]:
    """The model for work that names none is one of the pool's."""
    known = draft.names.get("accelerators", ())
    for name, pool in draft.platform.keys.pools.items():
        models = draft.owned_models(pool.borrows_from or name)
        wanted = pool.default_model
        if models is not None and wanted in known and wanted not in models:
            yield draft.problem(
                *("SPEC317", "pools", name, "default-model"),
                found=wanted,
                pool=name,
                choices=models,
            )


def sharing(draft: Draft) -> Iterator[Problem]:
    """Cards are cut by pools that own them, where the plugin can, and not under a promise."""
    keys = draft.platform.keys
    for name, pool in keys.pools.items():
        steps = ("pools", name)
        if pool.borrows_from is not None and "sharing" in pool.model_fields_set:
            yield draft.problem_at_key(
                "SPEC319", *steps, "sharing", found=name, lender=pool.borrows_from
            )
        lender = keys.pools.get(pool.borrows_from or "")
        if lender is not None and isinstance(lender.sharing, SharingKeys):
            yield draft.problem("SPEC320", *steps, "borrows-from", found=pool.borrows_from)
        if not isinstance(pool.sharing, SharingKeys):
            continue
        if pool.scale_within is not None and pool.work == "inference":
            yield draft.problem_at_key("SPEC321", *steps, "scale-within", found=name)
        cards = {model: keys.accelerators.get(model) for model in pool.models or ()}
        whole = [
            model
            for model, card in cards.items()
            if card is not None and card.vendor not in vendors.TIME_SLICING
        ]
        if whole:
            yield draft.problem("SPEC318", *steps, "sharing", found=", ".join(whole), pool=name)


def slice_rates(draft: Draft) -> Iterator[Problem]:
    """Slices cost together what their card costs: a card's rate is divided without a rest."""
    cut = dict(_cut(draft))
    divisors: dict[str, int] = {}
    for slices, models in cut.values():
        # Pools may cut one model differently, and a new rate has to suit them all.
        divisors |= {model: math.lcm(divisors.get(model, 1), slices) for model in models}
    for pool, (slices, models) in cut.items():
        costs = {model: rates.rate(draft, model) for model in models}
        common = math.gcd(*costs.values())
        fitting = [n for n in range(2, fields.SLICES_MAX + 1) if common % n == 0]
        for model, rate in costs.items():
            if rate % slices:
                each = round(Fraction(rate, slices))  # as the ledger rounds
                yield draft.problem(
                    *("SPEC331", "pools", pool, "sharing", "time-slicing"),
                    found=slices,
                    other=model,
                    rate=units.thousandths(rate),
                    line=draft.line("accelerators", model, "rate"),
                    each=units.thousandths(each),
                    total=units.thousandths(slices * each),
                    right=", ".join(map(units.thousandths, rates.nearest(rate, divisors[model]))),
                    choices=fitting,
                )


def _cut(draft: Draft) -> Iterator[tuple[str, tuple[int, tuple[str, ...]]]]:
    """Yield each pool that cuts cards, into how many slices, and those of its models that can be.

    What cannot be cut is told by itself.
    """
    keys = draft.platform.keys
    cards = {name: card.vendor in vendors.TIME_SLICING for name, card in keys.accelerators.items()}
    for name, pool in keys.pools.items():
        slices = resolve.slices(pool)
        if slices > 1 and pool.borrows_from is None:
            models = dict.fromkeys(model for model in pool.models or () if cards.get(model))
            yield name, (slices, tuple(models))


def keys_of_inference(draft: Draft) -> Iterator[Problem]:
    """Only a pool for services has what is promised to services."""
    for name, pool in draft.platform.keys.pools.items():
        promised = {"burst": pool.burst, "scale-within": pool.scale_within}
        said = [key for key, value in promised.items() if value is not None]
        if said and pool.work != "inference":
            # Both without `work: inference` are one slip.
            yield draft.problem_at_key(
                *("SPEC322", "pools", name, said[0]), key=", ".join(said), pool=name
            )


def keys_of_agents(draft: Draft) -> Iterator[Problem]:
    """Only a pool that borrows bounds what agents may start."""
    for name, pool in draft.platform.keys.pools.items():
        for key in ("pods-per-agent", "backoff-limit"):
            is_said = key.replace("-", "_") in pool.model_fields_set
            if is_said and pool.borrows_from is None:
                yield draft.problem_at_key("SPEC323", "pools", name, key, key=key, pool=name)


def inference_owns(draft: Draft) -> Iterator[Problem]:
    """A pool for services has cards of its own: borrowed ones can be taken back at any time."""
    for name, pool in draft.platform.keys.pools.items():
        if pool.work == "inference" and pool.borrows_from is not None:
            yield draft.problem("SPEC325", "pools", name, "borrows-from", found=pool.borrows_from)


def resource_owners(draft: Draft) -> Iterator[Problem]:
    """A resource is one vendor's: two plugins cannot offer the same name."""
    first: dict[str, tuple[str, str]] = {}
    for name, offered in resolve.offered(draft).items():
        card = draft.platform.keys.accelerators[name]
        others = {each: first.setdefault(each, (card.vendor, name)) for each in offered}
        for resource, (vendor, other) in others.items():
            if vendor != card.vendor:
                yield draft.problem(
                    *("SPEC329", "accelerators", name, "resource"),
                    found=resource,
                    vendor=vendor,
                    other=other,
                )
                break


def cpu_pools(draft: Draft) -> Iterator[Problem]:
    """One pool at most runs work without cards: its cohort holds the CPU hosts' whole quota."""
    with_cpu = [name for name, pool in draft.platform.keys.pools.items() if pool.cpu]
    for name in with_cpu[1:]:
        yield draft.problem("SPEC309", "pools", name, "cpu", found=name, other=with_cpu[0])


CHECKS = (
    resources,
    slice_names,
    accelerator_names,
    accelerators_sold,
    resource_owners,
    topology,
    pool_names,
    pool_sources,
    pool_models,
    default_models,
    sharing,
    slice_rates,
    keys_of_inference,
    keys_of_agents,
    inference_owns,
    cpu_pools,
)
