"""Cohorts, ClusterQueues and LocalQueues: who may use how many cards of what.

One tree: the root cohort holds one cohort for each pool that owns cards. What the tiers do
not grant stays on that cohort, where its queues can borrow it. A pool that borrows has its
queues in the lender's cohort with a quota of nothing, so all it uses can be taken back.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallyard import labels
from tallyard.render.flavors import cpu_flavors, pool_flavors
from tallyard.render.manifest import Manifest, manifest
from tallyard.render.quota import Quota, card_quota, host_quota, nothing, resource_group
from tallyard.spec.model import Borrowed, Platform, Pool, Project, Work


def cohort_manifests(platform: Platform) -> Iterator[Manifest]:
    """Yield the root cohort and one for each pool that owns cards."""
    yield manifest("cohort", name=labels.ROOT_COHORT, parent=None, groups=[])
    for pool in platform.pools.values():
        if pool.borrows_from is None:
            quotas = _unassigned(platform, pool)
            yield manifest(
                "cohort",
                name=pool.cohort,
                parent=labels.ROOT_COHORT,
                groups=[resource_group(quotas)],
            )


def cluster_queue_manifests(platform: Platform) -> Iterator[Manifest]:
    """Yield one ClusterQueue for each project in each pool it may use."""
    for project in platform.projects.values():
        for pool in platform.pools_of(project):
            yield manifest(
                "cluster-queue",
                name=labels.cluster_queue(project.id, pool.name),
                project=project.id,
                annotations={labels.PROJECT_KEY: project.key},
                cohort=pool.cohort,
                namespace=project.namespace,
                weight=project.tier.weight,
                reclaim=_reclaim(pool),
                when_can_preempt="TryNextFlavor" if pool.borrows_from else "MayStopSearch",
                groups=[resource_group(_queue_quotas(platform, project, pool))],
            )


def local_queue_manifests(platform: Platform) -> Iterator[Manifest]:
    """Yield the LocalQueues, which are what users name in their jobs."""
    for project in platform.projects.values():
        for pool in platform.pools_of(project):
            yield manifest(
                "local-queue",
                name=labels.local_queue(pool.name),
                namespace=project.namespace,
                project=project.id,
                cluster_queue=labels.cluster_queue(project.id, pool.name),
            )


def _queue_quotas(platform: Platform, project: Project, pool: Pool) -> tuple[Quota, ...]:
    # The CPU hosts stand first, as a preference only: Kueue takes the first flavor that fits,
    # so work without cards that names no hosts goes on to hosts with cards when the CPU hosts
    # are full.
    cpu = tuple(nothing(flavor) for flavor in cpu_flavors(platform)) if pool.cpu else ()
    if pool.borrows_from is not None:
        return (*cpu, *(nothing(flavor) for flavor in pool_flavors(platform, pool.borrows_from)))
    granted = project.limits.cards[pool.name]
    of_cards = (
        card_quota(
            platform,
            flavor,
            granted[flavor.model],
            platform.borrow_limit(project, pool.name, flavor.model),
            is_lent=_lends(pool),
        )
        for flavor in pool_flavors(platform, pool.name)
        if flavor.model in granted
    )
    return (*cpu, *of_cards)


def _unassigned(platform: Platform, pool: Pool) -> tuple[Quota, ...]:
    """Return what the pool's hosts have and no tier grants, and the CPU hosts of its borrowers."""
    cards = tuple(
        card_quota(
            platform,
            flavor,
            # With `overcommit` more may be granted than is installed; then nothing is left.
            max(
                platform.cards_installed(pool.name, flavor.model)
                - platform.cards_granted(pool.name, flavor.model),
                0,
            ),
            None,
        )
        for flavor in pool_flavors(platform, pool.name)
    )
    runs_cpu_work = any(p.cpu and p.cohort == pool.name for p in platform.pools.values())
    cpu = cpu_flavors(platform) if runs_cpu_work else ()
    return (*cards, *(host_quota(platform, flavor) for flavor in cpu))


def _lends(pool: Pool) -> bool:
    """Return whether a queue's idle cards may be used by others of the cohort.

    A service runs for ever, so what it has borrowed comes back only if it is taken. Where the
    pool says `keep`, nothing is taken, and a reservation that was lent would be gone when its
    owner scales out: there, burst gets what no queue owns, which stands on the cohort.
    """
    return pool.work is not Work.INFERENCE or pool.borrowed is Borrowed.RECLAIM


def _reclaim(pool: Pool) -> str:
    """Return from whom a queue may take cards back that others of the cohort use.

    `LowerPriority`: from elastic work, at once. It never makes training work a victim, because
    all training work has one priority. Kueue's fair sharing lets a queue that borrows do the
    same within its share; `borrowWithinCohort` has no say while fair sharing is on.
    """
    if pool.borrows_from is not None:
        return "Never"
    return "Any" if pool.borrowed is Borrowed.RECLAIM else "LowerPriority"
