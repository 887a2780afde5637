"""Quotas that count a card twice, by whatever slip: two flavors over the same hosts.

Kueue knows nothing of hosts; if two flavors select the same ones, it promises their cards
twice in silence. So each way in which a spec could bring that about is refused, and
`overcommit`, which says that more is promised than there is, changes nothing about it.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tallyard.render.flavors import all_flavors
from tallyard.render.platform import render
from tests.spec.specs import LOCAL, PLATFORM, changed
from tests.spec.variations import loaded, told, varied

MOST = "overcommit: {cards: 10, core-hours: 10}\n"

TWO_MODELS = varied(
    PLATFORM,
    ("  BI-V150: {v", "  A100-SXM4: {vendor: nvidia, memory: 40Gi, rate: 30, origin: measured}\n  BI-V150: {v"),
    ("models: [A100]", "models: [A100, A100-SXM4]"),
)  # fmt: skip
GROUP = (
    "  - {{hosts: {}, pool: {}, model: {}, cards: 8, cpu: 128, memory: 1Ti, block: b0, rack: r0}}\n"
)


def group(hosts: str, pool: str = "training", model: str = "A100") -> str:
    return GROUP.format(hosts, pool, model)


SHARED = varied(
    PLATFORM,
    (
        "  elastic: {",
        "  shared: {models: [A100], priority: training, sharing: {time-slicing: 4}}\n  elastic: {",
    ),
)

# What is wrong, the platform, the environment, and where what is told.
SLIPS: dict[str, tuple[str, str, tuple[str, str]]] = {
    "one host in two pools": (
        SHARED,
        LOCAL + group("a100-01", "shared"),
        ("SPEC414", "nodes[3].hosts"),
    ),
    "a sliced and an exclusive pool over the same hosts": (
        SHARED,
        LOCAL + group('"a100-[00-01]"', "shared"),
        ("SPEC414", "nodes[3].hosts"),
    ),
    "one card under two names of its model": (
        TWO_MODELS,
        LOCAL + group('"a100-[00-01]"', model="A100-SXM4"),
        ("SPEC413", "nodes[3].hosts"),
    ),
    "ranges of one pool that overlap in part": (
        PLATFORM,
        LOCAL + group('"a100-[01-02]"'),
        ("SPEC404", "nodes[3].hosts"),
    ),
    "ranges of two pools that overlap in part": (
        SHARED,
        LOCAL + group('"a100-[01-03]"', "shared"),
        ("SPEC414", "nodes[3].hosts"),
    ),
    "a range that lies within another": (
        PLATFORM,
        changed(LOCAL, "[00-01]", "[00-09]") + group('"a100-[03-05]"'),
        ("SPEC404", "nodes[3].hosts"),
    ),
    "a range that repeats a number": (
        PLATFORM,
        changed(LOCAL, "[00-01]", "[00-01,01]"),
        ("SPEC404", "nodes[0].hosts"),
    ),
    "the same host from two different ranges": (
        SHARED,
        LOCAL + group('"a100-0[1-1]"', "shared"),
        ("SPEC414", "nodes[3].hosts"),
    ),
    "a host with cards that is a CPU host too": (
        PLATFORM,
        changed(LOCAL, "hosts: cpu-00", 'hosts: "a100-[00-01]"'),
        ("SPEC414", "nodes[2].hosts"),
    ),
    "a model that is listed twice in a pool": (
        changed(PLATFORM, "models: [A100]", "models: [A100, A100]"),
        LOCAL,
        ("SPEC310", "pools.training.models[1]"),
    ),
    "a pool called like the one of CPU hosts": (
        changed(PLATFORM, "  elastic: {", "  cpu: {models: [A100], priority: training}\n  elastic: {"),
        LOCAL + group("a100-02", "cpu"),
        ("SPEC302", "pools.cpu"),
    ),
    "a pool that borrows and lists the models as its own": (
        changed(PLATFORM, "cpu: true,", "cpu: true, models: [A100],"),
        LOCAL,
        ("SPEC304", "pools.elastic.models"),
    ),
    "hosts of a pool that borrows": (
        PLATFORM,
        LOCAL + group("a100-02", "elastic"),
        ("SPEC407", "nodes[3].pool"),
    ),
    "a pool that is written twice": (
        changed(PLATFORM, "  elastic: {", "  training: {models: [A100], priority: training}\n  elastic: {"),
        LOCAL,
        ("SPEC022", "pools.training"),
    ),
    "one project's queue under another's name": (
        changed(PLATFORM, "  vision: {", "  vision: {id: nlp, "),
        LOCAL,
        ("SPEC602", "projects.vision.id"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("slip", SLIPS)
@pytest.mark.parametrize("overcommit", ["", MOST], ids=["", "with overcommit"])
def test_what_would_count_cards_twice_is_refused_whatever_overcommit_says(
    tmp_path: Path, slip: str, overcommit: str
) -> None:
    """Flavors counted twice: overlapping ones are always refused, also with overcommit."""
    platform, local, expected = SLIPS[slip]
    found = told(tmp_path, platform, local + overcommit)
    assert expected in found
    assert {code for code, _ in found} == {expected[0]}


@pytest.mark.parametrize("two", [("A100", "a100"), ("A100.SXM", "A100-SXM"), ("A_1", "A.1")])
def test_names_that_become_one_name_of_an_object_are_refused(
    tmp_path: Path, two: tuple[str, str]
) -> None:
    """Flavors counted twice: the second would replace the first, and its hosts be nobody's."""
    first, second = two
    models = varied(PLATFORM, ("  A100: {", f"  {first}: {{"), ("models: [A100]", f"models: [{first}, {second}]"),
        ("  BI-V150: {v", f"  {second}: {{vendor: nvidia, memory: 40Gi, rate: 30, origin: measured}}\n  BI-V150: {{v"))  # fmt: skip
    models = models.replace("{A100: ", f"{{{first}: ")
    local = LOCAL.replace("model: A100", f"model: {first}") + group("a100-02", model=second)
    assert [code for code, _ in told(tmp_path, models, local + MOST)] == ["SPEC311"]


def test_one_model_in_two_pools_on_hosts_of_its_own_is_right(tmp_path: Path) -> None:
    """The near miss: whole cards and slices side by side; no host is in both flavors."""
    platform = loaded(
        tmp_path, SHARED, changed(LOCAL, "[00-01]", "[00-02]") + group("a100-03", "shared")
    )
    selected = Counter(
        node.name
        for flavor in all_flavors(platform)
        for node in platform.nodes
        if (node.pool, node.model) == (flavor.pool, getattr(flavor, "model", None))
    )
    assert selected == Counter(node.name for node in platform.nodes)


def test_two_names_of_one_card_are_two_flavors_if_each_has_its_hosts(tmp_path: Path) -> None:
    platform = loaded(tmp_path, TWO_MODELS, LOCAL + group("a100-02", model="A100-SXM4"))
    flavors = [m.name for m in render(platform) if m.kind == "ResourceFlavor"]
    assert len(flavors) == len(set(flavors)) == 4
