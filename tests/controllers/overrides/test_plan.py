"""What an override has changed, before and after its end, and what is taken back of it."""

from __future__ import annotations

import copy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any

import pytest

from tallyard.controllers.overrides.plan import Return, difference, ended, returns
from tallyard.render.platform import render
from tallyard.spec.in_force import ends, platform_at
from tallyard.spec.model import Override, Platform

A800 = "A800-SXM4-80GB"
FIRST = datetime(2026, 12, 10, tzinfo=UTC)
SECOND = datetime(2026, 12, 20, tzinfo=UTC)
DAY = timedelta(days=1)


def _override(until: datetime, cards: int, max_time: int | None = None) -> Override:
    return Override(
        MappingProxyType({"training": MappingProxyType({A800: cards})}),
        MappingProxyType({}),
        core_hours=None,
        max_time_seconds=max_time,
        until=until,
        reason="release",
    )


@pytest.fixture
def overridden(platform: Platform) -> Platform:
    """The shipped spec with two overrides of nlp, one after the other."""
    nlp = platform.projects["nlp"]
    more = (_override(FIRST, 24), _override(SECOND, 20, max_time=3600))
    projects = {**platform.projects, "nlp": replace(nlp, overrides=more)}
    return replace(platform, projects=MappingProxyType(projects))


def _objects(platform: Platform, at: datetime) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the objects as an `up` at that moment would have written them."""
    return {
        (each.kind, each.name): {
            **copy.deepcopy(dict(each.object)),
            "metadata": {"name": each.name, "resourceVersion": "7"},
        }
        for each in render(platform_at(platform, at))
        if each.kind in {"ClusterQueue", "Cohort", "ProjectTable"}
    }


def _after(found: tuple[Return, ...], live: dict[tuple[str, str], dict[str, Any]]) -> Any:
    """Return the specs of all objects once what is to be taken back was."""
    specs = {place: each["spec"] for place, each in live.items()}
    for each in found:
        place = (each.kind, each.name)
        if change := each.change(live[place]):
            assert change["metadata"] == {"resourceVersion": "7"}
            specs[place] = _merged(specs[place], change["spec"])
    return specs


def _merged(was: Any, patch: Any) -> Any:
    """Return what an API server makes of a merge patch (RFC 7396)."""
    if not isinstance(patch, dict):
        return patch
    found = dict(was) if isinstance(was, dict) else {}
    for key, value in patch.items():
        if value is None:
            found.pop(key, None)
        else:
            found[key] = _merged(found.get(key), value)
    return found


def _limits(platform: Platform) -> tuple[int, int]:
    found = platform.projects["nlp"].limits
    return found.cards["training"][A800], found.max_time_seconds


def test_an_override_holds_until_its_end_and_not_at_it(overridden: Platform) -> None:
    assert ends(overridden) == (FIRST, SECOND)
    told = [
        _limits(platform_at(overridden, at)) for at in (FIRST - DAY, FIRST, SECOND - DAY, SECOND)
    ]
    # The later entry of the spec goes before the earlier one.
    assert told == [(20, 3600), (20, 3600), (20, 3600), (16, 72 * 3600)]


def test_nothing_is_taken_back_while_it_holds(overridden: Platform) -> None:
    assert returns(overridden, FIRST - DAY) == ()
    assert ended(overridden, FIRST - DAY) == ()


def test_at_its_end_all_that_it_changed_is_what_an_up_would_write_then(
    overridden: Platform,
) -> None:
    found = returns(overridden, SECOND)
    assert {each.kind for each in found} == {"ClusterQueue", "Cohort", "ProjectTable"}
    live = _objects(overridden, SECOND - DAY)
    wanted = {place: each["spec"] for place, each in _objects(overridden, SECOND).items()}
    assert _after(found, live) == wanted
    assert all(
        each.change(_objects(overridden, SECOND)[each.kind, each.name]) is None for each in found
    )
    assert ended(overridden, SECOND)[1] == "nlp, until 2026-12-20 08:00 CST: release"


def test_what_was_never_brought_up_in_between_is_taken_back_too(platform: Platform) -> None:
    """The first override's quota stands there still when the second one has ended, too."""
    nlp = platform.projects["nlp"]
    more = (_override(FIRST, 24), _override(SECOND, 24, max_time=3600))
    projects = {**platform.projects, "nlp": replace(nlp, overrides=(more[1], more[0]))}
    both = replace(platform, projects=MappingProxyType(projects))
    live = _objects(both, FIRST - DAY)
    wanted = {place: each["spec"] for place, each in _objects(both, SECOND).items()}
    assert _after(returns(both, SECOND), live) == wanted


def test_what_somebody_has_set_by_hand_since_is_theirs(overridden: Platform) -> None:
    live = _objects(overridden, SECOND - DAY)["ClusterQueue", "nlp-training"]
    (back,) = (each for each in returns(overridden, SECOND) if each.name == "nlp-training")
    assert back.change(live)
    resources = live["spec"]["resourceGroups"][0]["flavors"][0]["resources"]
    resources[0]["nominalQuota"] = "1"
    assert back.change(live) is None


def test_what_kueue_fills_in_is_no_change(overridden: Platform) -> None:
    live = _objects(overridden, SECOND - DAY)["ClusterQueue", "nlp-training"]
    live["spec"]["newDefault"] = "x"
    live["spec"]["resourceGroups"][0]["flavors"][0]["newDefault"] = "x"
    (back,) = (each for each in returns(overridden, SECOND) if each.name == "nlp-training")
    change = back.change(live)
    assert change
    assert set(change["spec"]) == {"resourceGroups"}


@pytest.mark.parametrize(
    ("was", "wanted"),
    [
        ({"a": 1, "b": {"c": 2}}, {"a": 1, "b": {"c": 3}}),
        ({"a": 1, "b": 2}, {"b": 2}),
        ({"a": {"x": 1, "y": 2}}, {"a": {"y": 2}, "z": []}),
        ({"a": [1, 2]}, {"a": [2]}),
        ({}, {}),
    ],
)
def test_a_merge_patch_makes_one_of_the_other(was: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert _merged(was, difference(was, wanted)) == wanted
