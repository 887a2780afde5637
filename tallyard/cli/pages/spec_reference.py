"""`docs/spec.md` and `docs/spec.zh.md`: the reference of the spec, made from its models.

The examples are lines of the shipped `stacks/`, cut out where they stand.
"""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tallyard.cli.pages.made import CHECKOUT, NOTE
from tallyard.cli.pages.shipped_lines import Shipped
from tallyard.languages import Language
from tallyard.spec import kinds, schema
from tallyard.spec.editor_schema import default_of
from tallyard.spec.fields import EFFECT, ORIGIN, PER_ENVIRONMENT
from tallyard.spec.key_texts import told
from tallyard.spec.tree import Steps, path_of

PAGES: Mapping[Language, Path] = {"en": Path("docs/spec.md"), "zh": Path("docs/spec.zh.md")}
_STACKS = CHECKOUT / "stacks"


@dataclass(frozen=True)
class _Frame:
    """What stands around the models' texts. `{}` is the text that is framed.

    `*` marks are closed before a mark of Chinese punctuation, or Markdown does not see them.
    """

    title: str
    other: str
    intro: tuple[str, ...]
    headings: str
    required: str
    effect: str
    origin: str
    per_environment: str
    name: str
    of_an_environment: str


_FRAMES: Mapping[Language, _Frame] = {
    "en": _Frame(
        title="# The spec, key by key",
        other="[中文](spec.zh.md)",
        intro=(
            "Each section is one mapping, with its keys in the order of the file. `NAME` is a name of your",
            "own, `[]` an item of a list. `tally spec explain KEY` prints the same of one key, and an editor",
            "shows it on the key ([editors.md](editors.md)). The examples are cut out of `stacks/`.",
        ),
        headings="| key | value | default | what it is |",
        required="**required**",
        effect="*Effect:* {}",
        origin="*The default:* {}.",
        per_environment="*May differ per environment.*",
        name="`NAME`: {}.",
        of_an_environment="{} of an environment",
    ),
    "zh": _Frame(
        title="# 规格：逐个键的说明",
        other="[English](spec.md)",
        intro=(
            # Markdown makes a blank of a line's end, and Chinese has none after a sentence.
            "每一节是一个映射，其中的键按文件中的顺序排列。`NAME` 是自定的名称，`[]` 是列表中的一项。`tally spec explain KEY --lang zh` 显示一个键的同样内容，编辑器在键上用英文显示（[editors.md](editors.md)）。示例摘自 `stacks/`。",
        ),
        headings="| 键 | 值 | 默认值 | 说明 |",
        required="**必填**",
        effect="*作用*：{}",
        origin="*默认值来源*：{}。",
        per_environment="*可因环境而异*。",
        name="`NAME`：{}。",
        of_an_environment="环境文件的 {}",
    ),
}


@dataclass(frozen=True)
class _File:
    """One of the two kinds of file; `examples` are searched in this order."""

    title: Mapping[Language, str]
    text: Mapping[Language, str]
    whole: schema.Schema
    examples: tuple[str, ...]
    is_overlay: bool


_FILES = (
    _File(
        {"en": "The platform's file", "zh": "平台文件"},
        {
            "en": "`stacks/platform.yaml`: what is the same in every environment.",
            "zh": "`stacks/platform.yaml`：各环境相同的内容。",
        },
        schema.platform_schema(),
        ("platform.yaml",),
        is_overlay=False,
    ),
    _File(
        {"en": "An environment's file", "zh": "环境文件"},
        {
            "en": "`stacks/local.yaml`, `stacks/prod.yaml`: what differs between environments. "
            "A key that the platform's file has too is replaced.",
            "zh": "`stacks/local.yaml`、`stacks/prod.yaml`：因环境而异的内容。"
            "平台文件中也有的键，以这里为准。",
        },
        schema.overlay_schema(),
        ("local.yaml", "prod.yaml"),
        is_overlay=True,
    ),
)


def files() -> Mapping[Path, str]:
    """Return the pages by their paths from the checkout."""
    return {file: page(lang) for lang, file in PAGES.items()}


