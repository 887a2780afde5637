"""Each file in `tests/data/spec/broken` is a slip that people make, with what they are told.

The expected lines stand in the file's head; there are no others, in either language.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tallyard.spec.messages import Language, report
from tallyard.spec.texts import TEXTS
from tests.spec.specs import DATA, load_texts

CASES = sorted((DATA / "broken").glob("*.yaml"))
# Faults of bytes and of reading, which no text can have: see test_source.py. SPEC199 is for
# a kind of fault that a newer pydantic may bring.
NOT_IN_TEXTS = {"SPEC003", "SPEC004", "SPEC005", "SPEC199"}


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_a_slip_is_told_with_its_place_and_a_way_out(
    case: Path, lang: Language, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = case.read_text()
    loaded = load_texts(tmp_path, **{case.stem.partition("-")[0]: text})
    expected = re.findall(rf"^# {lang}: (.*)$", text, re.MULTILINE)
    assert expected
    assert report(loaded.problems, lang).splitlines() == expected
    only_warnings = all("warning: " in line or "警告" in line for line in expected)
    assert (loaded.platform is not None) == only_warnings


def test_every_message_has_a_slip_that_shows_it() -> None:
    shown = {code for case in CASES for code in re.findall(r"SPEC\d{3}", case.read_text())}
    assert shown == set(TEXTS) - NOT_IN_TEXTS
