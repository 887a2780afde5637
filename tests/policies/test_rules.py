"""Each rule of the review by itself: what it lets through, what it finds, and in which words."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from policies.finding import Finding
from policies.places import FindingPlaces
from policies.planned import Planned
from policies.rules import RULES, review
from tallyard.catalog import rules as catalog
from tallyard.render.manifest import Manifest
from tallyard.spec.load import load
from tallyard.spec.places import places_in, places_of
from tests.policies.cases import DATA, NOW, STACKS, Case, cases, shipped_plan

CASES = cases()
_EACH_MIN = 3
# How `says` writes the end of each sentence about a secret.
_ADVICE = (
    "write it by `pulumi config set --secret`, or name a Secret that is made beside it, and give "
    "out another one"
)
_CHINESE = re.compile("[一-鿿]")


def _found(case: Case, planned: Planned) -> tuple[Finding, ...]:
    return review(planned, [case.rule]).open


def _sentences(case: Case) -> list[str]:
    return [f"{told.replace('&advice', _ADVICE)} [{case.rule}]" for told in case.says]


@pytest.mark.parametrize("case", [c for c in CASES if c.kind == "allowed"], ids=str)
def test_what_is_allowed_is_not_mentioned(case: Case, tmp_path: Path) -> None:
    planned = case.planned(tmp_path)
    assert len(planned.after) > 50
    assert _found(case, planned) == ()


@pytest.mark.parametrize("case", [c for c in CASES if c.kind == "denied"], ids=str)
def test_what_is_denied_is_told_in_these_words(case: Case, tmp_path: Path) -> None:
    found = _found(case, case.planned(tmp_path))
    assert [each.sentence("en") for each in found] == _sentences(case)
    for each in found:
        chinese = each.sentence("zh")
        assert _CHINESE.search(chinese)
        assert chinese.endswith(f"[{case.rule}]")
        assert each.object_name in chinese or each.kind == "Setting"
        assert "None" not in each.sentence("en") + chinese


@pytest.mark.parametrize("case", [c for c in CASES if c.at], ids=str)
def test_what_is_denied_is_told_with_the_place_that_it_comes_from(
    case: Case, tmp_path: Path
) -> None:
    folder = tmp_path if case.edit else STACKS
    first = _found(case, case.planned(tmp_path))[0]
    loaded = load(folder / f"{case.stack}.yaml", NOW)
    place = FindingPlaces(places_of(loaded), places_in(folder / "versions.yaml")).of(first)
    assert place is not None
    assert f"{place.file.name}:{place.line}" == case.at


@pytest.mark.parametrize("name", RULES)
def test_each_rule_has_its_cases_and_is_in_the_table(name: str) -> None:
    for kind in ("allowed", "denied"):
        assert len([c for c in CASES if (c.rule, c.kind) == (name, kind)]) >= _EACH_MIN
    assert catalog.Gate.REVIEW in catalog.RULES[name].gates


def test_each_case_is_of_a_rule_and_each_rule_of_the_table_is_asked() -> None:
    reviewed = {r.name for r in catalog.RULES.values() if catalog.Gate.REVIEW in r.gates}
    assert reviewed == set(RULES) == {file.stem for file in DATA.glob("*.yaml")}


@pytest.mark.parametrize("name", RULES)
def test_without_a_rule_what_it_denies_is_let_through(name: str, tmp_path: Path) -> None:
    """By no other rule is each case of it told in the same words: it is not there for nothing."""
    others = [other for other in RULES if other != name]
    for number, case in enumerate(c for c in CASES if (c.rule, c.kind) == (name, "denied")):
        folder = tmp_path / str(number)
        folder.mkdir()
        planned = case.planned(folder)
        told = {f.sentence("en") for f in review(planned, others).open}
        assert review(planned, [name]).open
        assert not told & set(_sentences(case))


def test_nothing_is_open_of_the_shipped_lab_and_of_production_only_the_pins() -> None:
    assert review(shipped_plan("local")).open == ()
    found = review(shipped_plan("prod")).open
    assert {each.name for each in found} == {"pins-verified"}
    assert [each.path for each in found] == list(shipped_plan("prod").versions.unverified())


_WAIVER = """
waivers:
  - rule: {rule}
    objects: ["{objects}"]
    reason: it is meant
    until: {until}
