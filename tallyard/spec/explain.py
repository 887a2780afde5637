"""What one key of the spec is for, from the models' own descriptions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from tallyard.languages import Language
from tallyard.spec import kinds, schema
from tallyard.spec.editor_schema import default_of
from tallyard.spec.fields import EFFECT, ORIGIN, PER_ENVIRONMENT
from tallyard.spec.key_texts import told
from tallyard.spec.messages import hint
from tallyard.spec.suggest import nearest
from tallyard.spec.tree import Step, Steps

_STEP = re.compile(r'\.?(?:"([^"]+)"|\[(\d*)\]|([^.\["]+))')
_PIECE = r'(?:"[^"]+"|[^.\["]+)(?:\[\d*\])*'
_PATH = re.compile(rf"(?:{_PIECE}(?:\.{_PIECE})*)?")


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
    """One key in words, in one language.

    `default` is None when the key is required or stands for itself; `origin` says where the
    default comes from and may be empty; `keys` are those that can stand below it, `NAME` for
    one that the author chooses.
    """

    path: str
    text: str
    type: str
    is_required: bool
    default: str | None
    effect: str
    origin: str
    is_per_environment: bool
    keys: tuple[str, ...]


def explain(path: str, lang: Language = "en") -> Explanation:
    """Explain a key, e.g. `tiers.gold.cards` or `nodes[0].rack`; the names may be any.

    Args:
        path: The path as messages show it. List items may be left out (`nodes.rack`).
            An empty path explains the platform's file.
        lang: `en` or `zh`.

    Raises:
        UnknownKeyError: Nothing of that name can stand there.
    """
    steps = steps_of(path)
    whole = _file(steps)
    done: Steps = ()
    for step in steps:
        done = _entered(whole, done, step, path)
    node = schema.at(whole, done) or {}
    parent = schema.at(whole, done[:-1]) or {}
    return Explanation(
        path=path,
        text=told(_text(whole, done), lang),
        type=kinds.words(schema.whole(whole, done) or {}, lang),
        is_required=bool(done) and done[-1] in parent.get("required", ()),
        default=default_of(node) or None,
        effect=told(str(node.get(EFFECT, "")), lang),
        origin=told(str(node.get(ORIGIN, "")), lang),
        is_per_environment=bool(node.get(PER_ENVIRONMENT)) or _is_in_overlay(done),
        keys=_keys(whole, done),
    )


def steps_of(path: str) -> Steps:
    """Return the steps of a path as messages show it, e.g. `users."li.wei".logins[0]`.

    Raises:
        UnknownKeyError: It is no path: two dots in a row, a bracket that does not end.
    """
    if _PATH.fullmatch(path) is None:
        raise UnknownKeyError(path, "", _roots())
    steps: list[Step] = []
    for quoted, index, plain in _STEP.findall(path):
        steps.append(quoted or plain or int(index or 0))
    return tuple(steps)


def _file(steps: Steps) -> dict[str, Any]:
    """Return the schema of the file in which the path leads furthest, the platform's first."""
    return max((schema.platform_schema(), schema.overlay_schema()), key=lambda w: _depth(w, steps))


def _is_in_overlay(place: Steps) -> bool:
    return bool(place) and schema.at(schema.overlay_schema(), place) is not None


def _depth(whole: schema.Schema, steps: Steps) -> int:
    done: Steps = ()
    for count, step in enumerate(steps):
        found = _next(whole, done, step)
        if found is None:
            return count
        done = found
    return len(steps)


def _next(whole: schema.Schema, above: Steps, step: Step) -> Steps | None:
    """Return the path one step down, through the items of a list where they are left out."""
    tries = ((*above, step), (*above, 0, step))
    return next((here for here in tries if schema.at(whole, here) is not None), None)


def _entered(whole: schema.Schema, above: Steps, step: Step, asked: str) -> Steps:
    found = _next(whole, above, step)
    if found is not None:
        return found
    choices = _keys(whole, above)
    if not above:
        choices = _roots()
    raise UnknownKeyError(asked, nearest(str(step), choices), choices)


def _roots() -> tuple[str, ...]:
    """Return the root keys of both files."""
    files = (schema.platform_schema(), schema.overlay_schema())
    return tuple(dict.fromkeys(key for whole in files for key in whole["properties"]))


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
