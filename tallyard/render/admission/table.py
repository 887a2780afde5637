"""The table that the policies look into: what the spec says of each project and each pool.

The policies are the same on every platform; what differs stands here. It is a custom resource
and not a ConfigMap, because CEL can look a key up in it without reading all of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tallyard import labels
from tallyard.render.flavors import NODE_LABEL_OF_LEVEL, card_resource
from tallyard.render.manifest import Manifest, manifest
from tallyard.spec.model import Platform, Pool, Project, Work
from tallyard.units import format_bytes, parse_bytes


def definition_manifest() -> Manifest:
    """Return the definition of the table's kind."""
    return manifest(
        "crd-project-table",
        name=f"{labels.PROJECT_TABLES}.{labels.DOMAIN}",
        list_kind=f"{labels.PROJECT_TABLE_KIND}List",
        singular=labels.PROJECT_TABLE_KIND.lower(),
    )


def table_manifest(platform: Platform) -> Manifest:
    """Return the table of a platform."""
    return manifest("project-table", name=labels.PROJECT_TABLE, spec=table(platform))


def table(platform: Platform) -> Mapping[str, Any]:
    """Return what the policies know as `params.spec`. Times in seconds."""
    return {
        "projects": {p.id: _project(platform, p) for p in platform.projects.values()},
        "pools": {pool.name: _pool(platform, pool) for pool in platform.pools.values()},
        "models": {
            m: {"memory": platform.accelerators[m].memory} for m in _models_in_pools(platform)
        },
        "resources": sorted(_resources(platform)),
        "uncounted": list(platform.uncounted),
        "registry": platform.defaults.registry or "",
        "retentionSeconds": platform.retention.finished_seconds,
        "levels": {str(level): NODE_LABEL_OF_LEVEL[level] for level in platform.topology},
    }


def _project(platform: Platform, project: Project) -> Mapping[str, Any]:
    pools = platform.pools_of(project)
    of_cpu = (pool.name for pool in pools if pool.cpu)
    told: dict[str, Any] = {
        "id": project.id,
        "key": project.key,
        "users": {login: user.name for user in project.users for login in user.logins},
        "queues": {
            labels.local_queue(pool.name): list(_models(platform, project, pool)) for pool in pools
        },
        "cpuQueue": next(map(labels.local_queue, of_cpu), ""),
        "maxSeconds": project.limits.max_time_seconds,
        "defaultSeconds": min(
            platform.freeze.max_time_default_seconds, project.limits.max_time_seconds
        ),
    }
    if project.default_user is not None:
        told["defaultUser"] = project.default_user
    return told


def _models(platform: Platform, project: Project, pool: Pool) -> tuple[str, ...]:
    """Return the models that a project's queue of a pool can give, in the pool's order."""
    if pool.borrows_from is not None:
        return platform.pools[pool.borrows_from].models
    granted = project.limits.cards[pool.name]
    return tuple(
        model
        for model in pool.models
        if granted.get(model, 0) + platform.borrow_limit(project, pool.name, model) > 0
        and model in granted
    )


def _pool(platform: Platform, pool: Pool) -> Mapping[str, Any]:
    lender = platform.pools[pool.borrows_from] if pool.borrows_from else pool
    told: dict[str, Any] = {
        "priority": pool.priority.name,
        # What borrows can be taken back at any time, so it may go on for ever.
        "services": pool.work is Work.INFERENCE or pool.borrows_from is not None,
        "cpu": pool.cpu,
        "defaultModel": pool.default_model or lender.default_model,
        "resources": {
            model: card_resource(platform, lender.name, model) for model in lender.models
        },
        "most": {
            model: max((n.cards for n in platform.nodes_of(lender.name, model)), default=0)
            * lender.slices
            for model in lender.models
        },
        "graceSeconds": pool.termination_grace_seconds,
        **_per_card(platform, lender.slices),
    }
    if pool.backoff_limit is not None:
        told["backoffLimit"] = pool.backoff_limit
    if pool.pods_per_agent is not None:
        told["podsPerAgent"] = pool.pods_per_agent
    return told


def _per_card(platform: Platform, slices: int) -> Mapping[str, Any]:
    """Return what goes with a card or a slice; the memory as a count of a unit, as CEL counts."""
    memory = format_bytes(parse_bytes(platform.defaults.memory_per_card) // slices)
    unit = memory.lstrip("0123456789")
    return {
        "milliCpu": platform.defaults.cpu_per_card * 1000 // slices,
        "memory": int(memory.removesuffix(unit)),
        "memoryUnit": unit,
    }


def _models_in_pools(platform: Platform) -> tuple[str, ...]:
    """Return the models that some pool has, in the order of the pools."""
    return tuple(dict.fromkeys(m for pool in platform.pools.values() for m in pool.models))


def _resources(platform: Platform) -> set[str]:
    """Return every name by which cards or slices are requested, in whichever pool."""
    owned = {
        card_resource(platform, pool.name, model)
        for pool in platform.pools.values()
        if pool.borrows_from is None
        for model in pool.models
    }
    return owned | {a.resource for a in platform.accelerators.values()}
