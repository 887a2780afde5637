"""A key's path leads to its line, or to the nearest line above that is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallyard.spec.load import Loaded
from tallyard.spec.places import places_in, places_of
from tests.spec.specs import load_texts

PLATFORM = """\
apiVersion: tallyard.dev/v1
kind: Platform
metadata: {name: small}
gangs: {requeues: 5}
waivers:
  - {rule: images-pinned, objects: [Job/a/b], reason: a mirror, until: 2026-12-31}
  - {rule: pins-verified, objects: ["Pin/*"], reason: a mirror, until: 2026-12-31}
accelerators:
  A100: {vendor: nvidia, memory: 40Gi, rate: 30, origin: measured}
  A100-SXM4-40GB: {vendor: nvidia, memory: 40Gi, rate: 30, origin: measured}
  "RTX.4090": {vendor: nvidia, memory: 24Gi, rate: 12, origin: measured}
topology: [block, rack, host]
priorities:
  - {name: training, value: 1000}
  - name: elastic
    value: 10
    preemptible: true
pools:
  training: {models: [A100, A100-SXM4-40GB, RTX.4090], priority: training}
  elastic: {borrows-from: training, cpu: true, priority: elastic}
defaults: {per-card: {cpu: 4, memory: 4Gi}, ephemeral-storage: 20Gi}
tiers:
  gold:
    weight: 4
    cards:
      training: {A100: 4, A100-SXM4-40GB: 4, RTX.4090: 2}
    core-hours: 100000/month
    max-time: 24h
projects:
  nlp:
    tier: gold
    users:
      li.wei: {logins: ["oidc:li.wei", wei]}
      chen-yu: {}
"""
LOCAL = """\
base: platform.yaml
gangs: {start-within: 30s}
waivers: [{rule: objects-replaced, objects: [Job/a/b], reason: new cards, until: 2026-12-31}]
nodes:
  - {hosts: a100-00, pool: training, model: A100, cards: 8, cpu: 128, memory: 1Ti, block: b0, rack: r0}
  - {hosts: sxm-00, pool: training, model: A100-SXM4-40GB, cards: 8, cpu: 128, memory: 1Ti, block: b0, rack: r0}
  - {hosts: rtx-00, pool: training, model: RTX.4090, cards: 8, cpu: 128, memory: 1Ti, block: b0, rack: r0}
  - {hosts: cpu-00, pool: cpu, cpu: 64, memory: 256Gi, block: b1, rack: r2}
