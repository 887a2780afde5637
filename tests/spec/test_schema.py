"""The committed JSON Schemas are what the models say, and agree with the loader."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from tallyard.spec import schema
from tallyard.spec.document import PER_ENVIRONMENT
from tests.spec.specs import DATA, LOCAL, PLATFORM, STACKS

SCHEMAS = Path(__file__).parents[2] / "schemas"
GENERATED = {"platform": schema.platform_schema(), "overlay": schema.overlay_schema()}


@pytest.mark.parametrize("name", GENERATED)
def test_the_committed_schema_is_the_generated_one(name: str) -> None:
    committed = (SCHEMAS / f"{name}.schema.json").read_text()
    assert committed == schema.text(GENERATED[name]), "write it anew: tally spec schema"
    jsonschema.Draft202012Validator.check_schema(json.loads(committed))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("platform", PLATFORM),
        ("overlay", LOCAL),
        ("platform", (STACKS / "platform.yaml").read_text()),
        ("overlay", (STACKS / "local.yaml").read_text()),
        ("overlay", (STACKS / "prod.yaml").read_text()),
    ],
)
def test_a_valid_file_fits_its_schema(name: str, text: str) -> None:
    jsonschema.validate(yaml.safe_load(text), GENERATED[name])


@pytest.mark.parametrize(
    "case",
    [
        *("platform-mistyped-key", "platform-missing-section", "platform-negative-cards"),
        *("platform-no-pools", "platform-bad-user", "platform-capital-in-pool"),
        *("platform-wrong-version", "platform-text-for-list", "platform-long-name"),
    ],
)
def test_an_editor_marks_what_the_loader_refuses_by_shape(case: str) -> None:
    data = yaml.safe_load((DATA / "broken" / f"{case}.yaml").read_text())
    assert list(jsonschema.Draft202012Validator(GENERATED["platform"]).iter_errors(data))


def test_the_overlay_has_the_keys_that_are_marked_as_per_environment() -> None:
    marked = {
        (name, key)
        for name, whole in GENERATED.items()
        for key, rule in whole["properties"].items()
        if rule.get(PER_ENVIRONMENT)
    }
    assert marked == {("overlay", "base"), ("overlay", "nodes")}
    assert not set(GENERATED["platform"]["properties"]) & set(GENERATED["overlay"]["properties"])
