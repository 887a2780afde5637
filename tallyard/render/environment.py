"""The one place that knows Jinja2: a template and finished values in, an object out.

A template is a shape with values and plain loops. What it prints must pass through `tojson`,
or it is refused: so no value can ever be read by YAML as something else (`no`, `1e3`, a name
with a colon).

The printed text is parsed back: what stands around the values as YAML, the values as JSON.
Most objects of a kind differ in their values alone, so the YAML of a shape is parsed once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from json.encoder import encode_basestring_ascii
from pathlib import Path
from typing import Any

import jinja2
import yaml
from jinja2 import nodes

from tallyard import labels

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"

# What templates with loops and conditions can look like: a few for each tier.
SHAPES_KEPT = 256

# Around each value in the printed text. They are characters for private use, which YAML lets
# stand in quotes and JSON writes as escapes, so no value contains them.
_OPEN, _CLOSE = "\ue000", "\ue001"
_VALUE = re.compile(f"{_OPEN}([^{_CLOSE}]*){_CLOSE}")
_HOLE = re.compile(f'"{_OPEN}([0-9]+){_CLOSE}"')
_LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader


class RenderError(Exception):
    """A template and its values do not fit; a fault of this program, not of the spec."""


def render_object(template: str, **values: object) -> Mapping[str, Any]:
    """Render `templates/<template>.yaml.j2` and parse the result back.

    Returns:
        A new object, which shares no part with others.

    Raises:
        RenderError: a value is missing, printed without `tojson` or within a longer text,
            or the text is not one YAML object that JSON can say too.
    """
    try:
        # The odd parts are the values, the even ones what stands around them.
        parts = _VALUE.split(_environment().get_template(f"{template}.yaml.j2").render(values))
        pieces, order = parsed_shape(tuple(parts[::2]))
        parts[::2] = pieces
        parts[1::2] = [parts[2 * number + 1] for number in order]
        rendered: Mapping[str, Any] = json.loads("".join(parts))
    except (jinja2.TemplateError, yaml.YAMLError, ValueError, TypeError, RenderError) as error:
        raise RenderError(f"templates/{template}.yaml.j2: {error}") from error
    return rendered


@lru_cache(maxsize=SHAPES_KEPT)
def parsed_shape(parts: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Parse the YAML that stands around values.

    Args:
        parts: What stands before, between and after the values.

    Returns:
        The same as JSON, in as many parts, and which of the values belong between them.
    """
    holes = (f'"{_OPEN}{number}{_CLOSE}"' for number in range(len(parts) - 1))
    text = "".join(piece for pair in zip(parts, (*holes, ""), strict=True) for piece in pair)
    shape = yaml.load(text, Loader=_LOADER)  # noqa: S506 - both are safe loaders
    if not isinstance(shape, dict):
        raise RenderError("not one object")
    written = json.dumps(shape, ensure_ascii=False, allow_nan=False)
    if json.loads(written) != shape:
        raise RenderError("a key is not a text")
    pieces = _HOLE.split(written)
    if len(pieces) != 2 * len(parts) - 1:
        raise RenderError("a value is printed in a comment or within a longer text")
    return tuple(pieces[::2]), tuple(map(int, pieces[1::2]))


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(  # noqa: S701 - what is printed is JSON, never HTML
        loader=_Templates(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    environment.filters["tojson"] = _to_json
    # Names come from one place, in a template too.
    environment.globals["labels"] = labels
    return environment


class _Templates(jinja2.FileSystemLoader):
    """Refuses a template that prints what is neither its own text, nor JSON, nor a macro's."""

    def get_source(
        self, environment: jinja2.Environment, template: str
    ) -> tuple[str, str, Callable[[], bool]]:
        """Return a template's text, its file, and whether that is still the same."""
        found = super().get_source(environment, template)
        tree = environment.parse(found[0])
        macros = {
            name if isinstance(name, str) else name[1]
            for imported in tree.find_all(nodes.FromImport)
            for name in imported.names
        }
        for output in tree.find_all(nodes.Output):
            for printed in output.nodes:
                if not _is_fit(printed, macros):
                    raise RenderError(f"line {printed.lineno}: a value is printed without tojson")
        return found


def _is_fit(printed: nodes.Expr, macros: set[str]) -> bool:
    match printed:
        case nodes.TemplateData() | nodes.Filter(name="tojson"):
            return True
        case nodes.Call(node=nodes.Name(name=name)):
            return name in macros
        case _:
            return False


def _to_json(value: object) -> str:
    """Return a value as JSON between marks, by which it is found again."""
    written = encode_basestring_ascii(value) if type(value) is str else _JSON.encode(value)
    return f"{_OPEN}{written}{_CLOSE}"


def _no_json(value: object) -> object:
    """Refuse what JSON cannot say; a missing value refuses itself, and tells its name."""
    if isinstance(value, jinja2.Undefined):
        str(value)
    raise RenderError(f"not a value of JSON: {value!r}")


_JSON = json.JSONEncoder(default=_no_json, sort_keys=True, allow_nan=False)
