"""That no queue, and none of the flavors it gives, reaches further than the spec grants.

What must hold is worked out here once more from the spec, and not taken from what renders the
queues: that is what a change may have broken.
"""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from policies.finding import Finding, Text, about
from policies.planned import Planned, at, mapping, mappings
from policies.rules_of_capacity import quantity
from tallyard import labels
from tallyard.render.capacity import per_card
from tallyard.render.flavors import CardFlavor, Flavor, all_flavors
from tallyard.render.manifest import Manifest
from tallyard.spec.model import Borrowed, Platform, Pool, Project, Work

_NOTHING = "0"


def grants_kept(planned: Planned) -> Iterator[Finding]:
    """A queue serves its own project on the hosts of its pool, and takes from others as granted.

    To Kueue an empty `namespaceSelector` is every namespace, and a limit on borrowing that is not
    there is none; neither shows in the sum of the quotas.
    """
    platform = planned.platform
    flavors = {flavor.name: flavor for flavor in all_flavors(platform)}
    owners = {
        labels.cluster_queue(project.id, pool.name): (project, pool)
        for project in platform.projects.values()
        for pool in platform.pools_of(project)
    }
    for queue in planned.of_kind("ClusterQueue"):
        if queue.name in owners:
            project, pool = owners[queue.name]
            texts = (
                *_other_terms(queue, project, pool),
                *_more_than_granted(platform, queue, project, pool, flavors),
            )
            path = f"projects.{project.key}"
        else:
            texts, path = (_OF_NOBODY,), "projects"
        for english, chinese in texts:
            text = Text(f"queue {queue.name} {english}", f"队列 {queue.name} {chinese}")
            yield about("grants-kept", text, queue, path)
    for flavor in flavors.values():
        yield from _hosts(planned, flavor)


_OF_NOBODY = Text(
    "is of no project in the spec and takes from those that are: take it out",
    "不属于规格中的任何项目，却会占用其他项目的卡：请删除",
)


def _terms(project: Project, pool: Pool) -> Mapping[str, Any]:
    """Return what a queue is by the spec, by its fields."""
    return {
        "cohortName": pool.cohort,
        "namespaceSelector": {"matchLabels": {labels.NAMESPACE_NAME: project.namespace}},
        # Who holds queues for a while does it by `tally drain`; the program never does.
        "stopPolicy": "None",
        "preemption.reclaimWithinCohort": _reclaim(pool),
        "preemption.withinClusterQueue": "Never",
        "preemption.borrowWithinCohort": {"policy": "Never"},
        "fairSharing.weight": str(project.tier.weight),
    }


def _reclaim(pool: Pool) -> str:
    if pool.borrows_from is not None:
        return "Never"
    return "Any" if pool.borrowed is Borrowed.RECLAIM else "LowerPriority"


def _other_terms(queue: Manifest, project: Project, pool: Pool) -> Iterator[Text]:
    for name, right in _terms(project, pool).items():
        found = at(queue.object, "spec", *name.split("."))
        if found is None:
            yield Text(
                f"has no {name}, which the spec gives it: make it from the spec",
                f"缺少规格规定的 {name}：应由规格生成",
            )
        elif found != right:
            told = found if isinstance(found, str) else json.dumps(found, default=str)
            yield Text(
                f"has {name} {told}, which the spec does not give it: make it from the spec",
                f"的 {name} 为 {told}，与规格不符：应由规格生成",
            )


@dataclass(frozen=True)
class _Grant:
    """What a queue may have of a flavor, by resource: a limit of None is no limit.

    `own` is promised to it, `more` is what it may borrow, and `lent` what others may use of it.
    """

    own: Mapping[str, str] = field(default_factory=dict)
    more: Mapping[str, str] | None = field(default_factory=dict)
    lent: Mapping[str, str] | None = None

    def limits(self) -> Iterator[tuple[str, Mapping[str, str]]]:
        """Yield the bounded fields of a quota, with their bounds."""
        yield "nominalQuota", self.own
        if self.more is not None:
            yield "borrowingLimit", self.more
        if self.lent is not None:
            yield "lendingLimit", self.lent


