"""Each file in `tests/data/spec/broken` is a slip that people make, with what they are told.

The expected lines stand in the file's head, and in most how the slip is mended; there are no
others, in either language.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tallyard.cli.pages.error_cases import Case, read_all
from tallyard.cli.pages.error_pages import CASES_PER_CODE_MAX, NOT_IN_TEXTS
from tallyard.languages import Language
from tallyard.spec.load import Loaded
from tallyard.spec.messages import report
from tallyard.spec.texts import TEXTS
from tests.spec.specs import load_texts

CASES = read_all()


def loaded_with(case: Case, text: str, folder: Path) -> Loaded:
    if case.name == "local.yaml":
        return load_texts(folder, local=text)
    return load_texts(folder, platform=text)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.file.stem)
def test_a_slip_is_told_with_its_place_and_a_way_out(
    case: Case, lang: Language, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    loaded = loaded_with(case, case.text, tmp_path)
    expected = list(case.told[lang])
    assert expected
    assert report(loaded.problems, lang).splitlines() == expected
    only_warnings = all("warning: " in line or "警告" in line for line in expected)
    assert (loaded.platform is not None) == only_warnings


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.fixes], ids=lambda case: case.file.stem
)
def test_a_slip_that_is_mended_as_its_file_says_is_told_no_more(case: Case, tmp_path: Path) -> None:
    loaded = loaded_with(case, case.mended(), tmp_path)
    left = [problem.code for problem in loaded.problems]
    assert not set(left) & set(case.codes), left


def test_every_message_has_a_slip_that_shows_it() -> None:
    shown = {code for case in CASES for code in case.codes}
    assert shown == set(TEXTS) - NOT_IN_TEXTS


def test_the_set_shows_many_codes_rather_than_few_often() -> None:
    first = [case.codes[0] for case in CASES]
    assert len(first) > 100
    assert max(first.count(code) for code in set(first)) <= CASES_PER_CODE_MAX


def test_both_languages_tell_the_same_codes_at_the_same_places() -> None:
    place = re.compile(r"^(\S+:\d+:\d+) .*\[(SPEC\d+)\]$")
    for case in CASES:
        english, chinese = (
            [found and found.groups() for found in map(place.match, case.told[lang])]
            for lang in ("en", "zh")
        )
        assert english == chinese, case.file.name
