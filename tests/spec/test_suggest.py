"""The nearest valid name."""

from __future__ import annotations

import pytest

from tallyard.spec import schema, suggest
from tallyard.spec.suggest import nearest

TIER = ("weight", "core-hours", "max-time", "user-share", "rollover", "cards", "borrow")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("wieght", "weight"),
        ("max_time", "max-time"),
        ("coreHours", "core-hours"),
        ("Max Time", "max-time"),
        ("gpus", "cards"),
        ("权重", "weight"),
        ("核时", "core-hours"),
        ("us", "user-share"),
        ("bandwidth", ""),
        ("", ""),
    ],
)
def test_a_key_is_found_under_other_spellings_and_other_words(name: str, meant: str) -> None:
    assert nearest(name, TIER) == meant


def test_another_word_is_only_for_a_key_that_stands_there() -> None:
    assert nearest("gpus", ("training", "inference")) == ""
    assert nearest("model", ("models", "pool")) == "models"


def test_a_shortened_model_is_found() -> None:
    assert nearest("a80", ("A100-SXM4-40GB", "A800-SXM4-80GB")) == "A800-SXM4-80GB"


@pytest.mark.parametrize(
    ("name", "valid", "meant"),
    [
        ("domestic", ("elastic", "training"), ""),
        ("shared", ("training", "inference"), ""),
        ("traning", ("training", "inference"), "training"),
        ("elastik", ("elastic", "training"), "elastic"),
        ("bronce", ("gold", "bronze"), "bronze"),
        ("H100-SXM5-80GB", ("A100-SXM4-40GB",), "A100-SXM4-40GB"),
        ("L40S", ("A100-SXM4-40GB", "RTX-4090"), ""),
    ],
)
def test_what_is_only_far_alike_is_not_suggested(
    name: str, valid: tuple[str, ...], meant: str
) -> None:
    assert nearest(name, valid) == meant


def test_each_other_word_leads_to_a_key_of_the_spec() -> None:
    files = (schema.platform_schema(), schema.overlay_schema())
    keys = {place[-1] for names in files for place in schema.places(names)}
    meant = {word for words in suggest.OTHER_WORDS.values() for word in words}
    assert meant <= keys
