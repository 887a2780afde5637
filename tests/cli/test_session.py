"""The language of a run."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tallyard.cli.session import Lang, default_lang

LAST = """
from tallyard.cli import main, session
main._mend_streams()
print("results")
session.close_with("up in 81.1 s")
print("more")
"""


@pytest.mark.parametrize(
    ("environment", "lang"),
    [
        ({}, Lang.EN),
        ({"LANG": "zh_CN.UTF-8"}, Lang.ZH),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, Lang.EN),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "zh_TW.UTF-8"}, Lang.ZH),
        ({"LANG": "de_DE.UTF-8", "LC_MESSAGES": "zh_CN"}, Lang.ZH),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": ""}, Lang.ZH),
        ({"LANG": "fr_FR.UTF-8"}, Lang.EN),
    ],
)
def test_the_locale_decides_and_lc_all_wins(environment: dict[str, str], lang: Lang) -> None:
    assert default_lang(environment) is lang


def test_what_is_said_at_the_end_stands_behind_the_results_in_one_file_for_both() -> None:
    """`make up > log 2>&1`."""
    done = subprocess.run(
        [sys.executable, "-c", LAST],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["results", "up in 81.1 s", "more"]
