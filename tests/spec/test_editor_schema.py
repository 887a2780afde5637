"""What editors are told of a key is what the models say of it."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from tallyard.spec import editor_schema, schema

WHOLES = {"platform": schema.platform_schema(), "overlay": schema.overlay_schema()}
FORMS = {name: editor_schema.form(whole) for name, whole in WHOLES.items()}


def nodes(value: Any) -> list[dict[str, Any]]:
    """Return all mappings in a schema."""
    if isinstance(value, list):
        return [node for item in value for node in nodes(item)]
    if isinstance(value, dict):
        return [value, *(node for item in value.values() for node in nodes(item))]
    return []


def test_a_key_shows_its_text_effect_default_and_origin() -> None:
    """`borrowed` of a pool."""
    known = schema.at(WHOLES["platform"], ("pools", "x", "borrowed")) or {}
    node = schema.at(FORMS["platform"], ("pools", "x", "borrowed")) or {}
    told = ("description", "x-tallyard-effect", "x-tallyard-origin")
    for text in (*(known[key] for key in told), "Default: keep ("):
        assert text in node["description"]
    assert "\n\n**Default:** keep (" in node["markdownDescription"]


@pytest.mark.parametrize("name", FORMS)
def test_every_key_tells_all_that_is_known_of_it(name: str) -> None:
    for place in schema.places(WHOLES[name]):
        known = schema.at(WHOLES[name], place) or {}
        shown = (schema.at(FORMS[name], place) or {}).get("description", "")
        for fact, text in editor_schema.facts_of(known).items():
            if "description" in known:
                assert f"{fact}: {text}" in shown, place


def test_a_range_is_shown_of_numbers_and_of_figures_with_a_unit() -> None:
    facts = {
        place: editor_schema.facts_of(schema.at(WHOLES["platform"], place) or {})["Range"]
        for place in (("freeze", "cap"), ("tiers", "gold", "weight"))
    }
    assert list(facts.values()) == ["1% to 100%", "1 to 1000"]


def test_markdown_of_its_own_is_shown_as_it_is() -> None:
    node = {"$defs": {}, "description": "Not <b> but `*` and a_b.", "type": "string"}
    assert editor_schema.form(node)["markdownDescription"] == "Not \\<b\\> but `\\*` and a\\_b."


@pytest.mark.parametrize("name", FORMS)
def test_no_completion_writes_null_or_an_empty_value(name: str) -> None:
    for node in nodes(FORMS[name]):
        assert {"type": "null"} not in node.get("anyOf", [])
        assert node.get("default", "x") not in (None, {}, [])
    assert "null" in str(WHOLES[name])


@pytest.mark.parametrize("name", FORMS)
def test_what_stands_beside_a_reference_is_no_rule(name: str) -> None:
    """yaml-language-server completes a key with another keyword there without its colon."""
    beside = {key for node in nodes(FORMS[name]) if "$ref" in node for key in node}
    assert beside <= {"$ref", "description", "markdownDescription", "default"}


@pytest.mark.parametrize("name", FORMS)
def test_the_form_for_editors_accepts_the_same_values_but_null(name: str) -> None:
    """Each default that the models state is a value that the form for editors takes."""
    validator = jsonschema.Draft202012Validator(FORMS[name])
    stated = 0
    for place in schema.places(WHOLES[name]):
        known = schema.at(WHOLES[name], place) or {}
        form = schema.at(FORMS[name], place) or {}
        if "default" in known:
            own = validator.evolve(schema={"$defs": FORMS[name]["$defs"], **form})
            assert own.is_valid(known["default"]) is (known["default"] is not None), place
            stated += 1
    assert stated


def test_examples_and_snippets_are_of_kinds_that_there_are() -> None:
    kinds = FORMS["platform"]["$defs"] | FORMS["overlay"]["$defs"]
    assert editor_schema._EXAMPLES.keys() <= kinds.keys()
    assert editor_schema._SNIPPETS.keys() <= kinds.keys()


@pytest.mark.parametrize("kind", editor_schema._EXAMPLES)
def test_an_example_is_a_value_of_its_kind(kind: str) -> None:
    rule = next(form["$defs"][kind] for form in FORMS.values() if kind in form["$defs"])
    for example in editor_schema._EXAMPLES[kind]:
        jsonschema.validate(example, rule)


@pytest.mark.parametrize("kind", editor_schema._SNIPPETS)
def test_a_snippet_has_keys_of_its_kind_and_all_that_are_required(kind: str) -> None:
    form = next(form for form in FORMS.values() if kind in form["$defs"])
    node = schema.at({**form, "properties": {"x": {"$ref": f"#/$defs/{kind}"}}}, ("x",)) or {}
    for snippet in editor_schema._SNIPPETS[kind]:
        assert set(node.get("required", ())) <= snippet["body"].keys() <= node["properties"].keys()
