from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallyard.render import environment
from tallyard.render.environment import RenderError, render_object


@pytest.fixture
def template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(environment, "TEMPLATES", tmp_path)
    environment._environment.cache_clear()
    yield tmp_path / "shape.yaml.j2"
    environment._environment.cache_clear()


@pytest.mark.parametrize(
    "value",
    [
        *("no", "1e3", "0x10", "a: b", "- x", '"', "'", "#", "{{ }}", "<&>", "行", "𠮷", "", "\n"),
        *("\ue0000\ue001", "\ue000", "\x7f", "\u2028", "\\", "\ufeff"),
    ],
)
def test_a_text_stays_the_same_text_whatever_yaml_would_make_of_it(
    template: Path, value: str
) -> None:
    template.write_text("value: {{ value | tojson }}\n")
    assert render_object("shape", value=value) == {"value": value}


def test_a_value_printed_without_tojson_is_refused(template: Path) -> None:
    template.write_text("value: {{ value }}\n")
    with pytest.raises(RenderError, match="without tojson"):
        render_object("shape", value="no")


def test_a_value_printed_without_tojson_is_refused_where_it_is_not_reached_too(
    template: Path,
) -> None:
    template.write_text("a: 1\n{% if value %}\nb: {{ value | string }}\n{% endif %}\n")
    with pytest.raises(RenderError, match=r"shape\.yaml\.j2: line 3: .*without tojson"):
        render_object("shape", value=None)


def test_a_macro_of_another_template_may_be_printed_if_it_keeps_to_the_rule(
    template: Path,
) -> None:
    template.write_text('{% from "_part.j2" import part %}\n{{ part(value) }}\n')
    other = template.parent / "_part.j2"
    other.write_text("{% macro part(x) %}\na: {{ x | tojson }}\n{% endmacro %}\n")
    assert render_object("shape", value="no") == {"a": "no"}


def test_a_macro_that_breaks_the_rule_is_refused(template: Path) -> None:
    template.write_text('{% from "_part.j2" import part %}\n{{ part(value) }}\n')
    other = template.parent / "_part.j2"
    other.write_text("{% macro part(x) %}\na: {{ x }}\n{% endmacro %}\n")
    with pytest.raises(RenderError, match="without tojson"):
        render_object("shape", value="no")


@pytest.mark.parametrize(
    "text",
    [
        "a: b-{{ value | tojson }}\n",
        "a: '{{ value | tojson }}'\n",
        'a: "{{ value | tojson }}"\n',
        "a: |\n  {{ value | tojson }}\n",
        "a: 1 # {{ value | tojson }}\n",
    ],
)
def test_a_value_is_a_whole_value_or_refused(template: Path, text: str) -> None:
    template.write_text(text)
    with pytest.raises(RenderError):
        render_object("shape", value="x")


def test_a_value_can_be_a_key_and_a_list_and_stand_in_one(template: Path) -> None:
    template.write_text("{{ k | tojson }}: [{{ v | tojson }}, {a: {{ w | tojson }}}, no]\n")
    assert render_object("shape", k="on", v=(1, "2"), w=None) == {
        "on": [[1, "2"], {"a": None}, False]
    }


@pytest.mark.parametrize("text", ["1: a\n", "on: a\n", "a: 2026-12-31\n", "a: .nan\n"])
def test_what_json_cannot_say_is_refused(template: Path, text: str) -> None:
    template.write_text(text)
    with pytest.raises(RenderError):
        render_object("shape")


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, b"x"])
def test_a_value_that_json_cannot_say_is_refused(template: Path, value: object) -> None:
    template.write_text("a: {{ value | tojson }}\n")
    with pytest.raises(RenderError):
        render_object("shape", value=value)


def test_objects_of_one_shape_have_their_own_values_and_share_no_part(template: Path) -> None:
    template.write_text("a: [{{ value | tojson }}]\nb: {c: [d]}\n")
    kept = {"x": [1]}
    first, second = render_object("shape", value=kept), render_object("shape", value="y")
    assert (first["a"], second["a"]) == ([{"x": [1]}], ["y"])
    first["b"]["c"].append("e")
    first["a"][0]["x"].append(2)
    assert second["b"] == render_object("shape", value=1)["b"] == {"c": ["d"]}
    assert kept == {"x": [1]}


def test_a_missing_value_is_refused(template: Path) -> None:
    template.write_text("value: {{ value | tojson }}\n")
    with pytest.raises(RenderError, match="'value' is undefined"):
        render_object("shape")


@pytest.mark.parametrize("text", ["- a\n", "a: 1\n---\nb: 2\n", "a: [\n", "", "{% if %}\n"])
def test_what_is_not_one_object_is_refused(template: Path, text: str) -> None:
    template.write_text(text)
    with pytest.raises(RenderError):
        render_object("shape")
