"""The one place that knows Jinja2: a template and finished values in, an object out.

A template is a shape with values and plain loops. What it prints must have passed through
`tojson`, or rendering stops: so no value can ever be read by YAML as something else
(`no`, `1e3`, a name with a colon).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
import yaml
from markupsafe import Markup

from tallyard import labels

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"


class RenderError(Exception):
    """A template and its values do not fit; a fault of this program, not of the spec."""


def render_object(template: str, **values: object) -> Mapping[str, Any]:
    """Render `templates/<template>.yaml.j2` and parse the result back.

    Raises:
        RenderError: a value is missing, printed without `tojson`, or the text is not one
            YAML object.
    """
    try:
        text = _environment().get_template(f"{template}.yaml.j2").render(values)
        rendered = yaml.safe_load(text)
    except (jinja2.TemplateError, yaml.YAMLError) as error:
        raise RenderError(f"templates/{template}.yaml.j2: {error}") from error
    if not isinstance(rendered, dict):
        raise RenderError(f"templates/{template}.yaml.j2: not one object")
    return rendered


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_only_json,
        # Marks what `tojson` and our macros return, by which `_only_json` knows them. That
        # `tojson` writes <, > and & as \\u003c and so on does no harm: YAML reads them back.
        autoescape=True,
    )
    environment.policies["json.dumps_kwargs"] = {"default": _no_json, "sort_keys": True}
    # Names come from one place, in a template too.
    environment.globals["labels"] = labels
    return environment


def _only_json(value: object) -> object:
    """Let through what `tojson` returned (it is Markup) and template text, nothing else."""
    if isinstance(value, Markup | jinja2.Undefined):
        return value
    raise RenderError(f"a value was printed without tojson: {value!r}")


def _no_json(value: object) -> object:
    """Refuse what JSON cannot say; a missing value refuses itself, and tells its name."""
    if isinstance(value, jinja2.Undefined):
        str(value)
    raise RenderError(f"not a value of JSON: {value!r}")
