"""The language of a run."""

from __future__ import annotations

import pytest

from tallyard.cli.session import Lang, default_lang


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