def _grant(platform: Platform, project: Project, pool: Pool, flavor: Flavor | None) -> _Grant:
    if not isinstance(flavor, CardFlavor):
        return _Grant(more=None) if flavor is not None and pool.cpu else _Grant()
    if flavor.pool != pool.name:
        # A pool that borrows may use whatever is idle of the lender's; nothing is its own.
        return _Grant(more=None) if flavor.pool == pool.borrows_from else _Grant()
    cards = project.limits.cards[pool.name].get(flavor.model)
    if cards is None:
        return _Grant()
    borrowed = platform.borrow_limit(project, pool.name, flavor.model)
    return _Grant(
        own=_with_cards(platform, flavor, cards),
        more=_with_cards(platform, flavor, borrowed),
        # What a service borrows comes back only where the pool says that it is taken.
        lent={} if pool.work is Work.INFERENCE and pool.borrowed is Borrowed.KEEP else None,
    )


def _with_cards(platform: Platform, flavor: CardFlavor, cards: int) -> Mapping[str, str]:
    beside = per_card(platform, flavor.pool, flavor.model).times(cards).quantities()
    return {**beside, flavor.resource: str(cards * flavor.slices)}


def _more_than_granted(
    platform: Platform,
    queue: Manifest,
    project: Project,
    pool: Pool,
    flavors: Mapping[str, Flavor],
) -> Iterator[Text]:
    for group in mappings(queue.object, "spec", "resourceGroups"):
        for quota in mappings(group, "flavors"):
            name = str(quota.get("name"))
            grant = _grant(platform, project, pool, flavors.get(name))
            for part, bounds in grant.limits():
                wider = list(_wider(quota, part, bounds))
                if wider:
                    yield Text(
                        f"has more {part} of flavor {name} than the spec grants "
                        f"({', '.join(wider)}): make it from the spec",
                        f"对 {name} 的 {part} 超出规格授予的量（{'、'.join(wider)}）：应由规格生成",
                    )


def _wider(quota: Mapping[str, Any], part: str, bounds: Mapping[str, str]) -> Iterator[str]:
    for each in mappings(quota, "resources"):
        resource, found = str(each.get("name")), each.get(part)
        bound = bounds.get(resource, _NOTHING)
        is_unlimited = found is None and part != "nominalQuota"
        if is_unlimited or quantity(resource, found) > quantity(resource, bound):
            yield f"{resource}: {'∞' if is_unlimited else found} > {bound}"


def _hosts(planned: Planned, flavor: Flavor) -> Iterator[Finding]:
    """Yield where a flavor is not there, or is of more hosts than those of its pool and model."""
    path = f"pools.{flavor.pool}" if flavor.pool in planned.platform.pools else "nodes"
    found = planned.all_named("ResourceFlavor", flavor.name)
    if not found:
        text = Text(
            f"flavor {flavor.name} is missing, and the queues that give it stand still: make it "
            "from the spec",
            f"缺少 flavor {flavor.name}，使用它的队列会停止：应由规格生成",
        )
        yield Finding("grants-kept", text, "ResourceFlavor", flavor.name, path=path)
    for each in found:
        chosen = mapping(each.object, "spec", "nodeLabels")
        lost = [key for key, right in _selection(flavor).items() if chosen.get(key) != right]
        more = [t for t in mappings(each.object, "spec", "tolerations") if t != _taint(flavor)]
        if lost:
            names = ", ".join(lost)
            text = Text(
                f"flavor {flavor.name} gives hosts that are not of its pool and model, without "
                f"{names}: make it from the spec",
                f"flavor {flavor.name} 缺少节点标签 {names}，会给出其他资源池或型号的主机："
                "应由规格生成",
            )
            yield about("grants-kept", text, each, path)
        if more:
            text = Text(
                f"flavor {flavor.name} tolerates more than its own pool's taint: make it from the "
                "spec",
                f"flavor {flavor.name} 容忍了本资源池以外的污点：应由规格生成",
            )
            yield about("grants-kept", text, each, path)


def _selection(flavor: Flavor) -> Mapping[str, str]:
    model = {labels.NODE_MODEL: flavor.model} if isinstance(flavor, CardFlavor) else {}
    return {labels.NODE_POOL: flavor.pool, **model}


def _taint(flavor: Flavor) -> Mapping[str, str] | None:
    if not isinstance(flavor, CardFlavor):
        return None
    key, effect = labels.POOL_TAINT, labels.NO_SCHEDULE
    return {"key": key, "operator": "Equal", "value": flavor.pool, "effect": effect}
