"""Random specs that are right: every kind of key, any number of everything, no problem told.

Each comes from a seed. What hangs together is made to fit from the outset: hosts have what
their cards are given, grants stay within what is installed, core-hours within what is given.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random
from typing import Any

import yaml

from tallyard import units

type Keys = dict[str, Any]
type Place = tuple[str, str]

HOURS_A_MONTH = Fraction(1461, 2)
HOURS = {"day": Fraction(24), "week": Fraction(168), "month": HOURS_A_MONTH}
ZONES = ("UTC", "Asia/Shanghai", "Europe/Berlin", "America/St_Johns")
# After `specs.NOW`, and within a year.
UNTIL = ("2026-12-31", "2026-10-31T18:00", "2027-03-31T00:00+08:00", "2026-09-02T09:30:15Z")
VENDORS = {
    "nvidia": (None, "nvidia.com/gpu"),
    "iluvatar": ("iluvatar.ai/gpu",),
    "cambricon": ("cambricon.com/mlu",),
    "hygon": ("hygon.com/dcu",),
}


@dataclass(frozen=True)
class Texts:
    """The two files of a spec, and the moment at which its overrides hold."""

    platform: str
    local: str


@dataclass
class Draw:
    """What has been decided about a spec so far. Only this file changes one."""

    rng: Random
    accelerators: Keys = field(default_factory=dict)
    priorities: list[Keys] = field(default_factory=list)
    pools: Keys = field(default_factory=dict)
    nodes: list[Keys] = field(default_factory=list)
    tiers: Keys = field(default_factory=dict)
    projects: Keys = field(default_factory=dict)
    per_card: Keys = field(default_factory=dict)
    # Thousandths of what may be promised, and of what may be granted.
    overcommit: tuple[int, int] = (1000, 1000)
    availability: int = 90
    cap: int = 30
    # The cards that may still be promised.
    left: dict[Place, int] = field(default_factory=dict)
    installed: dict[Place, int] = field(default_factory=dict)

    def some(self, chance: float) -> bool:
        """Return whether something of this chance happens."""
        return self.rng.random() < chance


def texts(seed: int) -> Texts:
    """Return a spec that is right at `specs.NOW`; the same for the same seed."""
    draw = Draw(Random(seed))  # noqa: S311 - nothing secret
    draw.overcommit = (draw.rng.choice((1000, 1000, 1500, 2250)), draw.rng.choice((1000, 1200)))
    draw.availability = draw.rng.choice((60, 90, 100))
    draw.per_card = {"cpu": draw.rng.randint(1, 8), "memory": f"{draw.rng.randint(1, 16)}Gi"}
    _accelerators(draw)
    _pools(draw)
    _hosts(draw)
    _projects(draw)
    _tiers(draw)
    _overrides(draw)
    return Texts(_dumped(_platform(draw), draw), _dumped(_overlay(draw), draw))


def _dumped(keys: Keys, draw: Draw) -> str:
    """Write it in one of the styles that people use."""
    return yaml.dump(
        keys,
        Dumper=yaml.CSafeDumper,
        sort_keys=draw.some(0.3),
        default_flow_style=draw.rng.choice((True, False, None)),
        allow_unicode=True,
        width=draw.rng.choice((60, 1000)),
    )


def _accelerators(draw: Draw) -> None:
    for number in range(draw.rng.randint(1, 5)):
        vendor = draw.rng.choice(("nvidia", "nvidia", *VENDORS))
        card: Keys = {
            "vendor": vendor,
            "memory": draw.rng.choice(("24Gi", "40Gi", "80Gi", "64Gi")),
            "rate": draw.rng.choice((1, 12, 30, 54, 0.5, 17.25, 9.999)),
            "origin": draw.rng.choice(("measured", "rule of thumb", "vendor")),
        }
        resource = draw.rng.choice(VENDORS[vendor])
        if resource:
            card["resource"] = resource
        if draw.some(0.5):
            card["includes"] = {"cpu": draw.rng.randint(1, 8), "memory": "8Gi"}
        draw.accelerators[f"{draw.rng.choice(('X', 'A1.', 'BI_', 'm-'))}{number}"] = card


def _pools(draw: Draw) -> None:
    """Make pools that own cards, so that each model is in one, and pools that borrow."""
    rng = draw.rng
    models = list(draw.accelerators)
    for number in range(rng.randint(1, 4)):
        own = rng.sample(models, rng.randint(1, min(3, len(models))))
        if number == 0:
            own = models
        _owner(draw, f"own-{number}", own)
    owners = [name for name, pool in draw.pools.items() if "sharing" not in pool]
    for number in range(rng.randint(0, 2) if owners else 0):
        lender = rng.choice(owners)
        pool: Keys = {"borrows-from": lender, "priority": _priority(draw, "elastic")}
        pool |= {"cpu": True} if number == 0 and draw.some(0.7) else {}
        pool |= {"termination-grace": "10s"} if draw.some(0.5) else {}
        pool |= {"pods-per-agent": rng.randint(1, 20)} if draw.some(0.5) else {}
        pool |= {"backoff-limit": 0} if draw.some(0.5) else {}
        pool |= (
            {"default-model": rng.choice(draw.pools[lender]["models"])} if draw.some(0.3) else {}
        )
        draw.pools[f"lent-{number}"] = pool


def _owner(draw: Draw, name: str, models: list[str]) -> None:
    rng = draw.rng
    is_inference = draw.some(0.4)
    pool: Keys = {"models": models}
    pool["priority"] = _priority(draw, "inference" if is_inference else "batch")
    can_slice = all(draw.accelerators[model]["vendor"] == "nvidia" for model in models)
    rate = math.gcd(*(int(_rate(draw, model) * 1000) for model in models))
    slices = [number for number in (2, 3, 4, 16) if rate % number == 0]
    if can_slice and slices and draw.some(0.5):
        pool["sharing"] = {"time-slicing": rng.choice(slices)}
    if is_inference:
        pool["work"] = "inference"
        pool |= {"burst": f"{rng.randint(1, 300)}%"} if draw.some(0.5) else {}
        pool |= {"scale-within": "30s"} if "sharing" not in pool and draw.some(0.5) else {}
    else:
        pool |= {"borrowed": rng.choice(("keep", "reclaim"))} if draw.some(0.4) else {}
    pool |= {"default-model": rng.choice(models)} if draw.some(0.4) else {}
    pool |= {"termination-grace": "2m"} if draw.some(0.3) else {}
    draw.pools[name] = pool


def _priority(draw: Draw, kind: str) -> str:
    """Return a priority for a kind of work: an old one or a new one."""
    known = [each["name"] for each in draw.priorities if each["name"].startswith(kind)]
    if known and draw.some(0.5):
        return str(draw.rng.choice(known))
    base = {"elastic": 0, "batch": 1_000, "inference": 100_000}[kind]
    name = f"{kind}-{len(known)}"
    each: Keys = {"name": name, "value": base + 10 * len(known) - 5}
    draw.priorities.append(each | ({"preemptible": True} if kind == "elastic" else {}))
    return name


def _hosts(draw: Draw) -> None:
    for pool, keys in draw.pools.items():
        for model in keys.get("models", ()):
            links = draw.rng.choice((None, "nvswitch", "nvlink", "pcie"))
            for _ in range(draw.rng.randint(1, 2)):
                _group(draw, pool, model, links)
            draw.left[pool, model] = draw.installed[pool, model] * draw.overcommit[0] // 1000
    if any(keys.get("cpu") for keys in draw.pools.values()):
        group = {"hosts": "cpu-[0-3]", "pool": "cpu", "cpu": 64, "memory": "256Gi"}
        draw.nodes.append({**group, "block": "b-cpu", "rack": "r-cpu-[0-1]"})


def _group(draw: Draw, pool: str, model: str, links: str | None) -> None:
    rng, number = draw.rng, len(draw.nodes)
    count, cards = rng.randint(1, 12), rng.randint(1, 8)
    includes = draw.accelerators[model].get("includes", {"cpu": 0})
    name = f"h{number}-[00-{count - 1:02}]" if count > 1 or draw.some(0.5) else f"h{number}"
    racks = rng.randint(1, count)
    keys: Keys = {
        "hosts": name,
        "pool": pool,
        "model": model,
        "cards": cards,
        "cpu": cards * max(draw.per_card["cpu"], includes["cpu"]) + rng.randint(0, 7),
        "memory": f"{cards * 16 + rng.randint(0, 64)}Gi",
        "rack": f"r{number}-[0-{racks - 1}]",
        # Groups may share a block, but not if it is a range: racks would lie in two.
        "block": f"b{number}-[0-{rng.randint(0, racks - 1)}]" if draw.some(0.3) else "b",
    }
    draw.nodes.append(keys | ({"links": links} if links and draw.some(0.8) else {}))
    draw.installed[pool, model] = draw.installed.get((pool, model), 0) + count * cards


def _projects(draw: Draw) -> None:
    rng = draw.rng
    for number in range(rng.randint(1, 6)):
        key, users = rng.choice((f"team{number}", f"组 {number}", f"P.{number}")), {}
        for person in range(rng.randint(1, 4)):
            name = f"{rng.choice(('li', 'Chen', 'o_'))}.{number}-{person}"
            user: Keys = {"logins": [f"oidc:{name}@x", f"cert-{name}"]} if draw.some(0.5) else {}
            share = {"share": f"{rng.randint(1, 100)}%"} if draw.some(0.3) else {}
            users[name] = user | share | ({"admin": draw.some(0.5)} if draw.some(0.3) else {})
        project: Keys = {"tier": f"tier-{rng.randint(0, 2)}", "users": users}
        if key != f"team{number}" or draw.some(0.3):
            project["id"] = f"id{number}"
        if draw.some(0.4):
            project["default-user"] = rng.choice(list(users))
        draw.projects[key] = project


def _tiers(draw: Draw) -> None:
    """Make the tiers that the projects have; what all of them are promised is there."""
    budget = _given(draw) / len(draw.projects)
    for name in sorted({project["tier"] for project in draw.projects.values()}):
        members = sum(project["tier"] == name for project in draw.projects.values())
        cards = _cards(draw, members)
        borrow = _borrow(draw, cards)
        hours = draw.rng.randint(4, 12)
        least = _least(draw, cards, borrow, hours)
        period = draw.rng.choice(list(HOURS))
        if least * HOURS_A_MONTH / HOURS[period] > budget:
            period = "month"
        most = math.floor(budget * HOURS[period] / HOURS_A_MONTH)
        tier: Keys = {
            # No two tiers have the same weight, so no two are alike.
            "weight": 10 * len(draw.tiers) + draw.rng.randint(1, 10),
            "core-hours": f"{draw.rng.randint(least, max(most, least))}/{period}",
            "max-time": draw.rng.choice((f"{hours}h", f"{hours * 60}m", f"{hours - 1}h3600s")),
            "cards": cards,
        }
        tier |= {"borrow": borrow} if borrow else {}
        tier |= {"user-share": f"{draw.rng.randint(draw.cap, 100)}%"} if draw.some(0.4) else {}
        tier |= {"rollover": f"{draw.rng.randint(0, 100)}%"} if draw.some(0.2) else {}
        draw.tiers[name] = tier


def _given(draw: Draw) -> Fraction:
    """Return the core-hours that may be granted a month."""
    rate = sum(cards * _rate(draw, model) for (_, model), cards in draw.installed.items())
    return rate * HOURS_A_MONTH * draw.availability / 100 * draw.overcommit[1] / 1000


def _rate(draw: Draw, model: str) -> Fraction:
    return Fraction(str(draw.accelerators[model]["rate"]))


def _cards(draw: Draw, members: int) -> dict[str, dict[str, int]]:
    cards: dict[str, dict[str, int]] = {}
    for (pool, model), left in draw.left.items():
        if draw.some(0.7):
            # A queue may own nothing and only borrow.
            number = draw.rng.randint(0, left // members)
            cards.setdefault(pool, {})[model] = number
            draw.left[pool, model] = left - number * members
    return cards


def _borrow(draw: Draw, cards: dict[str, dict[str, int]]) -> dict[str, int]:
    borrow = {}
    for pool, models in cards.items():
        beyond = max(draw.installed[pool, model] - number for model, number in models.items())
        if beyond > 0 and "burst" not in draw.pools[pool] and draw.some(0.5):
            borrow[pool] = draw.rng.randint(1, beyond)
    return borrow


def _least(draw: Draw, cards: dict[str, dict[str, int]], borrow: dict[str, int], hours: int) -> int:
    """Return the core-hours that last a day, and of which the cap takes the largest job."""
    day = Fraction(1)
    job = Fraction(0)
    for pool, models in cards.items():
        for model, number in models.items():
            day += number * _rate(draw, model) * 24
            most = min(number + borrow.get(pool, 0), draw.installed[pool, model])
            # With the longest wait that is charged.
            job = max(job, most * _rate(draw, model) * (hours + Fraction(1, 4)))
    return math.ceil(max(day, job * 100 / draw.cap))


def _overrides(draw: Draw) -> None:
    for project in draw.projects.values():
        if not draw.some(0.4):
            continue
        tier = draw.tiers[project["tier"]]
        changes = _changes(draw, tier)
        split = draw.rng.randint(0, len(changes))
        parts = [part for part in (changes[:split], changes[split:]) if part]
        if parts:
            project["overrides"] = [
                {**dict(part), "until": draw.rng.choice(UNTIL), "reason": "发布 / release"}
                for part in parts
            ]


def _changes(draw: Draw, tier: Keys) -> list[tuple[str, object]]:
    """Return changes of a tier's limits that are real, and for which there is room."""
    found: list[tuple[str, object]] = []
    granted, _, period = tier["core-hours"].partition("/")
    amount, borrow = int(granted), tier.get("borrow", {})
    cards, hours = tier["cards"], units.parse_duration(tier["max-time"]) // 3600
    for pool, models in tier["cards"].items():
        model = draw.rng.choice(list(models))
        number = draw.rng.randint(0, models[model] + draw.left[pool, model])
        other = {**cards, pool: {**models, model: number}}
        is_possible = _least(draw, other, borrow, hours) <= amount
        if number != models[model] and is_possible and cards is tier["cards"]:
            # What is freed is given to nobody: it is missed on the day on which this ends.
            draw.left[pool, model] -= max(number - models[model], 0)
            cards = other
            found.append(("cards", {pool: {model: number}}))
    time, longer = draw.rng.choice((("1d", 24), ("13h", 13), ("48h30m", 49)))
    if draw.some(0.5) and _least(draw, cards, borrow, longer) <= amount:
        hours = longer
        found.append(("max-time", time))
    # Others are granted all that there is, so only less is possible.
    least = _least(draw, cards, borrow, hours)
    if draw.some(0.5) and least < amount:
        found.append(("core-hours", f"{draw.rng.randint(least, amount - 1)}/{period}"))
    return found


