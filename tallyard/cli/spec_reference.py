"""`python -m tallyard.cli.spec_reference`: the page `docs/spec.md`, made from the spec's models.

`--write` puts it into its place, `--check` says whether it stands there (exit code 1 if not).
The examples are lines of the shipped `stacks/`, cut out where they stand.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tallyard.cli.shipped_lines import Shipped
from tallyard.spec import kinds, schema
from tallyard.spec.editor_schema import default_of
from tallyard.spec.fields import EFFECT, ORIGIN, PER_ENVIRONMENT
from tallyard.spec.tree import Steps, key_path

_REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = _REPOSITORY / "docs" / "spec.md"
_STACKS = _REPOSITORY / "stacks"


@dataclass(frozen=True)
class _File:
    """One of the two kinds of file; `examples` are searched in this order."""

    title: str
    text: str
    whole: schema.Schema
    examples: tuple[str, ...]
    is_overlay: bool


_FILES = (
    _File(
        "The platform's file",
        "`stacks/platform.yaml`: what is the same in every environment.",
        schema.platform_schema(),
        ("platform.yaml",),
        is_overlay=False,
    ),
    _File(
        "An environment's file",
        "`stacks/local.yaml`, `stacks/prod.yaml`: what differs between environments. "
        "A key that the platform's file has too is replaced.",
        schema.overlay_schema(),
        ("local.yaml", "prod.yaml"),
        is_overlay=True,
    ),
)


def page() -> str:
    """Return the whole page."""
    return "\n".join(_lines()).rstrip() + "\n"


def _lines() -> Iterator[str]:
    yield "# The spec, key by key"
    yield ""
    yield "<!-- Made by `python -m tallyard.cli.spec_reference --write`; do not edit. -->"
    yield ""
    yield "Each section is one mapping, with its keys in the order of the file. `NAME` is a name of your"
    yield "own, `[]` an item of a list. `tally spec explain KEY` prints the same of one key, and an editor"
    yield "shows it on the key ([editors.md](editors.md)). The examples are cut out of `stacks/`."
    yield ""
    for file in _FILES:
        yield f"## {file.title}"
        yield ""
        yield file.text
        yield ""
        yield from _table(file, ())
        shipped = Shipped(tuple(_STACKS / name for name in file.examples))
        for place in _mappings(file.whole, ()):
            yield from _section(file, place, shipped)


def _mappings(whole: schema.Schema, above: Steps) -> Iterator[Steps]:
    """Yield the places below one whose value is a mapping with fixed keys, in the file's order."""
    for key in (schema.at(whole, above) or {}).get("properties", {}):
        place = _entry(whole, (*above, key))
        if place is not None:
            yield place
            yield from _mappings(whole, place)


def _entry(whole: schema.Schema, place: Steps) -> Steps | None:
    """Return the place of the mapping that a key leads to, through lists and names."""
    node = schema.at(whole, place)
    if node is None:
        return None
    if "properties" in node:
        return place
    return _entry(whole, (*place, 0 if "items" in node else "NAME"))


def _section(file: _File, place: Steps, shipped: Shipped) -> Iterator[str]:
    yield f"### {_heading(file, place)}"
    yield ""
    # What stands there is described by the key that leads to it, or by its own kind.
    yield from (f"{text}\n" for text in _texts(file.whole, place))
    yield from _table(file, place)
    if lines := shipped.cut(place):
        yield "```yaml"
        yield from lines
        yield "```"
        yield ""


def _heading(file: _File, place: Steps) -> str:
    """Return a heading that no other section has, so that links find it."""
    shown = f"`{_shown(place)}`"
    twice = file.is_overlay and schema.at(schema.platform_schema(), place) is not None
    return f"{shown} of an environment" if twice else shown


def _anchor(heading: str) -> str:
    """Return what GitHub makes of a heading."""
    kept = "".join(c for c in heading.lower() if c.isalnum() or c in "-_ ")
    return kept.replace(" ", "-")


def _texts(whole: schema.Schema, place: Steps) -> Iterator[str]:
    node = schema.at(whole, place) or {}
    yield _prose(str(node.get("description", "")))
    *above, last = place
    if last == "NAME":
        names = (schema.whole(whole, tuple(above)) or {}).get("propertyNames")
        if names:
            yield f"`NAME`: {kinds.words(names)}."


def _table(file: _File, place: Steps) -> Iterator[str]:
    yield "| key | value | default | what it is |"
    yield "| --- | --- | --- | --- |"
    for key in (schema.at(file.whole, place) or {})["properties"]:
        yield _row(file, (*place, key))
    yield ""


def _row(file: _File, place: Steps) -> str:
    node = schema.at(file.whole, place) or {}
    cells = (f"`{place[-1]}`", _value(file, place), _default(file, place), _meaning(file, node))
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def _value(file: _File, place: Steps) -> str:
    node = schema.whole(file.whole, place) or {}
    target = _entry(file.whole, place)
    if target is not None:
        text = f"[{kinds.words(node)}](#{_anchor(_heading(file, target))})"
    elif choices := kinds.choices_of(node):
        text = " or ".join(f"`{choice}`" for choice in choices)
    else:
        text = kinds.words(node)
    is_filled = "minItems" in node or "minProperties" in node
    return f"{text}, at least one" if is_filled else text


def _default(file: _File, place: Steps) -> str:
    node = schema.at(file.whole, place) or {}
    if place[-1] in (schema.at(file.whole, place[:-1]) or {}).get("required", ()):
        return "**required**"
    default = default_of(node)
    return f"`{default}`" if default else ""


def _meaning(file: _File, node: schema.Schema) -> str:
    parts = [_prose(str(node.get("description", "")))]
    if EFFECT in node:
        parts.append(f"*Effect:* {_prose(node[EFFECT])}")
    if ORIGIN in node:
        parts.append(f"*The default:* {_prose(node[ORIGIN])}.")
    if node.get(PER_ENVIRONMENT) and not file.is_overlay:
        parts.append("*May differ per environment.*")
    return "<br>".join(parts)


def _prose(text: str) -> str:
    return text.replace("<", "&lt;").replace("*", "\\*")


def _shown(place: Steps) -> str:
    path = ""
    for step in place:
        path = f"{path}[]" if isinstance(step, int) else key_path(path, step)
    return path


def main(arguments: list[str]) -> int:
    """Write, check or print the page."""
    if "--write" in arguments:
        PAGE.write_text(page(), encoding="utf-8")
    elif "--check" in arguments:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page():
            sys.stderr.write(
                f"{PAGE}: not what the models say; `python -m tallyard.cli.spec_reference --write`\n"
            )
            return 1
    else:
        sys.stdout.write(page())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
