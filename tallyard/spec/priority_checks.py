"""Checks of priorities: each is one, is used, and stands where its pools need it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

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
    told = {frozenset((each.priority, each.than)) for each in _misranked(draft)}
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
    if not draft.is_sound("pools") or not named <= known or _misranked(draft):
        return  # a pool whose priority is refused may have meant the one that none has
    for index, priority in enumerate(draft.platform.keys.priorities):
        if priority.name not in named:
            yield draft.problem("SPEC327", "priorities", index, "name", found=priority.name)


def ranks(draft: Draft) -> Iterator[Problem]:
    """Who must go first does, and who must give cards back can be stopped for it."""
    for each in _misranked(draft):
        steps = ("pools", each.pool, "priority")
        yield draft.problem(each.code, *steps, found=each.priority, **each.values)


@dataclass(frozen=True)
class _Misranked:
    """A pool's priority that cannot be its: by itself, or beside that of another pool (`than`)."""

    code: str
    pool: str
    priority: str
    than: str | None = None
    values: Mapping[str, object] = field(default_factory=dict)


def _misranked(draft: Draft) -> list[_Misranked]:
    """Return the priorities that are wrong; one that is so for several pools, at the first."""
    first: dict[tuple[str, str], _Misranked] = {}
    for each in (*_of_borrowers(draft), *_of_inference(draft)):
        first.setdefault((each.code, each.priority), each)
    return list(first.values())


def _of_borrowers(draft: Draft) -> Iterator[_Misranked]:
    """Borrowed cards are for lower priorities than their owners': Kueue takes back from those only."""
    pools, priorities = draft.platform.keys.pools, _priorities(draft)
    for name, pool in pools.items():
        priority = priorities.get(pool.priority)
        if pool.borrows_from is None or priority is None or pool.work == "inference":
            continue
        if not priority.preemptible:
            yield _Misranked("SPEC307", name, priority.name)
        elif _is_not_lower(priority, pools.get(pool.borrows_from), priorities):
            other = priorities[pools[pool.borrows_from].priority]
            values = {
                "value": priority.value,
                "lender": pool.borrows_from,
                "other": other.name,
                "other_value": other.value,
            }
            yield _Misranked("SPEC308", name, priority.name, other.name, values)


def _is_not_lower(
    priority: PriorityKeys, lender: PoolKeys | None, priorities: dict[str, PriorityKeys]
) -> bool:
    if lender is None or lender.borrows_from is not None:
        return False  # told by itself
    other = priorities.get(lender.priority)
    return other is not None and priority.value >= other.value


def _of_inference(draft: Draft) -> Iterator[_Misranked]:
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
        if pool.work != "inference" or pool.borrows_from is not None or priority is None:
            continue
        if priority.preemptible:
            yield _Misranked("SPEC326", name, priority.name)
        elif highest is not None and priority.value <= highest[0]:
            other_value, other, other_pool = highest
            values = {
                "value": priority.value,
                "other": other,
                "other_value": other_value,
                "other_pool": other_pool,
            }
            yield _Misranked("SPEC324", name, priority.name, other, values)


def _priorities(draft: Draft) -> dict[str, PriorityKeys]:
    """Return the priorities by name; of two with one name, which is told, the first counts."""
    return {each.name: each for each in reversed(draft.platform.keys.priorities)}


CHECKS = (names, values, used, ranks)
