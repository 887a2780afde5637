"""What one key of the spec is for, from the models' own descriptions."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from tallyard.spec import schema
from tallyard.spec.document import EFFECT, PER_ENVIRONMENT
from tallyard.spec.messages import Language, hint
from tallyard.spec.suggest import nearest
from tallyard.spec.tree import Step, Steps

_STEP = re.compile(r'\.?(?:"([^"]*)"|\[(\d*)\]|([^.\["]+))')


class UnknownKeyError(LookupError):
    """No such key can stand in the spec. `nearest` is the most similar one, or empty."""

    def __init__(self, path: str, suggestion: str, choices: tuple[str, ...]) -> None:
        self.path = path
        self.nearest = suggestion
        self.choices = choices
        super().__init__(f"{self.what()}. {self.hint()}")

    def what(self, lang: Language = "en") -> str:
        """Return what is wrong, in `en` or `zh`."""
        text = {"en": 'There is no key "{}" in the spec', "zh": '规格中没有键 "{}"'}[lang]
        return text.format(self.path)

    def hint(self, lang: Language = "en") -> str:
        """Return what may have been meant."""
        return hint(self.nearest, self.choices, lang)


@dataclass(frozen=True)
class Explanation:
    """One key in words.

    `default` is None when the key is required or stands for itself; `keys` are those that
    can stand below it, `NAME` for one that the author chooses.
    """

    path: str
    text: str
    type: str
    is_required: bool
    default: str | None
    effect: str
    is_per_environment: bool
    keys: tuple[str, ...]


def explain(path: str) -> Explanation:
    """Explain a key, e.g. `tiers.gold.cards` or `nodes[0].rack`; the names may be any.

    Args:
        path: The path as messages show it. List items may be left out (`nodes.rack`).
            An empty path explains the platform's file.

    Raises:
        UnknownKeyError: Nothing of that name can stand there.
    """
    steps = _steps(path)
    whole = _file(steps)
    done: Steps = ()
    for step in steps:
        done = _entered(whole, done, step, path)
    node = schema.at(whole, done) or {}
    parent = schema.at(whole, done[:-1]) or {}
    default = node.get("default")
    return Explanation(
        path=path,
        text=_text(whole, done),
        type=_type(whole, done),
        is_required=bool(done) and done[-1] in parent.get("required", ()),
        default=None if default is None else json.dumps(default, ensure_ascii=False),
        effect=str(node.get(EFFECT, "")),
        is_per_environment=bool(node.get(PER_ENVIRONMENT)) or whole == schema.overlay_schema(),
        keys=_keys(whole, done),
    )


def _steps(path: str) -> Steps:
    steps: list[Step] = []
    for quoted, index, plain in _STEP.findall(path):
        steps.append(quoted or plain or int(index or 0))
    return tuple(steps)


def _file(steps: Steps) -> dict[str, Any]:
    overlay = schema.overlay_schema()
    return overlay if steps and steps[0] in overlay["properties"] else schema.platform_schema()


def _entered(whole: schema.Schema, above: Steps, step: Step, asked: str) -> Steps:
    """Return the path one step down, through the items of a list where they are left out."""
    for here in ((*above, step), (*above, 0, step)):
        if schema.at(whole, here) is not None:
            return here
    choices = _keys(whole, above)
    if not above:
        choices += tuple(schema.overlay_schema()["properties"])
    raise UnknownKeyError(asked, nearest(str(step), choices), choices)


def _text(whole: schema.Schema, steps: Steps) -> str:
    """Return the description of a key, or of what it is a part of."""
    for length in range(len(steps), -1, -1):
        found = (schema.at(whole, steps[:length]) or {}).get("description")
        if found:
            return str(found)
    return ""


def _keys(whole: schema.Schema, steps: Steps) -> tuple[str, ...]:
    node = schema.at(whole, steps) or {}
    if node.get("type") == "array":
        node = schema.at(whole, (*steps, 0)) or {}
    if "properties" in node:
        return tuple(node["properties"])
    return ("NAME",) if node.get("type") == "object" else ()


def _type(whole: schema.Schema, steps: Steps) -> str:
    """Return the type in words: `whole number, 1 to 1000`, `list of text`."""
    node = schema.at(whole, steps) or {}
    kind = node.get("type")
    if "const" in node:
        return str(node["const"])
    if "enum" in node:
        return " or ".join(map(str, node["enum"]))
    if kind == "integer":
        return f"whole number, {node['minimum']} to {node['maximum']}"
    if kind == "array":
        return f"list of {_type(whole, (*steps, 0))}"
    return {"string": "text", "boolean": "true or false"}.get(str(kind), "mapping")
