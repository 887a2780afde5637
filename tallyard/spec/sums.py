"""What the hosts of a draft have and what its projects are promised, for the checks of sums.

A sum that is wrong only because something else is wrong would tell that fault again, so
there is none where the hosts are not clear (`Draft.installed`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from tallyard.spec import resolve
from tallyard.spec.draft import Draft, Place
from tallyard.spec.keys_of_projects import TierKeys
from tallyard.spec.tree import Steps

_MILLI = 1000

type Grants = Mapping[Place, Counter[Grant]]


@dataclass(frozen=True)
class Grant:
    """Where it stands that a project is promised some cards of a model in a pool."""

    steps: Steps
    cards: int


@dataclass(frozen=True)
class Ending:
    """An override that will end: whose it is, where it stands, when, and as which text."""

    project: str
    index: int
    moment: datetime
    until: str


@dataclass(frozen=True)
class Excess:
    """What will be promised of a model in a pool when an override ends that lowered it."""

    ending: Ending
    grants: Mapping[Grant, int]


def label(steps: Steps) -> str:
    """Return what a sum calls the tier or the override it counts: `gold`, `nlp.overrides[0]`."""
    section, name, *rest = steps
    return str(name) if section == "tiers" else f"{name}.overrides[{rest[1]}]"


def allowed(draft: Draft) -> Mapping[Place, int] | None:
    """Return how many cards may be promised by pool and model; None where that is not clear."""
    there = draft.installed
    if there is None or not draft.is_sound("overcommit"):
        return None
    factor = resolve.overcommit(draft).cards_milli
    return {place: cards * factor // _MILLI for place, cards in there.items()}


def granted(draft: Draft) -> Grants:
    """Return, for each pool and model, which grants of cards hold now and for how many projects."""
    keys = draft.platform.keys
    grants: defaultdict[Place, Counter[Grant]] = defaultdict(Counter)
    # By the tier first: each project for itself would be projects times pools.
    for name, count in Counter(project.tier for project in keys.projects.values()).items():
        if name in keys.tiers:  # else told as a reference
            for place, grant in _usual(name, keys.tiers[name]):
                _add(grants[place], grant, count)
    for project in keys.projects:
        in_force = [index for index, _ in draft.overrides_in_force(project)]
        # Of two for one thing, which is told, the last counts.
        found = dict(each for index in in_force for each in _overridden(draft, project, index))
        for place, grant in found.items():
            usual = _usual_of(draft, project, place)
            if usual is not None:
                _exchange(grants[place], usual, grant)
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


def endings(draft: Draft) -> list[Ending]:
    """Return the overrides that will end, the next one first."""
    found = (
        Ending(project, index, draft.end(override.until), override.until)
        for project in draft.platform.keys.projects
        for index, override in draft.overrides_in_force(project)
    )
    return sorted(found, key=lambda each: (each.moment, each.project, each.index))


def broken_later(draft: Draft) -> Mapping[Place, Excess]:
    """Return where more will be promised than may be when an override ends, and not before.

    Each override changes only what it names, so all moments together cost no more than one.
    """
    limits = allowed(draft)
    if limits is None or not draft.is_sound("tiers", "projects", "time-zone"):
        return {}
    grants, told = granted(draft), dict[Place, Excess]()
    totals = {place: promised(found) for place, found in grants.items()}
    wrong = {place for place, cards in totals.items() if cards > limits.get(place, cards)}
    for _, at_once in groupby(endings(draft), key=lambda each: each.moment):
        touched: dict[Place, Ending] = {}
        for ending in at_once:
            for place, grant in _overridden(draft, ending.project, ending.index):
                usual = _usual_of(draft, ending.project, place)
                # Of two for one thing, which is told, the first never held.
                if usual is None or (grant.cards and grant not in grants[place]):
                    continue
                _exchange(grants[place], grant, usual)
                totals[place] = totals.get(place, 0) + usual.cards - grant.cards
                touched[place] = ending
        for place, ending in touched.items():
            if place not in wrong and totals[place] > limits.get(place, totals[place]):
                wrong.add(place)
                told[place] = Excess(ending, dict(grants[place]))
    return told


def _usual(name: str, tier: TierKeys) -> Iterator[tuple[Place, Grant]]:
    for pool, models in tier.cards.items():
        for model, cards in models.items():
            yield (pool, model), Grant(("tiers", name, "cards", pool, model), cards)


def _usual_of(draft: Draft, project: str, place: Place) -> Grant | None:
    """Return what a project's tier grants; None where it grants nothing, which is told."""
    name, (pool, model) = draft.platform.keys.projects[project].tier, place
    tier = draft.platform.keys.tiers.get(name)
    cards = tier.cards.get(pool, {}).get(model) if tier is not None else None
    return None if cards is None else Grant(("tiers", name, "cards", pool, model), cards)


def _exchange(grants: Counter[Grant], old: Grant, new: Grant) -> None:
    """Let a project have another grant than before."""
    for grant, count in ((old, -1), (new, 1)):
        _add(grants, grant, count)


def _add(grants: Counter[Grant], grant: Grant, count: int) -> None:
    """Count a grant in or out; one of no cards, or of no project any more, is no term of a sum."""
    if grant.cards:
        grants[grant] += count
        if not grants[grant]:
            del grants[grant]


def _overridden(draft: Draft, project: str, index: int) -> Iterator[tuple[Place, Grant]]:
    """Yield the cards that an override gives a project."""
    override = draft.platform.keys.projects[project].overrides[index]
    for pool, models in override.cards.items():
        for model, cards in models.items():
            steps = ("projects", project, "overrides", index, "cards", pool, model)
            yield (pool, model), Grant(steps, cards)
