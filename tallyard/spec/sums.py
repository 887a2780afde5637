"""What the hosts of a draft have and what its projects are promised, for the checks of sums.

A sum that is wrong only because something else is wrong would tell that fault again, so
there is none where the hosts are not clear (`Draft.installed`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tallyard.spec import resolve
from tallyard.spec.document import OvercommitKeys
from tallyard.spec.draft import Draft, Place
from tallyard.spec.tree import Steps

_MILLI = 1000


@dataclass(frozen=True)
class Grant:
    """Where it stands that a project is promised some cards of a model in a pool."""

    steps: Steps
    cards: int


def label(steps: Steps) -> str:
    """Return what a sum calls the tier or the override it counts: `gold`, `nlp.overrides[0]`."""
    section, name, *rest = steps
    return str(name) if section == "tiers" else f"{name}.overrides[{rest[1]}]"


def overcommit(draft: Draft) -> OvercommitKeys:
    """Return how much more is promised than there is; the environment's own word counts."""
    return draft.overlay.keys.overcommit or draft.platform.keys.overcommit


def allowed(draft: Draft) -> Mapping[Place, int] | None:
    """Return how many cards may be promised by pool and model; None where that is not clear."""
    there = draft.installed
    if there is None or not draft.is_sound("overcommit"):
        return None
    factor = resolve.milli(overcommit(draft).cards)
    return {place: cards * factor // _MILLI for place, cards in there.items()}


def granted(draft: Draft) -> Mapping[Place, Counter[Grant]]:
    """Return, for each pool and model, which grants of cards hold now and for how many projects."""
    keys = draft.platform.keys
    grants: defaultdict[Place, Counter[Grant]] = defaultdict(Counter)
    for name, project in keys.projects.items():
        tier = keys.tiers.get(project.tier)
        if tier is None:
            continue  # told as a reference
        overridden = dict(_overridden(draft, name))
        for pool, models in tier.cards.items():
            for model, cards in models.items():
                usual = Grant(("tiers", project.tier, "cards", pool, model), cards)
                grant = overridden.get((pool, model), usual)
                if grant.cards:
                    grants[pool, model][grant] += 1
    return grants


def promised(grants: Mapping[Grant, int]) -> int:
    """Return how many cards the grants of one model promise together."""
    return sum(grant.cards * count for grant, count in grants.items())


def broken(draft: Draft) -> Mapping[Place, int]:
    """Return where more is promised than may be, and how much; nothing where it is not clear."""
    limits = allowed(draft)
    if limits is None or not draft.is_sound("tiers", "projects"):
        return {}
    totals = {place: promised(grants) for place, grants in granted(draft).items()}
    # A model without hosts in the pool is told by itself.
    return {at: cards for at, cards in totals.items() if at in limits and cards > limits[at]}


def _overridden(draft: Draft, name: str) -> Iterator[tuple[Place, Grant]]:
    """Yield the cards that overrides give a project now."""
    for index, override in draft.overrides_in_force(name):
        for pool, models in override.cards.items():
            for model, cards in models.items():
                steps = ("projects", name, "overrides", index, "cards", pool, model)
                yield (pool, model), Grant(steps, cards)