def _platform(draw: Draw) -> Keys:
    keys: Keys = {
        "apiVersion": "tallyard.dev/v1",
        "kind": "Platform",
        "metadata": {"name": f"p{draw.rng.randint(0, 99)}"},
        "accelerators": draw.accelerators,
        "topology": draw.rng.choice((["block", "rack", "host"], ["rack", "host"], ["host"])),
        "priorities": draw.rng.sample(draw.priorities, len(draw.priorities)),
        "pools": draw.pools,
        "defaults": {"per-card": draw.per_card, "ephemeral-storage": "20Gi"},
        "tiers": draw.tiers,
        "projects": draw.projects,
    }
    if draw.some(0.5):
        keys["time-zone"] = draw.rng.choice(ZONES)
    if draw.some(0.5):
        wait = {"charged": f"{draw.rng.randint(0, 100)}%", "up-to": draw.rng.choice(("0s", "15m"))}
        keys["price"] = {"uneven": draw.rng.choice(("larger", "mean")), "wait": wait}
    if draw.some(0.5):
        keys["freeze"] = {
            "cap": f"{draw.cap}%",
            "fast-lane": {"up-to": draw.rng.choice(("5m", "30m"))},
            "max-time-default": draw.rng.choice(("1h", "4h")),
            "window": "30m",
            "debt-max": "0%",
        }
    if draw.some(0.5):
        keys["gangs"] = _gangs(draw)
        keys["retention"] = {"finished": "3d", "stopped": draw.rng.choice(("1s", "365d"))}
    if draw.some(0.4):
        keys["uncounted"] = ["rdma/", "example.com/nic"]
        keys["defaults"]["resources"] = {"rdma/hca": 1, "example.com/nic0": 2}
    if draw.some(0.5):
        keys["defaults"]["registry"] = "registry.example.com/team"
    if draw.some(0.3):
        keys["waivers"] = [_waiver(draw, "images-pinned"), _waiver(draw, "queues-removed")]
    return keys


