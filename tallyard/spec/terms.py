"""What tiers say, and what their projects have while overrides hold, for the checks of core-hours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tallyard.spec import resolve
from tallyard.spec.draft import Draft, Place
from tallyard.spec.keys_of_projects import OverrideKeys, TierKeys
from tallyard.spec.project_checks import QUEUES_MAX
from tallyard.spec.tree import Steps


@dataclass(frozen=True)
class Terms:
    """The terms of a tier, or of one project with its overrides.

    `label` is `gold`, or `gold + nlp.overrides[0]`; `core_hours` and `max_time` are the
    spec's texts. `places` says where what counts stands, for the keys that do not stand at
    the tier.
    """

    tier: str
    label: str
    cards: Mapping[str, Mapping[str, int]]
    borrow: Mapping[str, int]
    core_hours: str
    max_time: str
    places: Mapping[str, Steps]

    @property
    def amount(self) -> int:
        """Return the core-hours of a period."""
        return resolve.core_hours(self.core_hours).amount

    def granted(self) -> Iterator[tuple[Place, int]]:
        """Yield the cards by pool and model."""
        for pool, models in self.cards.items():
            for model, cards in models.items():
                yield (pool, model), cards

    def place(self, *keys: str) -> Steps:
        """Return where the first of these keys stands that is overridden, or else the tier's."""
        found = (self.places[key] for key in keys if key in self.places)
        return next(found, ("tiers", self.tier, keys[0]))


def of_tiers(draft: Draft) -> Iterator[Terms]:
    """Yield the terms of each tier."""
    for name, tier in draft.platform.keys.tiers.items():
        yield _of_tier(name, tier)


def overridden(draft: Draft) -> Iterator[Terms]:
    """Yield the terms of each project that has overrides now and whose tier is there."""
    keys, queues = draft.platform.keys, 0
    for name, project in keys.projects.items():
        overrides = tuple(draft.overrides_in_force(name))
        if not overrides or project.tier not in keys.tiers:
            continue
        queues += len(keys.tiers[project.tier].cards)
        if queues > QUEUES_MAX:
            return  # told as too many queues
        terms = _of_tier(project.tier, keys.tiers[project.tier])
        for index, override in overrides:
            terms = _with(terms, name, index, override)
        labels = (f"{name}.overrides[{index}]" for index, _ in overrides)
        yield replace(terms, label=" + ".join((project.tier, *labels)))


def _of_tier(name: str, tier: TierKeys) -> Terms:
    return Terms(name, name, tier.cards, tier.borrow, tier.core_hours, tier.max_time, {})


def _with(terms: Terms, project: str, index: int, override: OverrideKeys) -> Terms:
    steps: Steps = ("projects", project, "overrides", index)
    said = {
        "cards": override.cards,
        "borrow": override.borrow,
        "core-hours": override.core_hours,
        "max-time": override.max_time,
    }
    # What the tier does not grant is told, and gives nothing.
    cards = {
        pool: {**of, **{model: n for model, n in override.cards[pool].items() if model in of}}
        for pool, of in terms.cards.items()
        if pool in override.cards
    }
    return replace(
        terms,
        cards={**terms.cards, **cards},
        borrow={**terms.borrow, **override.borrow},
        core_hours=override.core_hours or terms.core_hours,
        max_time=override.max_time or terms.max_time,
        places={**terms.places, **{key: (*steps, key) for key, value in said.items() if value}},
    )
