"""What a plain scalar means must not depend on who reads it."""

from __future__ import annotations

import re

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tallyard.spec import scalars

_DATE = re.compile(r"\d{4}-\d\d?-\d\d?.*")
_NUMBER_LIKE = st.text("0123456789-+._:xobeEaAfFyYnNtTrRuUsSlL~", min_size=1, max_size=8)


@given(_NUMBER_LIKE)
@settings(max_examples=500, deadline=None, derandomize=True)
def test_what_is_accepted_means_the_same_in_yaml_1_1(text: str) -> None:
    value, problem = scalars.read(text)
    if problem or _DATE.fullmatch(text):
        return
    try:
        node = yaml.compose(f"[{text}]")
        other = yaml.safe_load(f"[{text}]")[0]
    except (yaml.YAMLError, ValueError):
        return  # no plain scalar at all
    assert node is not None
    if not isinstance(node.value[0], yaml.ScalarNode) or node.value[0].value != text:
        return
    assert (type(value), value) == (type(other), other)


@pytest.mark.parametrize("text", ["yes", "NO", "On", "off", "y", "N", "TRUE", "False"])
def test_words_that_are_booleans_to_some_are_refused(text: str) -> None:
    assert scalars.read(text) == (text, "SPEC030")


@pytest.mark.parametrize(
    "text", ["1e3", "1E3", "0x1F", "1_000", "1:30", ".5", "5.", ".inf", ".nan"]
)
def test_numbers_that_are_texts_to_some_are_refused(text: str) -> None:
    assert scalars.read(text) == (text, "SPEC032")


@pytest.mark.parametrize("text", ["a100", "24Gi", "r0", "nvidia.com/gpu", "v1e", "-", "no-reply"])
def test_names_are_texts(text: str) -> None:
    assert scalars.read(text) == (text, None)
