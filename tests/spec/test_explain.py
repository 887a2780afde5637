"""Every key of the spec explains itself."""

# ruff: noqa: RUF001 - Chinese has its own punctuation

from __future__ import annotations

from dataclasses import replace

import pytest

from tallyard.spec import schema
from tallyard.spec.explain import UnknownKeyError, explain
from tallyard.spec.tree import Steps, key_path

PLACES = [
    place
    for whole in (schema.platform_schema(), schema.overlay_schema())
    for place in schema.places(whole)
]


def shown(place: Steps) -> str:
    path = ""
    for step in place:
        path = f"{path}[{step}]" if isinstance(step, int) else key_path(path, step)
    return path


@pytest.mark.parametrize("place", PLACES, ids=shown)
def test_a_key_has_a_text_and_a_type(place: Steps) -> None:
    explanation, chinese = explain(shown(place)), explain(shown(place), "zh")
    assert explanation.text.endswith(".")
    assert explanation.type
    assert chinese.text.endswith("。")
    assert chinese.type
    assert bool(chinese.effect) == bool(explanation.effect)
    assert bool(chinese.origin) == bool(explanation.origin)


def test_there_are_keys_to_explain() -> None:
    assert len(PLACES) > 50


def test_the_example_of_the_guide() -> None:
    cards = explain("tiers.gold.cards")
    assert cards.text.startswith("Pool, model, number: the cards that each project")
    assert cards.is_required
    assert cards.default is None
    assert cards.effect == "The nominal quota of the project's ClusterQueue in that pool."
    assert cards.keys == ("NAME",)
    assert not cards.is_per_environment


def test_the_example_of_the_guide_in_chinese() -> None:
    english, chinese = explain("tiers.gold.cards"), explain("tiers.gold.cards", "zh")
    assert chinese.text.startswith("资源池、型号、数量：")
    assert chinese.effect == "项目在该资源池的 ClusterQueue 的名义配额。"
    assert chinese.type == "NAME: NAME: 整数，0 到 1000000"
    assert replace(chinese, text=english.text, effect=english.effect, type=english.type) == english


def test_what_nothing_enforces_yet_says_so_in_both_languages() -> None:
    assert explain("freeze.cap").effect.endswith("nothing enforces it yet.)")
    assert explain("freeze.cap", "zh").effect.endswith("。（会检查和比较；目前尚未强制执行。）")
    assert explain("freeze.cap", "zh").origin.startswith("经验值：")


def test_numbers_show_their_range_and_choices_their_values() -> None:
    assert explain("tiers.gold.weight").type == "whole number, 1 to 1000"
    assert explain("topology").type == "list of block or rack or host"
    assert explain("pools.training.borrowed").default == "keep"
    assert explain("pools.training.termination-grace").type.startswith("time: ")


def test_a_default_says_where_it_comes_from() -> None:
    assert explain("pools.training.termination-grace").origin == "Kubernetes' own default"
    assert explain("tiers.gold.weight").origin == ""


def test_a_key_of_both_files_is_found_in_either() -> None:
    assert explain("defaults.per-card.cpu").text == "vCPU for each card."
    assert not explain("defaults.per-card.cpu").is_per_environment
    assert explain("defaults.registry").is_per_environment


def test_an_advice_with_the_authors_names_left_open_can_be_followed() -> None:
    assert explain("pools.NAME.priority").text == explain("pools.training.priority").text


def test_items_of_lists_can_be_left_out() -> None:
    assert explain("nodes.rack").text == explain("nodes[3].rack").text
    assert explain("nodes.rack").is_per_environment


def test_names_with_dots_stand_in_quotes() -> None:
    assert "API server" in explain('projects.nlp.users."li.wei".logins').text


def test_an_unknown_key_suggests_the_nearest() -> None:
    with pytest.raises(UnknownKeyError, match='Did you mean "weight"') as caught:
        explain("tiers.gold.weigth")
    assert caught.value.nearest == "weight"


def test_an_unknown_key_without_a_near_one_lists_them() -> None:
    with pytest.raises(UnknownKeyError, match=r"Possible: apiVersion, kind, .*, …"):
        explain("zzz")
