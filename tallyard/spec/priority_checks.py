"""Checks of priorities: each is one, is used, and stands where its pools need it."""

from __future__ import annotations

from collections.abc import Iterator

from tallyard.spec.draft import Draft
from tallyard.spec.keys_of_pools import PoolKeys, PriorityKeys
from tallyard.spec.problem import Problem


def names(draft: Draft) -> Iterator[Problem]:
    """A priority is named once, and not like those of Kubernetes itself."""
    seen: set[str] = set()
    for index, priority in enumerate(draft.platform.keys.priorities):
        steps = ("priorities", index, "name")
        if priority.name in seen:
            yield draft.problem("SPEC301", *steps, found=priority.name)
        if priority.name.startswith("system-"):
            yield draft.problem("SPEC314", *steps, found=priority.name)
        seen.add(priority.name)


def values(draft: Draft) -> Iterator[Problem]:
    """Two priorities of one value are one: neither goes first, neither gives cards back."""
    # Of two of which one must be the lower, that is told.
    told = {frozenset((p.values["found"], p.values.get("other"))) for p in ranks(draft)}
    first: dict[int, str] = {}
    for index, priority in enumerate(draft.platform.keys.priorities):
        other = first.setdefault(priority.value, priority.name)
        if other != priority.name and {other, priority.name} not in told:
            yield draft.problem(
                *("SPEC328", "priorities", index, "value"), found=priority.value, other=other
            )


def used(draft: Draft) -> Iterator[Problem]:
    """Each priority is some pool's; else nothing ever has it."""
    named = {pool.priority for pool in draft.platform.keys.pools.values()}
    known = {priority.name for priority in draft.platform.keys.priorities}
    if not draft.is_sound("pools") or not named <= known or any(ranks(draft)):
        return  # a pool whose priority is refused may have meant the one that none has
    for index, priority in enumerate(draft.platform.keys.priorities):
        if priority.name not in named:
            yield draft.problem("SPEC327", "priorities", index, "name", found=priority.name)


def ranks(draft: Draft) -> Iterator[Problem]:
    """Who must go first does, and who must give cards back can be stopped for it.

    A priority that is wrong for several pools is told at the first of them.
    """
    told: set[tuple[str, object]] = set()
    for problem in (*_borrowing_ranks(draft), *_inference_ranks(draft)):
        what = (problem.code, problem.values["found"])
        if what not in told:
            told.add(what)
            yield problem


def _borrowing_ranks(draft: Draft) -> Iterator[Problem]:
    """Borrowed cards are for lower priorities than their owners': Kueue takes back from those only."""
    pools, priorities = draft.platform.keys.pools, _priorities(draft)
    for name, pool in pools.items():
        priority = priorities.get(pool.priority)
        if pool.borrows_from is None or priority is None or pool.work == "inference":
            continue
        steps = ("pools", name, "priority")
        if not priority.preemptible:
            yield draft.problem("SPEC307", *steps, found=priority.name)
        elif _is_not_lower(priority, pools.get(pool.borrows_from), priorities):
            other = pools[pool.borrows_from].priority
            yield draft.problem(
                *("SPEC308", *steps),
                found=priority.name,
                value=priority.value,
                lender=pool.borrows_from,
                other=other,
                other_value=priorities[other].value,
            )


def _is_not_lower(
    priority: PriorityKeys, lender: PoolKeys | None, priorities: dict[str, PriorityKeys]
) -> bool:
    if lender is None or lender.borrows_from is not None:
        return False  # told by itself
    other = priorities.get(lender.priority)
    return other is not None and priority.value >= other.value


def _inference_ranks(draft: Draft) -> Iterator[Problem]:
    """Inference outranks all batch work, and nothing can take its cards back."""
    pools, priorities = draft.platform.keys.pools, _priorities(draft)
    # Who borrows is lower than an owner, or that is told; and where something of services
    # stands, that is told, and the pool may be for them.
    batch = [
        (priorities[pool.priority].value, pool.priority, name)
        for name, pool in pools.items()
        if pool.work == "batch" and pool.borrows_from is None and pool.priority in priorities
        if pool.burst is None and pool.scale_within is None
    ]
    highest = max(batch, default=None)
    for name, pool in pools.items():
        priority = priorities.get(pool.priority)
        steps = ("pools", name, "priority")
        if pool.work != "inference" or pool.borrows_from is not None or priority is None:
            continue
        if priority.preemptible:
            yield draft.problem("SPEC326", *steps, found=priority.name)
        elif highest is not None and priority.value <= highest[0]:
            yield draft.problem(
                *("SPEC324", *steps),
                found=priority.name,
                value=priority.value,
                other=highest[1],
                other_value=highest[0],
                other_pool=highest[2],
            )


def _priorities(draft: Draft) -> dict[str, PriorityKeys]:
    """Return the priorities by name; of two with one name, which is told, the first counts."""
    return {each.name: each for each in reversed(draft.platform.keys.priorities)}


CHECKS = (names, values, used, ranks)
