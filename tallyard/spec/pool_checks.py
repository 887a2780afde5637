"""Checks of accelerators, topology, priorities and pools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tallyard import labels
from tallyard.catalog import vendors
from tallyard.spec.document import PoolKeys, PriorityKeys
from tallyard.spec.draft import Draft
from tallyard.spec.model import Level
from tallyard.spec.problem import Problem

RESERVED_POOLS = frozenset({labels.CPU_POOL, labels.ROOT_COHORT})


def resources(draft: Draft) -> Iterator[Problem]:
    """Each vendor but NVIDIA says under which resource its cards are offered."""
    for name, card in draft.platform.keys.accelerators.items():
        if card.resource is None and card.vendor not in vendors.DEFAULT_RESOURCE:
            usual = vendors.USUAL_RESOURCE.get(card.vendor, f"{card.vendor}.com/gpu")
            yield draft.problem_at_key(
                "SPEC312", "accelerators", name, vendor=card.vendor, usual=usual
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
            told = draft.problem_at_key("SPEC315", "accelerators", name, found=name)
            yield Problem(told.code, told.location, told.path, told.values, is_error=False)


def topology(draft: Draft) -> Iterator[Problem]:
    """Levels stand widest first, each once, down to the host."""
    levels = tuple(Level(level) for level in draft.platform.keys.topology)
    valid = [level for level in Level if level in levels or level is Level.HOST]
    if draft.is_sound("topology") and list(levels) != valid:
        yield draft.problem_at_key("SPEC313", "topology", right=", ".join(valid))


def priority_names(draft: Draft) -> Iterator[Problem]:
    """A priority is named once, and not like those of Kubernetes itself."""
    seen: set[str] = set()
    for index, priority in enumerate(draft.platform.keys.priorities):
        steps = ("priorities", index, "name")
        if priority.name in seen:
            yield draft.problem("SPEC301", *steps, found=priority.name)
        if priority.name.startswith("system-"):
            yield draft.problem("SPEC314", *steps, found=priority.name)
        seen.add(priority.name)


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


def borrowing_priorities(draft: Draft) -> Iterator[Problem]:
    """Borrowed cards are for lower priorities than their owners': Kueue takes back from those only."""
    pools = draft.platform.keys.pools
    # Of two with one name, which is told by itself, the first counts.
    priorities = {each.name: each for each in reversed(draft.platform.keys.priorities)}
    for name, pool in pools.items():
        priority = priorities.get(pool.priority)
        if pool.borrows_from is None or priority is None:
            continue
        if not priority.preemptible:
            yield draft.problem("SPEC307", "pools", name, "priority", found=priority.name)
        elif _is_not_lower(priority, pools.get(pool.borrows_from), priorities):
            yield draft.problem(
                "SPEC308",
                "pools",
                name,
                "priority",
                found=priority.name,
                value=priority.value,
                lender=pool.borrows_from,
                other=pools[pool.borrows_from].priority,
                other_value=priorities[pools[pool.borrows_from].priority].value,
            )


def _is_not_lower(
    priority: PriorityKeys, lender: PoolKeys | None, priorities: dict[str, PriorityKeys]
) -> bool:
    if lender is None or lender.borrows_from is not None:
        return False  # told by itself
    other = priorities.get(lender.priority)
    return other is not None and priority.value >= other.value


def cpu_pools(draft: Draft) -> Iterator[Problem]:
    """One pool at most runs work without cards: its cohort holds the CPU hosts' whole quota."""
    with_cpu = [name for name, pool in draft.platform.keys.pools.items() if pool.cpu]
    for name in with_cpu[1:]:
        yield draft.problem("SPEC309", "pools", name, "cpu", found=name, other=with_cpu[0])


CHECKS = (
    resources,
    accelerator_names,
    accelerators_sold,
    topology,
    priority_names,
    pool_names,
    pool_sources,
    pool_models,
    borrowing_priorities,
    cpu_pools,
)