"""


@pytest.fixture
def loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Loaded:
    monkeypatch.chdir(tmp_path)
    found = load_texts(tmp_path, PLATFORM, LOCAL)
    assert found.platform is not None, found.problems
    return found


def place(loaded: Loaded, path: str) -> str:
    at = places_of(loaded).at(path)
    return f"{at.file}:{at.line}:{at.column}" if at else ""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tiers", "platform.yaml:22:1"),
        ("tiers.gold", "platform.yaml:23:3"),
        ("tiers.gold.cards.training", "platform.yaml:26:7"),
        ("tiers.gold.cards.training.A100", "platform.yaml:26:18"),
        ("tiers.gold.cards.training.A100-SXM4-40GB", "platform.yaml:26:27"),
        ('tiers.gold.cards.training."RTX.4090"', "platform.yaml:26:46"),
        ('accelerators."RTX.4090".rate', "platform.yaml:11:46"),
        ("projects.nlp.tier", "platform.yaml:31:5"),
        ('projects.nlp.users."li.wei"', "platform.yaml:33:7"),
        ('projects.nlp.users."li.wei".logins[1]', "platform.yaml:33:40"),
        ("priorities[0]", "platform.yaml:14:5"),
        ("priorities[1].value", "platform.yaml:16:5"),
        ("topology[2]", "platform.yaml:12:25"),
        ("nodes[3]", "local.yaml:8:5"),
        ("nodes[2].cards", "local.yaml:7:54"),
        ("base", "local.yaml:1:1"),
    ],
)
def test_a_path_leads_to_its_key_or_item(loaded: Loaded, path: str, expected: str) -> None:
    assert place(loaded, path) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tiers.gold.borrow.training", "platform.yaml:23:3"),
        ("tiers.gold.cards.elastic", "platform.yaml:25:5"),
        ("tiers.silver.weight", "platform.yaml:22:1"),
        ("pools.training.borrowed", "platform.yaml:19:3"),
        ("priorities[0].preemptible", "platform.yaml:14:5"),
        ("priorities[7].value", "platform.yaml:13:1"),
        ("nodes[3].cards", "local.yaml:8:5"),
        ("nodes[12]", "local.yaml:4:1"),
        ("tiers.gold.weight.more", "platform.yaml:24:5"),
        ("projects.nlp.users.li", "platform.yaml:32:5"),
    ],
)
def test_what_is_not_written_leads_to_the_nearest_above_it(
    loaded: Loaded, path: str, expected: str
) -> None:
    assert place(loaded, path) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("gangs", "local.yaml:2:1"),
        ("gangs.start-within", "local.yaml:2:9"),
        ("gangs.requeues", "platform.yaml:4:9"),
        ("gangs.requeue-after", "local.yaml:2:1"),
        ("waivers[0]", "local.yaml:3:11"),
        ("waivers[1].until", "platform.yaml:7:65"),
        ("defaults.per-card.cpu", "platform.yaml:21:23"),
        ("overcommit.cards", ""),
        ("retention", ""),
    ],
)
def test_of_a_key_of_both_files_the_environments_word_counts_if_it_leads_as_far(
    loaded: Loaded, path: str, expected: str
) -> None:
    assert place(loaded, path) == expected


def test_a_waiver_is_found_in_the_file_that_it_stands_in(loaded: Loaded) -> None:
    assert loaded.platform is not None
    places = places_of(loaded)
    found = {each.rule: places.of_waiver(each) for each in loaded.platform.waivers}
    assert {rule: (str(at.file), at.line) for rule, at in found.items() if at} == {
        "images-pinned": ("platform.yaml", 6),
        "pins-verified": ("platform.yaml", 7),
        "objects-replaced": ("local.yaml", 3),
    }


@pytest.mark.parametrize("path", ["", "tier", "tierss", "[0]", ".tiers", "what.ever", '"tiers"'])
def test_what_begins_with_nothing_that_is_written_is_nowhere(loaded: Loaded, path: str) -> None:
    assert place(loaded, path) == ""


def test_every_path_that_a_message_has_leads_to_the_line_of_its_message(tmp_path: Path) -> None:
    """Messages stand at a key or at its value, which is on the same line here."""
    wrong = PLATFORM.replace("weight: 4", "weight: 0").replace("li.wei, wei", "a b, wei")
    local = LOCAL.replace("cards: 8, cpu: 128, memory: 1Ti, block: b0, rack: r0}\n", "}\n", 1)
    found = load_texts(tmp_path, wrong.replace("value: 10\n", "value: ten\n"), local)
    places = places_of(found)
    told = [problem for problem in found.problems if problem.path]
    assert len(told) > 3
    for problem in told:
        at = places.at(problem.path)
        assert at is not None, problem
        assert (at.file, at.line) == (problem.location.file, problem.location.line), problem


def test_no_file_is_read_again(loaded: Loaded) -> None:
    for file in loaded.files:
        file.unlink()
    assert place(loaded, "nodes") == "local.yaml:4:1"


def test_a_file_that_is_no_yaml_has_no_places(tmp_path: Path) -> None:
    found = load_texts(tmp_path, PLATFORM + "tiers: [", LOCAL)
    places = places_of(found)
    assert places.at("tiers.gold") is None
    assert places.at("nodes[0]") is not None


def test_where_one_file_was_found_all_is_looked_up_in_it(tmp_path: Path) -> None:
    found = load_texts(tmp_path, PLATFORM, "kind: Platform\ntiers:\n  gold: {}\n")
    at = places_of(found).at("tiers.gold")
    assert at is not None
    assert at.line == 3


def test_a_file_beside_the_spec_has_places_too(tmp_path: Path) -> None:
    file = tmp_path / "versions.yaml"
    file.write_text("charts:\n  kueue: {version: 0.17.0, digest: unverified}\n")
    at = places_in(file).at("charts.kueue.digest")
    assert at is not None
    assert (at.file, at.line, at.column) == (file, 2, 28)
    assert places_in(tmp_path / "absent.yaml").at("charts") is None
