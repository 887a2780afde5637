"""Checks of tiers: what is granted exists, and all grants together are installed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from tallyard.spec import hosts
from tallyard.spec.draft import Draft
from tallyard.spec.problem import Problem


def granted_pools(draft: Draft) -> Iterator[Problem]:
    """Cards are granted where there are some: of models that the pool lists and owns."""
    known = draft.names.get("accelerators", ())
    for tier, keys in draft.platform.keys.tiers.items():
        for pool, cards in keys.cards.items():
            steps = ("tiers", tier, "cards", pool)
            found = draft.platform.keys.pools.get(pool)
            if found is not None and found.borrows_from is not None:
                lender = found.borrows_from
                yield draft.problem_at_key("SPEC502", *steps, found=pool, lender=lender)
            models = draft.owned_models(pool)
            for model in cards:
                if models is not None and model in known and model not in models:
                    yield draft.problem_at_key(
                        "SPEC503", *steps, model, found=model, pool=pool, choices=models
                    )


def borrowing(draft: Draft) -> Iterator[Problem]:
    """A limit for borrowing stands only for a pool in which the tier has a queue of its own."""
    if not draft.is_sound("tiers"):
        return
    for tier, keys in draft.platform.keys.tiers.items():
        for pool in keys.borrow:
            if pool not in keys.cards and pool in draft.names.get("pools", (pool,)):
                yield draft.problem_at_key(
                    "SPEC504", "tiers", tier, "borrow", pool, found=pool, tier=tier
                )


def promises(draft: Draft) -> Iterator[Problem]:
    """No more cards are promised than are installed: Kueue would overcommit in silence."""
    if not draft.is_sound("nodes", "tiers", "projects", "pools"):
        return
    try:
        installed = _installed(draft)
    except hosts.RangeError:
        return  # told by the checks of hosts
    projects_of = Counter(keys.tier for keys in draft.platform.keys.projects.values())
    grants: defaultdict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for tier, keys in draft.platform.keys.tiers.items():
        for pool, models in keys.cards.items():
            for model, cards in models.items():
                if cards and projects_of[tier]:
                    grants[pool, model][tier] = cards
    for (pool, model), by_tier in grants.items():
        total = sum(cards * projects_of[tier] for tier, cards in by_tier.items())
        # A model without hosts in the pool is told by itself.
        if (pool, model) in installed and total > installed[pool, model]:
            largest = max(by_tier, key=lambda tier: by_tier[tier] * projects_of[tier])
            terms = (f"{tier} {n} x {projects_of[tier]}" for tier, n in by_tier.items())
            yield draft.problem(
                "SPEC501",
                *("tiers", largest, "cards", pool, model),
                model=model,
                pool=pool,
                total=total,
                terms=" + ".join(terms),
                installed=installed[pool, model],
                overlay=draft.overlay.tree.location.file,
            )


def _installed(draft: Draft) -> Counter[tuple[str, str]]:
    installed: Counter[tuple[str, str]] = Counter()
    for group in draft.overlay.keys.nodes:
        if group.model is not None:
            installed[group.pool, group.model] += hosts.count(group.hosts) * (group.cards or 0)
    return installed


CHECKS = (granted_pools, borrowing, promises)
