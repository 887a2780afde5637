"""What holds for every spec that is right, whatever is in it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab.nodes import node_objects
from lab.toolchain.ensure import Toolchain
from tallyard.render.check import check, crd_schemas
from tallyard.render.flavors import CardFlavor, all_flavors
from tallyard.render.manifest import Manifest
from tallyard.render.platform import render
from tallyard.spec.model import Platform
from tests.spec.sanity import faults_of_rendered
from tests.spec.specs import load_texts
from tests.spec.valid_specs import Texts, texts

SEEDS = range(300)


@pytest.fixture(scope="module")
def platforms(tmp_path_factory: pytest.TempPathFactory) -> Mapping[int, Platform]:
    """Three hundred random specs, of which nothing is told."""
    folder = tmp_path_factory.mktemp("specs")
    found: dict[int, Platform] = {}
    for seed in SEEDS:
        loaded = load_texts(folder, *_files(texts(seed)))
        assert loaded.problems == (), (seed, loaded.problems)
        assert loaded.platform is not None
        found[seed] = loaded.platform
    return found


@pytest.fixture(scope="module")
def rendered(platforms: Mapping[int, Platform]) -> Mapping[int, tuple[Manifest, ...]]:
    return {seed: render(platform) for seed, platform in platforms.items()}


def _files(spec: Texts) -> tuple[str, str]:
    return spec.platform, spec.local


def test_the_specs_have_every_kind_of_key(platforms: Mapping[int, Platform]) -> None:
    """Or what holds for them says nothing about the key that none has."""
    every = list(platforms.values())
    pools = [pool for platform in every for pool in platform.pools.values()]
    assert {pool.slices for pool in pools} == {1, 2, 3, 4, 16}
    assert any(pool.burst for pool in pools)
    assert any(pool.borrows_from for pool in pools)
    assert any(pool.cpu for pool in pools)
    projects = [project for platform in every for project in platform.projects.values()]
    assert any(project.limits != project.tier.limits for project in projects)
    assert any(project.limits.borrow for project in projects)
    assert any(platform.uncounted for platform in every)
    assert {platform.overcommit.cards_milli for platform in every} == {1000, 1500, 2250}
    overfull = [
        p for p in every for at in _places(p) if p.cards_granted(*at) > p.cards_installed(*at)
    ]
    assert len(overfull) > 20
    assert {node.links for p in every for node in p.nodes} == {None, "nvswitch", "nvlink", "pcie"}


def test_every_host_is_selected_by_exactly_one_rendered_flavor(
    platforms: Mapping[int, Platform], rendered: Mapping[int, tuple[Manifest, ...]]
) -> None:
    """Flavors counted twice: Kueue knows no hosts, so two over one host promise it twice."""
    for seed, platform in platforms.items():
        flavors = [m for m in rendered[seed] if m.kind == "ResourceFlavor"]
        wanted = [set(m.object["spec"]["nodeLabels"].items()) for m in flavors]
        for node in node_objects(platform):
            own = set(node["metadata"]["labels"].items())
            assert sum(labels <= own for labels in wanted) == 1, (seed, node["metadata"]["name"])
        assert len(platform.nodes) > 0


def test_no_flavor_is_promised_beyond_what_is_installed_and_overcommitted(
    platforms: Mapping[int, Platform], rendered: Mapping[int, tuple[Manifest, ...]]
) -> None:
    """A quota larger than the cluster: the sum over cohorts and queues, of cards and slices."""
    for seed, platform in platforms.items():
        nominal = _nominal(rendered[seed])
        for flavor in all_flavors(platform):
            if not isinstance(flavor, CardFlavor):
                continue
            installed = platform.cards_installed(flavor.pool, flavor.model)
            most = installed * platform.overcommit.cards_milli // 1000
            total = nominal[flavor.name, flavor.resource]
            assert total <= most * flavor.slices, (seed, flavor.name)
            # What nobody is granted stays on the cohort, for who may borrow.
            assert total >= installed * flavor.slices, (seed, flavor.name)


def test_cpu_and_memory_are_not_promised_beyond_the_hosts_unless_cards_are(
    platforms: Mapping[int, Platform], rendered: Mapping[int, tuple[Manifest, ...]]
) -> None:
    for seed, platform in platforms.items():
        nominal = _nominal(rendered[seed])
        for flavor in all_flavors(platform):
            model = flavor.model if isinstance(flavor, CardFlavor) else None
            nodes = platform.nodes_of(flavor.pool, model)
            factor = platform.overcommit.cards_milli if model else 1000
            cpu = sum(node.cpu for node in nodes) * factor
            assert nominal[flavor.name, "cpu"] <= cpu, (seed, flavor.name)


def test_no_two_objects_have_one_name_and_each_name_is_legal(
    rendered: Mapping[int, tuple[Manifest, ...]],
) -> None:
    for seed, manifests in rendered.items():
        assert list(faults_of_rendered(manifests)) == [], seed


def test_what_is_rendered_reads_back_as_itself(
    rendered: Mapping[int, tuple[Manifest, ...]],
) -> None:
    for seed in list(SEEDS)[:20]:
        for manifest in rendered[seed]:
            text = yaml.dump(json.loads(json.dumps(manifest.object)), Dumper=yaml.CSafeDumper)
            assert yaml.load(text, Loader=yaml.CSafeLoader) == manifest.object, (
                seed,
                manifest.path,
            )


def test_the_form_of_the_files_changes_nothing(tmp_path: Path) -> None:
    """Read as plain YAML, written in another style, read again: the same objects."""
    for seed in range(30):
        spec = texts(seed)
        again = [
            yaml.safe_dump(yaml.safe_load(text), sort_keys=False, default_flow_style=False)
            for text in _files(spec)
        ]
        first, second = (load_texts(tmp_path, *both).platform for both in (_files(spec), again))
        assert first is not None
        assert second is not None
        assert render(first) == render(second), seed


def test_a_seed_gives_the_same_spec() -> None:
    assert texts(7) == texts(7)
    assert len({texts(seed) for seed in range(50)}) == 50


def test_a_few_of_them_fit_the_apis_of_kubernetes_and_kueue(
    rendered: Mapping[int, tuple[Manifest, ...]], toolchain: Toolchain
) -> None:
    schemas = crd_schemas(toolchain.kueue_chart)
    for seed in list(SEEDS)[:6]:
        assert check(rendered[seed], crds=schemas, kubernetes="1.36.3") == (), seed


def _places(platform: Platform) -> Iterator[tuple[str, str]]:
    for pool in platform.pools.values():
        if pool.borrows_from is None:
            yield from ((pool.name, model) for model in pool.models)


def _nominal(manifests: tuple[Manifest, ...]) -> Counter[tuple[str, str]]:
    """Return the quota of each flavor and resource over the whole tree, vCPU in thousandths."""
    total: Counter[tuple[str, str]] = Counter()
    for manifest in manifests:
        if manifest.kind not in {"Cohort", "ClusterQueue"}:
            continue
        for flavor, resource in _resources(manifest.object):
            text = resource["nominalQuota"]
            if "/" in resource["name"]:
                total[flavor, resource["name"]] += int(text)
            elif resource["name"] == "cpu":
                cpu = int(text[:-1]) if text.endswith("m") else int(text) * 1000
                total[flavor, "cpu"] += cpu
    return total


def _resources(queue: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, str]]]:
    for group in queue["spec"].get("resourceGroups", ()):
        for flavor in group["flavors"]:
            yield from ((flavor["name"], resource) for resource in flavor["resources"])
