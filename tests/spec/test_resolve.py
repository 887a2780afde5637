"""What a valid spec means."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallyard.spec.model import Borrowed, Level, Platform
from tests.spec.specs import LOCAL, PLATFORM, changed, load_texts


@pytest.fixture
def platform(tmp_path: Path) -> Platform:
    loaded = load_texts(tmp_path)
    assert loaded.problems == ()
    assert loaded.platform is not None
    return loaded.platform


def test_nvidia_cards_have_nvidias_resource_and_others_their_own(platform: Platform) -> None:
    resources = {name: card.resource for name, card in platform.accelerators.items()}
    assert resources == {"A100": "nvidia.com/gpu", "BI-V150": "iluvatar.ai/gpu"}
    assert platform.accelerators["A100"].memory_bytes == 40 * 2**30


def test_a_borrowing_pool_has_its_lenders_models_and_gives_them_back(platform: Platform) -> None:
    elastic = platform.pools["elastic"]
    assert elastic.models == ("A100",)
    assert elastic.cohort == "training"
    assert elastic.borrowed is Borrowed.RECLAIM
    assert elastic.priority.preemptible
    assert platform.pools["training"].borrowed is Borrowed.KEEP


def test_ids_and_logins_default_to_the_key(platform: Platform) -> None:
    nlp = platform.projects["nlp"]
    assert (nlp.id, nlp.namespace) == ("nlp", "nlp")
    assert {user.name: user.logins for user in nlp.users} == {
        "li.wei": ("oidc:li.wei",),
        "chen.yu": ("chen.yu",),
    }
    assert nlp.tier is platform.tiers["gold"]


def test_an_id_survives_a_rename(tmp_path: Path) -> None:
    renamed = changed(PLATFORM, "  nlp: {", "  语言组: {id: nlp, ")
    loaded = load_texts(tmp_path, renamed)
    assert loaded.platform is not None
    assert loaded.platform.projects["语言组"].namespace == "nlp"


def test_hosts_are_written_out_with_their_places(platform: Platform) -> None:
    assert [(n.name, n.block, n.rack, n.cards) for n in platform.nodes] == [
        ("a100-00", "b0", "r0", 8),
        ("a100-01", "b0", "r1", 8),
        ("bi-00", "b1", "r2", 8),
        ("cpu-00", "b1", "r2", 0),
    ]
    assert platform.cards_installed("training", "A100") == 16
    assert [node.name for node in platform.nodes_of("cpu", None)] == ["cpu-00"]
    assert platform.nodes[0].memory_bytes == 2**40


def test_the_order_of_the_file_is_kept(platform: Platform) -> None:
    assert list(platform.pools) == ["training", "domestic", "elastic"]
    assert platform.topology == (Level.BLOCK, Level.RACK, Level.HOST)


def test_one_person_may_be_in_two_projects(tmp_path: Path) -> None:
    shared = changed(PLATFORM, "zhao.min: {}", "chen.yu: {}")
    assert load_texts(tmp_path, shared).problems == ()


def test_exactly_what_is_installed_may_be_promised(tmp_path: Path) -> None:
    full = changed(PLATFORM, "{A100: 2}", "{A100: 8}")
    assert load_texts(tmp_path, full).problems == ()
    one_host_less = changed(LOCAL, "[00-01]", "00").replace('"r[0-1]"', "r0")
    assert [p.code for p in load_texts(tmp_path, full, one_host_less).problems] == ["SPEC501"]