"""


def _waived(tmp_path: Path, until: datetime, objects: str) -> Planned:
    case = Case(
        "tenants-fenced",
        "denied",
        "a waiver",
        edit={
            "local.yaml": [
                [
                    "base: platform.yaml\n",
                    f"base: platform.yaml\n{
                        _WAIVER.format(
                            rule='tenants-fenced',
                            objects=objects,
                            until=until.strftime('%Y-%m-%dT%H:%M'),
                        )
                    }",
                ]
            ]
        },
        change={
            "ClusterRole/tallyard:member": {
                "/rules/-": {"apiGroups": ["*"], "resources": ["nodes"], "verbs": ["patch"]}
            }
        },
    )
    return case.planned(tmp_path)


def test_what_the_spec_waives_is_told_apart_and_not_held_against_the_plan(tmp_path: Path) -> None:
    verdict = review(_waived(tmp_path, NOW + timedelta(days=30), "ClusterRole/tallyard:*"))
    assert verdict.open == ()
    ((finding, waiver),) = verdict.waived
    assert finding.subject == "ClusterRole/tallyard:member"
    assert (waiver.rule, waiver.reason) == ("tenants-fenced", "it is meant")


def test_a_waiver_of_other_objects_waives_nothing(tmp_path: Path) -> None:
    verdict = review(_waived(tmp_path, NOW + timedelta(days=30), "ClusterRole/other"))
    assert (len(verdict.open), verdict.waived) == (1, ())


def test_a_waiver_that_has_ended_waives_nothing(tmp_path: Path) -> None:
    verdict = review(_waived(tmp_path, NOW - timedelta(days=1), "ClusterRole/tallyard:*"))
    assert (len(verdict.open), verdict.waived) == (1, ())


_ODD: tuple[Any, ...] = (
    *(None, "", "text", -1, 2.5, float("inf"), True, "\x00\ud800"),
    *([], [None], ["x"], {}, {"x": None}, [{"x": {}}]),
)
# Of each kind: the first of its fields, which no list of the same is among.
_FIELDS_MAX = 40


def _mutated(content: Any, odd: Any) -> list[Any]:
    """Return copies of an object, in each of which one field is something odd."""
    found: list[Any] = []
    if isinstance(content, Mapping):
        for key, value in content.items():
            found.append({**content, key: odd})
            found += [{**content, key: each} for each in _mutated(value, odd)]
    elif isinstance(content, list) and content:
        first, *rest = content
        found.append([odd, *rest])
        found += [[each, *rest] for each in _mutated(first, odd)]
    return found


@pytest.mark.parametrize("odd", _ODD, ids=repr)
def test_no_rule_raises_whatever_stands_in_a_field(odd: Any) -> None:
    shipped = shipped_plan("prod")
    kinds: dict[str, Mapping[str, Any]] = {}
    for each in shipped.after:
        if each.kind != "CustomResourceDefinition":
            kinds.setdefault(each.kind, each.object)
    asked = 0
    for content in kinds.values():
        changed = tuple(Manifest(each) for each in _mutated(content, odd)[:_FIELDS_MAX])
        asked += len(changed)
        # Each is another object to the rules that look at one, and all are of one plan.
        list(review(replace(shipped, after=(*shipped.after, *changed))).open)
        for each in changed:
            planned = replace(shipped, before=(each,))
            list(review(planned, ["objects-replaced", "queues-removed"]).open)
    assert asked > 500


@pytest.mark.parametrize(
    "after",
    [
        (),
        ({},),
        ({"kind": None}, {"kind": 3}, {"kind": "Pod"}, {"kind": "ClusterQueue", "metadata": None}),
        ({"kind": "List", "items": None}, {"kind": "List", "items": [None, 3, {"kind": "Pod"}]}),
        ({"kind": "RoleBindingList", "items": [{"metadata": {"name": "x"}}]},),
        ({"kind": "Secret", "metadata": {"name": ""}, "data": []},),
    ],
    ids=["none", "empty", "no names", "lists", "a list of a kind", "a Secret"],
)
def test_no_rule_raises_at_a_plan_of_almost_nothing(after: tuple[Any, ...]) -> None:
    planned = replace(shipped_plan("local"), after=tuple(map(Manifest, after)), texts={})
    found = review(planned).open
    assert {f.name for f in found} >= {"policies-bound"}
    for each in found:
        assert each.sentence("zh")


def test_a_text_that_is_no_yaml_is_looked_at_line_by_line() -> None:
    texts = {Path("a.yaml"): "a: [\n" * 3 + "# AKIAAAAAAAAAAAAAAAAA\n", Path("b"): "[" * 50_000}
    planned = replace(shipped_plan("local"), texts=texts)
    (found,) = review(planned, ["secrets-hidden"]).open
    assert found.location is not None
    assert (found.location.file, found.location.line) == (Path("a.yaml"), 4)


def test_numbers_as_pulumi_tells_them_are_no_difference() -> None:
    shipped = shipped_plan("local")
    told = json.loads(json.dumps([m.object for m in shipped.after]), parse_int=float)
    planned = replace(shipped, after=tuple(map(Manifest, told)))
    assert review(planned).open == ()


def test_four_times_as_many_objects_take_about_four_times_as_long() -> None:
    """And not sixteen times, as where each is compared with each."""
    _seconds_of(100)
    few, many = _seconds_of(100), _seconds_of(400)
    assert many < 8 * few


def _seconds_of(copies: int) -> float:
    """Return how long a review computes that sees the objects of two projects so many times."""
    shipped = shipped_plan("local")
    added = []
    for number in range(copies):
        for each in shipped.after:
            if each.namespace in ("nlp", "vision") or each.kind == "Namespace":
                content = deepcopy(dict(each.object))
                content["metadata"]["name"] += f"-{number}"
                added.append(Manifest(content))
    planned = replace(shipped, before=(*shipped.before, *added), after=(*shipped.after, *added))
    assert len(planned.after) > 15 * copies
    begun = time.process_time()
    review(planned)
    return time.process_time() - begun
