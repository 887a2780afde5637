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
    "value", ["no", "1e3", "0x10", "a: b", "- x", '"', "'", "#", "{{ }}", "<&>", "行", "", "\n"]
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


def test_a_missing_value_is_refused(template: Path) -> None:
    template.write_text("value: {{ value | tojson }}\n")
    with pytest.raises(RenderError, match="'value' is undefined"):
        render_object("shape")


@pytest.mark.parametrize("text", ["- a\n", "a: 1\n---\nb: 2\n", "a: [\n", ""])
def test_what_is_not_one_object_is_refused(template: Path, text: str) -> None:
    template.write_text(text)
    with pytest.raises(RenderError):
        render_object("shape")