def _waiver(draw: Draw, rule: str) -> Keys:
    objects = draw.rng.sample(("ClusterQueue/nlp-*", "Job/nlp/[ab]?", "Pin/*"), 2)
    return {"rule": rule, "objects": objects, "reason": "new cards", "until": "2026-12-31"}


def _gangs(draw: Draw) -> Keys:
    keys: Keys = {
        "start-within": draw.rng.choice(("20s", "1h", "1d")),
        "requeues": draw.rng.randint(0, 100),
        "requeue-after": draw.rng.choice(("0s", "1m", "1d")),
    }
    return {name: keys[name] for name in draw.rng.sample(list(keys), draw.rng.randint(0, 3))}


def _overlay(draw: Draw) -> Keys:
    cards, core_hours = draw.overcommit
    keys: Keys = {
        "base": "platform.yaml",
        "nodes": draw.nodes,
        "overcommit": {"cards": cards / 1000, "core-hours": core_hours / 1000},
        "availability": f"{draw.availability}%",
    }
    if draw.some(0.3):
        keys["gangs"] = _gangs(draw)
        keys["retention"] = {"stopped": "12h"}
    if draw.some(0.3):
        keys["defaults"] = {"registry": "mirror.example.com:5000"}
    if draw.some(0.3):
        keys["waivers"] = [_waiver(draw, "objects-replaced")]
    return keys
