"""Trees of plain values written as YAML in one of many styles, and read back."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from typing import Any

import yaml

# A tree deeper than this is made as text, not here.
_DEPTH_MAX = 40
_LENGTH_MAX = 200_000
_BARE = re.compile(r"[A-Za-z\u4e00-\u9fff][\w.@/-]*")
_TRAPS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})


class Plain(str):
    """A text that is written as it stands, without quotes."""

    __slots__ = ()


def parsed(text: str) -> Any:
    """Return the tree of a text; an empty one of an odd kind where it is no YAML."""
    try:
        tree = yaml.load(text, Loader=_Loader) if _is_tame(text) else None  # noqa: S506 - a safe loader that reads no dates
    except (yaml.YAMLError, ValueError):
        tree = None
    return tree if isinstance(tree, dict) else {"kind": text[:20]}


def _is_tame(text: str) -> bool:
    """Return whether a text is one of moderate size and depth, without aliases and tags."""
    depth = 0
    if len(text) > _LENGTH_MAX:
        return False
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEPTH_MAX or isinstance(event, yaml.AliasEvent):
            return False
        # PyYAML raises what it likes for a tag that does not fit its value.
        if getattr(event, "tag", None) is not None:
            return False
    return True


class _Loader(yaml.CSafeLoader):
    """Leaves dates and times as the texts they are."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML's own attribute
        first: [pair for pair in pairs if not pair[0].endswith(":timestamp")]
        for first, pairs in yaml.CSafeLoader.yaml_implicit_resolvers.items()
    }


def spots(tree: Any) -> list[tuple[Any, Any]]:
    """Return every place of a tree as its container and key or index; not the root."""
    return list(_spots(tree))


def _spots(tree: Any) -> Iterator[tuple[Any, Any]]:
    match tree:
        case dict():
            keys = list(tree)
        case list():
            keys = list(range(len(tree)))
        case _:
            return
    for key in keys:
        yield tree, key
        yield from _spots(tree[key])


def written(rng: random.Random, tree: Any) -> str:
    """Write a tree: blocks down to some level, brackets below; or as JSON."""
    style = rng.choice((1, 2, 3, 3, _DEPTH_MAX, 0, None))
    if style is None or not isinstance(tree, dict) or not tree:
        return _flow(tree, 0) + "\n"
    return "".join(_block(tree, 0, style))


def _block(value: Any, level: int, levels: int) -> Iterator[str]:
    pad = "  " * level
    if isinstance(value, dict):
        pairs = [(f"{_scalar(key)}:", item) for key, item in value.items()]
    else:
        pairs = [("-", item) for item in value]
    for head, item in pairs:
        if isinstance(item, (dict, list)) and item and level < levels:
            yield f"{pad}{head}\n"
            yield from _block(item, level + 1, levels)
        else:
            yield f"{pad}{head} {_flow(item, level)}\n"


def _flow(value: Any, depth: int) -> str:
    assert depth < 2 * _DEPTH_MAX
    match value:
        case dict():
            pairs = (f"{_scalar(key)}: {_flow(item, depth + 1)}" for key, item in value.items())
            return "{" + ", ".join(pairs) + "}"
        case list():
            return "[" + ", ".join(_flow(item, depth + 1) for item in value) + "]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    match value:
        case Plain():
            return str(value)
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str() if _BARE.fullmatch(value) and value.lower() not in _TRAPS:
            return value
        case str():
            return json.dumps(value, ensure_ascii=False)
    return str(value)
