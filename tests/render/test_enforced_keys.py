"""Of each key the spec says truly whether something enforces it: it changes what is rendered.

Each key that has an effect is changed alone, in a spec that says all of them, and what comes
out is compared. What only people read (a flavor's rate, the key of a project) is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from tallyard import labels
from tallyard.render.kueue_manager import configuration
from tallyard.render.platform import render
from tallyard.spec import schema
from tallyard.spec.explain import steps_of
from tallyard.spec.fields import EFFECT, NOT_ENFORCED
from tallyard.spec.tree import Steps
from tests.spec.specs import NOW, load_texts

SPEC = """
apiVersion: tallyard.dev/v1
kind: Platform
metadata: {name: whole}
time-zone: UTC
price: {uneven: larger, wait: {charged: 100%, up-to: 5m}}
accelerators:
  A100:
    {vendor: nvidia, memory: 40Gi, rate: 30, origin: measured, includes: {cpu: 4, memory: 16Gi}}
  A800: {vendor: nvidia, memory: 80Gi, rate: 50, origin: measured}
  BI-V150: {vendor: iluvatar, memory: 64Gi, resource: iluvatar.ai/gpu, rate: 20, origin: vendor}
  RTX-4090: {vendor: nvidia, memory: 24Gi, rate: 12, origin: measured}
topology: [block, rack, host]
priorities:
  - {name: inference, value: 10000}
  - {name: training, value: 1000}
  - {name: elastic, value: 10, preemptible: true}
pools:
  training: {models: [A100, A800], priority: training, default-model: A100, borrowed: keep}
  domestic: {models: [BI-V150], work: inference, priority: inference, burst: 50%, scale-within: 30s}
  sliced: {models: [RTX-4090], priority: training, sharing: {time-slicing: 4}}
  elastic:
    borrows-from: training
    cpu: true
    priority: elastic
    termination-grace: 30s
    pods-per-agent: 10
    backoff-limit: 0
freeze: {cap: 30%, fast-lane: {up-to: 15m}, max-time-default: 4h, window: 1h, debt-max: 5%}
defaults:
  registry: registry.example.com/team
  per-card: {cpu: 4, memory: 4Gi}
  ephemeral-storage: 20Gi
  resources: {rdma/hca: 1}
uncounted: [rdma/]
overcommit: {cards: 1, core-hours: 1}
availability: 90%
gangs: {start-within: 1h, requeues: 3, requeue-after: 1m}
retention: {finished: 7d, stopped: 7d}
tiers:
  gold:
    weight: 4
    core-hours: 200000/month
    max-time: 24h
    user-share: 100%
    rollover: 0%
    cards: {training: {A100: 8, A800: 8}, domestic: {BI-V150: 4}, sliced: {RTX-4090: 4}}
    borrow: {training: 4}
  bronze: {weight: 1, cards: {training: {A100: 2}}, core-hours: 30000/month, max-time: 8h}
projects:
  nlp:
    id: nlp
    tier: gold
    default-user: li.wei
    users: {li.wei: {logins: ["oidc:li.wei"], share: 90%, admin: true}, chen.yu: {share: 90%}}
    overrides: [{cards: {training: {A100: 6}}, borrow: {training: 2}, until: 2026-12-31, reason: fair}]
  vision: {tier: bronze, users: {zhao.min: {}}}
"""
HOSTS = """
base: platform.yaml
nodes:
  - {hosts: "a100-[00-01]", pool: training, model: A100, cards: 8, cpu: 128, memory: 1Ti, block: b0, rack: "r[0-1]", links: nvlink}
  - {hosts: a800-00, pool: training, model: A800, cards: 8, cpu: 128, memory: 1Ti, block: b0, rack: r1}
  - {hosts: bi-00, pool: domestic, model: BI-V150, cards: 8, cpu: 64, memory: 512Gi, block: b1, rack: r2}
  - {hosts: rtx-00, pool: sliced, model: RTX-4090, cards: 4, cpu: 64, memory: 512Gi, block: b1, rack: r2}
  - {hosts: cpu-00, pool: cpu, cpu: 64, memory: 256Gi, block: b1, rack: r2}
