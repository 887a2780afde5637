"""What a queue could still be given now: its own unused quota, and what its cohort has to lend.

The same sums that Kueue's scheduler makes (its `pkg/cache/scheduler`, resource nodes) over the
tree of cohorts, from the quotas in their specs and the reservations in the queues' status.
What could be taken back from others is not counted, nor whether one host has the room. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tallyard import units
from tallyard.cli.views.asks import is_card
from tallyard.cluster.conditions import Object

# A flavor and a resource.
type Key = tuple[str, str]


@dataclass(frozen=True)
class _Own:
    """What a queue or a cohort itself has of one resource; a limit of None is no limit."""

    nominal: int
    borrow_max: int | None
    lend_max: int | None


@dataclass
class _Node:
    parent: _Node | None = None
    own: dict[Key, _Own] = field(default_factory=dict)
    # Of the node and all below it, of what the others of the tree can see.
    quota: dict[Key, int] = field(default_factory=dict)
    used: dict[Key, int] = field(default_factory=dict)

    def kept(self, key: Key) -> int:
        """Return what it never lends."""
        own = self.own.get(key)
        lend_max = own.lend_max if own else None
        return 0 if lend_max is None else max(0, self.quota.get(key, 0) - lend_max)

    def used_of_others(self, key: Key) -> int:
        """Return what it uses beyond what it keeps for itself."""
        return max(0, self.used.get(key, 0) - self.kept(key))


class Tree:
    """All queues and cohorts of a cluster.

    Args:
        cluster_queues: All of them by name.
        cohorts: All of them by name; None where they may not be read.
    """

    def __init__(
        self, cluster_queues: Mapping[str, Object], cohorts: Mapping[str, Object] | None
    ) -> None:
        self._is_whole = cohorts is not None
        self._in_cohort = {n for n, q in cluster_queues.items() if q["spec"].get("cohortName")}
        known = cohorts or {}
        self._cohorts: dict[str, _Node] = {}
        for name in known:
            self._cohort(name, known, ())
        self._queues = {name: self._queue(queue, known) for name, queue in cluster_queues.items()}
        for node in (*self._queues.values(), *self._from_below()):
            _add_to_parent(node)

    def free(self, queue: str, flavor: str, resource: str) -> int | None:
        """Return the cards or thousandths of vCPU that a queue could have now; None if unknown."""
        if queue not in self._queues or not (self._is_whole or queue not in self._in_cohort):
            return None
        return max(0, _available(self._queues[queue], (flavor, resource)))

    def is_idle(self, flavor: str, resource: str) -> bool:
        """Return whether no queue has reserved any of it."""
        return not any(node.used.get((flavor, resource)) for node in self._queues.values())

    def _queue(self, queue: Object, cohorts: Mapping[str, Object]) -> _Node:
        name = queue["spec"].get("cohortName")
        node = _Node(self._cohort(name, cohorts, ()) if name else None, dict(_own(queue)))
        node.quota = {key: own.nominal for key, own in node.own.items()}
        node.used = dict(_reserved(queue))
        return node

    def _cohort(self, name: str, known: Mapping[str, Object], below: tuple[str, ...]) -> _Node:
        """Return the node of a cohort, which need not exist as an object."""
        if name in self._cohorts:
            return self._cohorts[name]
        item: Object = known.get(name) or {"spec": {}}
        parent = (item.get("spec") or {}).get("parentName")
        # Kueue refuses to work with a circle; we only must not go round in it.
        is_circle = parent in (*below, name)
        above = self._cohort(parent, known, (*below, name)) if parent and not is_circle else None
        node = _Node(above, dict(_own(item)))
        node.quota = {key: own.nominal for key, own in node.own.items()}
        self._cohorts[name] = node
        return node

    def _from_below(self) -> list[_Node]:
        """Return the cohorts, each after all below it."""
        return sorted(self._cohorts.values(), key=_depth, reverse=True)


def _depth(node: _Node) -> int:
    return 0 if node.parent is None else 1 + _depth(node.parent)


def _add_to_parent(node: _Node) -> None:
    if node.parent is None:
        return
    for key in {*node.quota, *node.used}:
        lent = node.quota.get(key, 0) - node.kept(key)
        node.parent.quota[key] = node.parent.quota.get(key, 0) + lent
        node.parent.used[key] = node.parent.used.get(key, 0) + node.used_of_others(key)


def _available(node: _Node, key: Key) -> int:
    quota = node.quota.get(key, 0)
    if node.parent is None:
        return quota - node.used.get(key, 0)
    from_parent = _available(node.parent, key)
    own = node.own.get(key)
    if own is not None and own.borrow_max is not None:
        lent = quota - node.kept(key) - node.used_of_others(key)
        from_parent = min(from_parent, lent + own.borrow_max)
    return max(0, node.kept(key) - node.used.get(key, 0)) + from_parent


def _own(item: Object) -> Iterator[tuple[Key, _Own]]:
    for group in (item.get("spec") or {}).get("resourceGroups") or ():
        for flavor in group["flavors"]:
            for resource in flavor["resources"]:
                name = resource["name"]
                if name == units.CPU or is_card(name):
                    limits = (resource.get("borrowingLimit"), resource.get("lendingLimit"))
                    borrow, lend = (None if x is None else _count(name, x) for x in limits)
                    nominal = _count(name, resource.get("nominalQuota", "0"))
                    yield (flavor["name"], name), _Own(nominal, borrow, lend)


def _reserved(queue: Object) -> Iterator[tuple[Key, int]]:
    for flavor in (queue.get("status") or {}).get("flavorsReservation") or ():
        for resource in flavor.get("resources") or ():
            name = resource["name"]
            if name == units.CPU or is_card(name):
                yield (flavor["name"], name), _count(name, resource.get("total", "0"))


def _count(resource: str, amount: object) -> int:
    return units.parse_amount(resource, str(amount))
