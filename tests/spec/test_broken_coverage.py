"""The set of broken specs is broad: many slips, many codes, and no key that nobody gets wrong.

A key counts as wrong when an error is told at it, at its value or inside it, or when it is the
key that is missing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

import pytest

from tallyard.cli.pages.error_cases import Case, read_all
from tallyard.spec import schema
from tallyard.spec.schema import Schema
from tallyard.spec.tree import Steps

CASES = read_all()
FILES_MIN = 200
CODES_MIN = 60
FIRST_MAX = 8

SCHEMAS = {"platform.yaml": schema.platform_schema(), "local.yaml": schema.overlay_schema()}
_KEY = r'(?:[\w-]+|"[^"]*")'
_LINE = re.compile(rf"(\S+\.yaml):\d+:\d+  ({_KEY}(?:\.{_KEY}|\[\d+\])*): (?!warning: )")
_STEP = re.compile(rf"\[(\d+)\]|\.?({_KEY})")


def steps_of(path: str) -> Steps:
    """Return the steps of a path as messages show it."""
    found = _STEP.finditer(path)
    return tuple(int(step[1]) if step[1] else step[2].strip('"') for step in found)


def is_within(path: Steps, place: Steps) -> bool:
    """Return whether a path leads to a place of the schema or to something inside it."""
    return len(path) >= len(place) and all(
        isinstance(step, int) if isinstance(wanted, int) else wanted in {"NAME", step}
        for step, wanted in zip(path, place, strict=False)
    )


def wrong_places(file: str, cases: Iterable[Case] = CASES) -> set[Steps]:
    """Return the paths that errors in a file are told at."""
    lines = (_LINE.match(line) for case in cases for line in case.told["en"])
    return {steps_of(line[2]) for line in lines if line and line[1] == file}


def never_wrong(rules: Schema, paths: Iterable[Steps]) -> list[str]:
    """Return the places of a schema that no path leads into."""
    told = tuple(paths)
    return [
        ".".join(map(str, place))
        for place in schema.places(rules)
        if not any(is_within(path, place) for path in told)
    ]


def test_the_set_has_many_slips_and_many_codes() -> None:
    first = Counter(case.codes[0] for case in CASES)
    assert len(CASES) >= FILES_MIN
    assert len({code for case in CASES for code in case.codes}) >= CODES_MIN
    assert {code: count for code, count in first.items() if count > FIRST_MAX} == {}


def test_no_two_slips_are_the_same_text() -> None:
    bodies = Counter(tuple(case.text.split("\n")[case.head :]) for case in CASES)
    names = {(case.name, tuple(case.text.split("\n")[case.head :])): case.file for case in CASES}
    twice = [file.name for (_, body), file in names.items() if bodies[body] > 1]
    assert len(names) == len(CASES), twice


@pytest.mark.parametrize("file", sorted(SCHEMAS))
def test_every_key_is_wrong_in_some_file(file: str) -> None:
    assert never_wrong(SCHEMAS[file], wrong_places(file)) == []


def test_a_key_that_is_never_wrong_is_named() -> None:
    told = [
        "platform.yaml:1:1  tiers.gold.weight: 0 is out of range [SPEC111]",
        'platform.yaml:1:1  projects.nlp.users."li.wei".logins[0]: "a b" is no login [SPEC121]',
        "platform.yaml:1:1  accelerators.H100: warning: in no pool [SPEC315]",
        "local.yaml:1:1  availability: 0.9 is not a percentage [SPEC125]",
    ]
    case = Case(CASES[0].file, "", 0, {"en": tuple(told), "zh": ()}, ())
    paths = wrong_places("platform.yaml", [case])
    assert paths == {
        ("tiers", "gold", "weight"),
        ("projects", "nlp", "users", "li.wei", "logins", 0),
    }
    missing = never_wrong(SCHEMAS["platform.yaml"], paths)
    assert {"accelerators.NAME", "availability", "tiers.NAME.max-time"} <= set(missing)
    assert not {"tiers", "tiers.NAME", "tiers.NAME.weight"} & set(missing)
    assert not {"projects.NAME.users.NAME.logins", "projects.NAME.users.NAME.logins.0"} & set(
        missing
    )