"""
# Another value of each key; one of several names is enough.
OTHERS: Mapping[str, Any] = {
    "price.uneven": "mean",
    "price.wait.charged": "50%",
    "price.wait.up-to": "10m",
    "accelerators.A100.memory": "48Gi",
    "accelerators.BI-V150.resource": "iluvatar.ai/another",
    "accelerators.A100.rate": 31,
    "accelerators.A100.includes": {"cpu": 3, "memory": "12Gi"},
    "topology": ["rack", "host"],
    "priorities[0].value": 20_000,
    "priorities[1].preemptible": True,
    "pools.training.models": ["A800", "A100"],
    "pools.sliced.priority": "elastic",
    "pools.training.default-model": "A800",
    "pools.training.borrowed": "reclaim",
    "pools.domestic.burst": "100%",
    "pools.domestic.scale-within": "60s",
    "pools.sliced.sharing": "exclusive",
    "pools.sliced.sharing.time-slicing": 2,
    "pools.elastic.cpu": False,
    "pools.elastic.termination-grace": "20s",
    "pools.elastic.pods-per-agent": 11,
    "pools.elastic.backoff-limit": 1,
    "freeze.cap": "40%",
    "freeze.fast-lane.up-to": "10m",
    "freeze.max-time-default": "2h",
    "freeze.window": "2h",
    "freeze.debt-max": "6%",
    "defaults.registry": "registry.example.com/another",
    "defaults.per-card": {"cpu": 2, "memory": "2Gi"},
    "defaults.ephemeral-storage": "30Gi",
    "defaults.resources": {"rdma/hca": 2},
    "uncounted": ["rdma/", "example.com/"],
    "gangs.start-within": "2h",
    "gangs.requeues": 4,
    "gangs.requeue-after": "2m",
    "retention.finished": "3d",
    "retention.stopped": "3d",
    "tiers.gold.weight": 5,
    "tiers.gold.core-hours": "210000/month",
    "tiers.gold.max-time": "25h",
    "tiers.gold.user-share": "95%",
    "tiers.gold.rollover": "10%",
    "tiers.gold.cards": {"training": {"A100": 7, "A800": 8}},
    "tiers.bronze.borrow": {"training": 1},
    "projects.nlp.id": "speech",
    "projects.nlp.default-user": "chen.yu",
    "projects.vision.users": {"wu.hao": {}},
    'projects.nlp.users."li.wei".logins': ["oidc:wei"],
    'projects.nlp.users."li.wei".share': "80%",
    'projects.nlp.users."li.wei".admin': False,
    "projects.nlp.overrides": [],
    "projects.nlp.overrides[0].cards": {"training": {"A100": 5}},
    "projects.nlp.overrides[0].borrow": {"training": 1},
    "projects.nlp.overrides[0].until": "2026-08-01",
    "nodes[0].hosts": "a100-[00-02]",
    "nodes[0].links": "nvswitch",
}
# What acts elsewhere: checks, labels of hosts, what people are shown. And what can only change
# together with other keys, which must agree with it.
ELSEWHERE = (
    *("time-zone", "overcommit.cards", "overcommit.core-hours", "availability"),
    *("accelerators.NAME.vendor", "accelerators.NAME.origin"),
    *("nodes[0].pool", "nodes[0].block", "nodes[0].rack", "projects.NAME.overrides[0].reason"),
    *("priorities[0].name", "pools.NAME.work", "pools.NAME.borrows-from"),
    "waivers",
)


def _told() -> Mapping[Steps, str]:
    """Return the effect of each key that has one, but for those with others below them."""
    found = {
        place: str((schema.at(whole, place) or {}).get(EFFECT, ""))
        for whole in (schema.overlay_schema(), schema.platform_schema())
        for place in schema.places(whole)
    }
    effects = {place: effect for place, effect in found.items() if effect}
    return {
        place: effect
        for place, effect in effects.items()
        if not any(other != place and other[: len(place)] == place for other in effects)
    }


TOLD = _told()


def _place(path: str) -> Steps | None:
    """Return the place in the schema of a key of the spec; None of one with others below it."""
    return next((place for place in TOLD if _is_one_of(steps_of(path), place)), None)


def _is_one_of(steps: Steps, place: Steps) -> bool:
    return len(steps) == len(place) and all(
        own in {0 if isinstance(step, int) else step, "NAME"}
        for step, own in zip(steps, place, strict=True)
    )


def _rendered(folder: Path, platform: Any, hosts: Any) -> object:
    """Return all that is made of a spec, as far as something acts by it."""
    loaded = load_texts(folder, yaml.safe_dump(platform), yaml.safe_dump(hosts), NOW)
    assert loaded.platform is not None, loaded.problems
    objects = [deepcopy(dict(manifest.object)) for manifest in render(loaded.platform)]
    for item in objects:
        item["metadata"].get("annotations", {}).pop(labels.RATE, None)
    return objects, configuration(loaded.platform)


def _with(content: Any, steps: Steps, value: Any) -> Any:
    whole = here = deepcopy(content)
    for step in steps[:-1]:
        here = here[step]
    here[steps[-1]] = value
    return whole


@pytest.mark.parametrize("path", OTHERS)
def test_a_key_says_that_nothing_enforces_it_while_it_changes_nothing(
    path: str, tmp_path: Path
) -> None:
    platform, hosts = yaml.safe_load(SPEC), yaml.safe_load(HOSTS)
    steps, before = steps_of(path), _rendered(tmp_path, platform, hosts)
    if steps[0] in hosts:
        after = _rendered(tmp_path, platform, _with(hosts, steps, OTHERS[path]))
    else:
        after = _rendered(tmp_path, _with(platform, steps, OTHERS[path]), hosts)
    effect = TOLD.get(_place(path) or (), "")
    assert (after == before) is effect.endswith(NOT_ENFORCED)


def test_every_key_with_an_effect_is_tried_or_acts_elsewhere() -> None:
    tried = {place for path in OTHERS if (place := _place(path))}
    elsewhere = {place for path in ELSEWHERE if (place := _place(path))}
    assert tried | elsewhere == TOLD.keys()
    assert not tried & elsewhere
    assert not any(TOLD[place].endswith(NOT_ENFORCED) for place in elsewhere)
