"""The committed JSON Schemas are what the models say, and agree with the loader."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tallyard.spec import schema
from tallyard.spec.fields import EFFECT, PER_ENVIRONMENT
from tallyard.spec.problem import Problem
from tallyard.spec.source import parse
from tallyard.spec.tree import key_path, plain
from tests.spec.specs import DATA, LOCAL, PLATFORM, STACKS, changed, load_texts

SCHEMAS = Path(__file__).parents[2] / "schemas"
GENERATED = {"platform": schema.platform_schema(), "local": schema.overlay_schema()}
COMMITTED = {"platform": "platform.schema.json", "local": "overlay.schema.json"}
CASES = sorted((DATA / "broken").glob("*.yaml"))

# Faults of one value that JSON Schema has no word for, with a change that shows it; only the
# loader tells them.
LOADER_ONLY = {
    # The range of a figure with a unit (30%, 4h) is not that of a text.
    "SPEC111": ("max-time: 24h", "max-time: 91d"),
    # A name that a range spreads out to is seen when it is spread out.
    "SPEC116": ('rack: "r[0-1]"', 'rack: "r[0-1].-"'),
    # Whole bytes, and less than 1Mi, are arithmetic on a text.
    "SPEC118": ("memory: 40Gi", "memory: 1.00000001Gi"),
    "SPEC119": ("memory: 40Gi", 'memory: "40"'),
    # Multiples of 0.001 are not exact in binary.
    "SPEC128": ("rate: 30", "rate: 30.0001"),
    # Which time zones there are is a table of the machine's.
    "SPEC130": ("kind: Platform", "kind: Platform\ntime-zone: Mars/Olympus"),
    # 30 February looks like a day.
    "SPEC131": (
        "vision: {tier: bronze,",
        "vision: {tier: bronze, overrides: [{until: 2027-02-30, reason: launch}],",
    ),
}


def committed(name: str) -> Any:
    return json.loads((SCHEMAS / COMMITTED[name]).read_text(encoding="utf-8"))


def faults(name: str, text: str) -> list[jsonschema.ValidationError]:
    """Read a text as the loader does, and compare it with what editors compare it with."""
    tree = parse(text, Path(f"{name}.yaml")).tree
    assert tree is not None
    data = json.loads(json.dumps(plain(tree)))
    return list(jsonschema.Draft202012Validator(committed(name)).iter_errors(data))


def shown(path: Any) -> str:
    text = ""
    for step in path:
        text = f"{text}[{step}]" if isinstance(step, int) else key_path(text, step)
    return text


@pytest.mark.parametrize("name", GENERATED)
def test_the_committed_schema_is_the_generated_one(name: str) -> None:
    text = (SCHEMAS / COMMITTED[name]).read_text(encoding="utf-8")
    assert text == schema.text(GENERATED[name]), "write it anew: tally spec schema"


@pytest.mark.parametrize("name", GENERATED)
def test_the_schemas_are_valid_drafts_2020_12(name: str) -> None:
    for whole in (committed(name), GENERATED[name]):
        assert whole["$schema"] == "https://json-schema.org/draft/2020-12/schema"
        jsonschema.Draft202012Validator.check_schema(whole)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("platform", PLATFORM),
        ("local", LOCAL),
        ("platform", (STACKS / "platform.yaml").read_text()),
        ("local", (STACKS / "local.yaml").read_text()),
        ("local", (STACKS / "prod.yaml").read_text()),
    ],
)
def test_a_valid_file_fits_its_schema(name: str, text: str) -> None:
    assert [fault.message for fault in faults(name, text)] == []


def shape_problems(case: Path, folder: Path) -> list[Problem]:
    name, text = case.stem.partition("-")[0], case.read_text()
    texts = {"platform": PLATFORM, "local": LOCAL, name: text}
    loaded = load_texts(folder, texts["platform"], texts["local"])
    return [
        problem
        for problem in loaded.problems
        if problem.code.startswith("SPEC1") and problem.location.file.stem == name
    ]


def is_seen(problem: Problem, found: list[jsonschema.ValidationError]) -> bool:
    """Say whether an editor underlines the value, or the mapping whose key is at fault."""
    above = re.sub(r'(^|\.)("[^"]*"|[^."\[\]]+)$|\[\d+\]$', "", problem.path)
    return any(shown(fault.absolute_path) in (problem.path, above) for fault in found)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_an_editor_underlines_what_the_loader_refuses_by_shape(
    case: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = case.stem.partition("-")[0]
    problems = shape_problems(case, tmp_path)
    found = faults(name, case.read_text()) if problems else []
    unseen = [each for each in problems if not is_seen(each, found)]
    assert {each.code for each in unseen} <= LOADER_ONLY.keys(), [each.message for each in found]


@pytest.mark.parametrize("code", LOADER_ONLY)
def test_what_only_the_loader_tells_is_not_seen_by_an_editor(code: str, tmp_path: Path) -> None:
    old, new = LOADER_ONLY[code]
    name = "platform" if old in PLATFORM else "local"
    texts = {"platform": PLATFORM, "local": LOCAL}
    text = texts[name] = changed(texts[name], old, new)
    loaded = load_texts(tmp_path, texts["platform"], texts["local"])
    assert {problem.code for problem in loaded.problems} >= {code}
    assert faults(name, text) == []


def test_the_overlay_has_the_keys_that_are_marked_as_per_environment() -> None:
    """At every depth: what is marked with all below it, and the sections that lead there."""
    platform, overlay = GENERATED["platform"], GENERATED["local"]
    assert all(rule.get(PER_ENVIRONMENT) for rule in overlay["properties"].values())
    marked = {
        place
        for place in schema.places(platform)
        if any(
            (schema.at(platform, place[:length]) or {}).get(PER_ENVIRONMENT)
            for length in range(1, len(place) + 1)
        )
    }
    assert len(marked) >= 5
    expected = {place[:length] for place in marked for length in range(1, len(place) + 1)}
    own = {"base", "nodes"}
    assert {place for place in schema.places(overlay) if place[0] not in own} == expected
    assert own.isdisjoint(platform["properties"])


def test_a_key_of_both_files_is_described_alike() -> None:
    for place in schema.places(GENERATED["local"]):
        twin = schema.at(GENERATED["platform"], place)
        if twin is not None and "properties" not in twin:
            here = schema.at(GENERATED["local"], place) or {}
            for fact in ("description", EFFECT):
                assert here.get(fact) == twin.get(fact), place


UNION = {
    "properties": {
        "sharing": {
            "description": "How.",
            "oneOf": [{"const": "exclusive", "type": "string"}, {"$ref": "#/$defs/Slices"}],
        },
        "until": {"anyOf": [{"$ref": "#/$defs/Day"}, {"type": "null"}], "default": None},
        "either": {
            "anyOf": [
                {"properties": {"a": {"type": "string"}}, "type": "object"},
                {"properties": {"a": {"type": "integer"}, "b": {"enum": [1]}}, "type": "object"},
            ]
        },
        "level": {"anyOf": [{"enum": ["low", "high"]}, {"const": "none"}]},
    },
    "$defs": {
        "Slices": {
            "properties": {"time-slicing": {"type": "integer", "minimum": 2}},
            "required": ["time-slicing"],
            "type": "object",
            "description": "Cut.",
        },
        "Day": {"type": "string", "pattern": "^[0-9]+$"},
    },
}


def test_a_place_for_a_word_or_a_mapping_tells_of_both() -> None:
    node = schema.at(UNION, ("sharing",)) or {}
    assert node["enum"] == ["exclusive"]
    assert list(node["properties"]) == ["time-slicing"]
    assert node["required"] == ["time-slicing"]
    assert node["type"] == ["string", "object"]
    assert node["description"] == "How."
    assert [form["type"] for form in node["anyOf"]] == ["string", "object"]


def test_a_key_is_found_in_whichever_form_has_it() -> None:
    assert schema.at(UNION, ("sharing", "time-slicing")) == {"type": "integer", "minimum": 2}
    assert schema.at(UNION, ("sharing", "exclusive")) is None
    assert ("sharing", "time-slicing") in set(schema.places(UNION))


def test_a_form_beside_null_stands_for_itself() -> None:
    node = schema.at(UNION, ("until",))
    assert node == {"type": "string", "pattern": "^[0-9]+$", "default": None}


def test_a_key_that_differs_between_two_mappings_has_the_forms_of_each() -> None:
    both = schema.at(UNION, ("either", "a")) or {}
    assert both["type"] == ["string", "integer"]
    assert schema.at(UNION, ("either", "b")) == {"enum": [1]}


def test_words_of_several_forms_are_one_list() -> None:
    assert (schema.at(UNION, ("level",)) or {})["enum"] == ["low", "high", "none"]


def test_the_whole_of_a_place_has_its_values_in_their_places() -> None:
    cards = schema.whole(GENERATED["platform"], ("tiers", "gold", "cards")) or {}
    assert cards["additionalProperties"]["additionalProperties"]["maximum"] == 1_000_000
    assert "pattern" in cards["propertyNames"]
    assert schema.whole(GENERATED["platform"], ("tiers", "gold", "none")) is None


@pytest.mark.parametrize("name", GENERATED)
def test_each_place_has_a_kind_and_a_text(name: str) -> None:
    whole = GENERATED[name]
    places = list(schema.places(whole))
    assert len(places) > 15
    for place in places:
        node = schema.at(whole, place) or {}
        assert node["type"], place
        assert node.get("description") or place[-1] in ("NAME", 0), place
