"""Pieces of CEL text: quoted, counted, and nothing lost."""

from __future__ import annotations

import pytest

from tallyard.render.admission import cel


def test_a_text_with_quotes_and_backslashes_is_one_literal() -> None:
    assert cel.text("it's a \\ here") == r"'it\'s a \\ here'"
    assert cel.texts(["a", "b'c"]) == r"['a', 'b\'c']"


def test_a_key_with_slashes_is_one_step_of_a_pointer() -> None:
    assert cel.pointer("tallyard.dev/a~b") == "tallyard.dev~1a~0b"


def test_a_sentence_has_a_value_for_each_place() -> None:
    assert cel.said("queue {} has {}", "q", "r") == "('queue ' + q + ' has ' + r)"
    assert cel.said("{} is {}: no", "a", "b") == "(a + ' is ' + b + ': no')"
    assert cel.said("no value") == "('no value')"


@pytest.mark.parametrize("values", [(), ("a",), ("a", "b", "c")])
def test_a_sentence_with_too_few_or_too_many_values_is_a_mistake(values: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="zip"):
        cel.said("{} and {}", *values)


def test_what_is_said_on_a_template_goes_before_what_is_said_on_the_whole() -> None:
    found = cel.asked("t", "k/x")
    order = [found.index(f"{place}.?annotations") for place in ("t.meta", "object.metadata")]
    assert order == sorted(order)
    assert found.endswith(".orValue('')")


def test_an_expression_on_many_lines_is_one() -> None:
    assert cel.one_line("\n a ?\n   b :\n c\n") == "a ? b : c"
