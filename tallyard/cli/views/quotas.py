"""A ClusterQueue's quotas and what is used of them, one row for each flavor. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from tallyard import labels, units
from tallyard.cli.views.asks import card_name, is_card
from tallyard.cli.views.free import Tree
from tallyard.cluster.conditions import Object


@dataclass(frozen=True)
class Quota:
    """One flavor in one queue. Amounts are cards, or thousandths of vCPU where `model` is cpu.

    `borrow_max` is None without a limit. What is used counts from the reservation on: from
    then nobody else can have it. `free` is what the queue could have now beside it, None where
    that cannot be known; `is_idle` says that no queue of the cluster uses any of it.
    """

    flavor: str
    model: str
    resource: str
    nominal: int
    used: int
    borrowed: int
    borrow_max: int | None
    free: int | None = None
    is_idle: bool = False

    @property
    def is_cpu(self) -> bool:
        """Return whether the amounts are vCPU."""
        return self.model == units.CPU

    def thing(self, lang: str) -> str:
        """Return what people call a unit of this quota: its model, or a slice of one."""
        return card_name(self.model, self.resource, lang)

    def amount(self, value: int) -> str:
        """Return an amount of this quota as text."""
        return units.vcpu(value) if self.is_cpu else str(value)


def models_of(flavors: Mapping[str, Object]) -> Mapping[str, str]:
    """Return the card model of each flavor; the flavors of the CPU hosts are left out."""
    found = {name: _model(flavor) for name, flavor in flavors.items()}
    return {name: model for name, model in found.items() if model}


def quotas_of(
    cluster_queue: Object, models: Mapping[str, str], tree: Tree | None = None
) -> tuple[Quota, ...]:
    """Return the quotas of a ClusterQueue in its own order of flavors.

    Args:
        cluster_queue: The object.
        models: As from `models_of`.
        tree: All queues and cohorts, to say what is free.
    """
    found = tuple(_quotas(cluster_queue, models))
    if tree is None:
        return found
    name = cluster_queue["metadata"]["name"]
    return tuple(
        replace(
            quota,
            free=tree.free(name, quota.flavor, quota.resource),
            is_idle=tree.is_idle(quota.flavor, quota.resource),
        )
        for quota in found
    )


def _quotas(cluster_queue: Object, models: Mapping[str, str]) -> Iterator[Quota]:
    used = _reserved(cluster_queue)
    for group in cluster_queue["spec"].get("resourceGroups") or ():
        for flavor in group["flavors"]:
            found = tuple(
                _quota(flavor["name"], resource, used.get((flavor["name"], resource["name"]), {}))
                for resource in flavor["resources"]
                if resource["name"] == units.CPU or is_card(resource["name"])
            )
            if found:
                yield _telling(found, models.get(flavor["name"]))


def _telling(found: tuple[Quota, ...], model: str | None) -> Quota:
    """Return the one resource that a flavor is for; the group lists every other one with nothing."""
    cards = [quota for quota in found if not quota.is_cpu]
    largest = max(cards, key=lambda q: (q.nominal, q.used, q.borrow_max or 0), default=None)
    if largest is not None and model is not None:
        return replace(largest, model=model)
    if largest is not None and (largest.nominal or largest.used):
        # The flavors could not be read: its name is all we know.
        return largest
    return next((quota for quota in found if quota.is_cpu), found[0])


def _quota(flavor: str, resource: Object, used: Object) -> Quota:
    name = str(resource["name"])
    count = partial(units.parse_amount, name)
    limit = resource.get("borrowingLimit")
    return Quota(
        flavor=flavor,
        model=units.CPU if name == units.CPU else flavor,
        resource=name,
        nominal=count(str(resource.get("nominalQuota", "0"))),
        used=count(str(used.get("total", "0"))),
        borrowed=count(str(used.get("borrowed", "0"))),
        borrow_max=None if limit is None else count(str(limit)),
    )


def _reserved(cluster_queue: Object) -> Mapping[tuple[str, str], Object]:
    status = cluster_queue.get("status") or {}
    return {
        (flavor["name"], resource["name"]): resource
        for flavor in status.get("flavorsReservation") or ()
        for resource in flavor.get("resources") or ()
    }


def _model(flavor: Object) -> str | None:
    node_labels = flavor["spec"].get("nodeLabels") or {}
    model = node_labels.get(labels.NODE_MODEL) or node_labels.get(labels.GPU_MODEL)
    return str(model) if model else None
