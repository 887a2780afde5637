"""What is said of the spec's keys is said in Chinese too, all of it and as precisely."""

# ruff: noqa: RUF001 - Chinese has its own punctuation

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tallyard.spec import kinds, schema
from tallyard.spec.fields import EFFECT, NOT_ENFORCED, ORIGIN
from tallyard.spec.key_texts import ZH, told

ASIDE = f" {NOT_ENFORCED}"
HAN = "\u3400-\u9fff"
# What the spec's authors write, as it stands within a text: in backticks or braces, or a word
# with a dot, a slash, a digit or a capital within it.
CODE = re.compile(r"`[^`]+`|\{[^{}]+\}|[\w.:+/\[\]-]+", re.ASCII)
CODE_WORD = re.compile(r"[`{].*|.*\w[./]\w.*|\w+/|.*[a-z][A-Z].*|.*\d.*")


def texts(node: Any) -> Iterator[str]:
    """Yield what a schema says for people."""
    if isinstance(node, list):
        for item in node:
            yield from texts(item)
    if isinstance(node, dict):
        for key, value in node.items():
            if key in {"description", EFFECT, ORIGIN} and isinstance(value, str):
                yield value
            else:
                yield from texts(value)


SAID = sorted(
    {
        text.removesuffix(ASIDE)
        for whole in (schema.platform_schema(), schema.overlay_schema())
        for text in texts(whole)
    }
)
PAIRS = sorted(ZH.items())


def code_words(text: str) -> set[str]:
    """Return the words that are of no language, without a sentence's point or a plural's s."""
    found = (word.rstrip(".,:") for word in CODE.findall(text.replace("e.g.", "")))
    return {word.removesuffix("s") for word in found if CODE_WORD.fullmatch(word)}


def test_every_text_of_the_keys_has_its_translation_and_none_is_left_over() -> None:
    assert len(SAID) > 150
    wanted = {*SAID, *kinds.TEXTS, NOT_ENFORCED}
    assert wanted - set(ZH) == set()
    assert set(ZH) - wanted == set()


def test_every_kind_of_value_is_said_in_chinese() -> None:
    """Kinds are put together of templates, so that what comes out is looked at."""
    for whole in (schema.platform_schema(), schema.overlay_schema()):
        for place in schema.places(whole):
            node = schema.whole(whole, place) or {}
            said = kinds.words(node, "zh")
            assert " or " not in said, place
            if not kinds.choices_of(node):
                assert not re.search("[a-z] [a-z]", said), (place, said)


@pytest.mark.parametrize("text", SAID)
def test_what_is_written_into_the_spec_and_figures_stand_in_both(text: str) -> None:
    assert code_words(text) == code_words(ZH[text])


@pytest.mark.parametrize(("text", "chinese"), PAIRS)
def test_what_is_not_translated_stands_in_the_english_text(text: str, chinese: str) -> None:
    """A misspelt name, or one that the English text does not have, would mislead."""
    for word in re.findall(r"[\w./+-]+", re.sub(rf"[{HAN}]", " ", chinese), re.ASCII):
        assert word.rstrip(".").lower() in text.lower()


@pytest.mark.parametrize(("text", "chinese"), PAIRS)
def test_punctuation_is_full_width_and_latin_words_stand_apart(text: str, chinese: str) -> None:
    prose = re.sub(r"`[^`]+`|\{[^{}]+\}", "X", chinese)
    assert not re.search(r"[,;:!?.()](\s|$)", prose)
    assert not re.search(rf"[{HAN}][,;:!?.()]|[,;:!?.()][{HAN}]", prose)
    assert not re.search(rf"[{HAN}][A-Za-z0-9`]|[A-Za-z0-9`%][{HAN}]", chinese)
    assert not re.search(r"\s[，。；：、（）]|[，。；：、（）]\s", chinese)
    is_sentence = text.rstrip(")").endswith(".")
    assert chinese.rstrip("）").endswith("。") == is_sentence
    assert re.search(rf"[{HAN}]", chinese) or text.startswith("{}")


def test_english_stays_as_it_is() -> None:
    assert [told(text, "en") for text in SAID] == SAID


def test_what_nothing_enforces_yet_says_so_in_chinese() -> None:
    effects = [
        text
        for text in texts(schema.platform_schema())
        if text.endswith(ASIDE) and text != NOT_ENFORCED
    ]
    assert len(effects) > 10
    for effect in effects:
        assert told(effect, "zh") == ZH[effect.removesuffix(ASIDE)] + ZH[NOT_ENFORCED]


def test_a_text_that_is_not_in_the_table_is_told_as_it_is() -> None:
    assert told("Something new.", "zh") == "Something new."
    assert told("", "zh") == ""