def page(lang: Language = "en") -> str:
    """Return the whole page in a language."""
    return "\n".join(_lines(lang)).rstrip() + "\n"


def _lines(lang: Language) -> Iterator[str]:
    frame = _FRAMES[lang]
    yield from (frame.title, "", NOTE, "", frame.other, "", *frame.intro, "")
    for file in _FILES:
        yield from (f"## {file.title[lang]}", "", file.text[lang], "")
        yield from _table(file, (), lang)
        shipped = Shipped(tuple(_STACKS / name for name in file.examples))
        for place in _mappings(file.whole, ()):
            yield from _section(file, place, shipped, lang)


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


def _section(file: _File, place: Steps, shipped: Shipped, lang: Language) -> Iterator[str]:
    yield f"### {_heading(file, place, lang)}"
    yield ""
    # What stands there is described by the key that leads to it, or by its own kind.
    yield from (f"{text}\n" for text in _texts(file.whole, place, lang))
    yield from _table(file, place, lang)
    if lines := shipped.cut(place):
        yield "```yaml"
        yield from lines
        yield "```"
        yield ""


def _heading(file: _File, place: Steps, lang: Language) -> str:
    """Return a heading that no other section has, so that links find it."""
    shown = f"`{path_of(place, numbered=False)}`"
    twice = file.is_overlay and schema.at(schema.platform_schema(), place) is not None
    return _FRAMES[lang].of_an_environment.format(shown) if twice else shown


def _anchor(heading: str) -> str:
    """Return what GitHub makes of a heading."""
    kept = "".join(c for c in heading.lower() if c.isalnum() or c in "-_ ")
    return kept.replace(" ", "-")


def _texts(whole: schema.Schema, place: Steps, lang: Language) -> Iterator[str]:
    yield _prose((schema.at(whole, place) or {}).get("description"), lang)
    *above, last = place
    if last == "NAME":
        names = (schema.whole(whole, tuple(above)) or {}).get("propertyNames")
        if names:
            yield _FRAMES[lang].name.format(kinds.words(names, lang))


def _table(file: _File, place: Steps, lang: Language) -> Iterator[str]:
    yield _FRAMES[lang].headings
    yield "| --- | --- | --- | --- |"
    for key in (schema.at(file.whole, place) or {})["properties"]:
        yield _row(file, (*place, key), lang)
    yield ""


def _row(file: _File, place: Steps, lang: Language) -> str:
    node = schema.at(file.whole, place) or {}
    cells = (
        f"`{place[-1]}`",
        _value(file, place, lang),
        _default(file, place, lang),
        _meaning(file, node, lang),
    )
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def _value(file: _File, place: Steps, lang: Language) -> str:
    node = schema.whole(file.whole, place) or {}
    target = _entry(file.whole, place)
    if target is not None:
        text = f"[{kinds.words(node, lang)}](#{_anchor(_heading(file, target, lang))})"
    elif choices := kinds.choices_of(node):
        text = kinds.either([f"`{choice}`" for choice in choices], lang)
    else:
        text = kinds.words(node, lang)
    is_filled = "minItems" in node or "minProperties" in node
    return kinds.filled(text, lang) if is_filled else text


def _default(file: _File, place: Steps, lang: Language) -> str:
    node = schema.at(file.whole, place) or {}
    if place[-1] in (schema.at(file.whole, place[:-1]) or {}).get("required", ()):
        return _FRAMES[lang].required
    default = default_of(node)
    return f"`{default}`" if default else ""


def _meaning(file: _File, node: schema.Schema, lang: Language) -> str:
    frame = _FRAMES[lang]
    parts = [_prose(node.get("description"), lang)]
    if EFFECT in node:
        parts.append(frame.effect.format(_prose(node[EFFECT], lang)))
    if ORIGIN in node:
        parts.append(frame.origin.format(_prose(node[ORIGIN], lang)))
    if node.get(PER_ENVIRONMENT) and not file.is_overlay:
        parts.append(frame.per_environment)
    return "<br>".join(parts)


def _prose(text: str | None, lang: Language) -> str:
    return told(text or "", lang).replace("<", "&lt;").replace("*", "\\*")
