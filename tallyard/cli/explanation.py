"""`tally spec explain`: a key as a person types it, and what is printed of it.

What a key means is said in `tallyard.spec.explain`; here a name with dots in it is understood
without quotes, and the name of a key alone is answered with the places where it can stand.
"""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tallyard.cli import session
from tallyard.cli.errors import Complaint
from tallyard.cli.exit_codes import ExitCode
from tallyard.cli.output import document, on_terminal, print_line, print_table
from tallyard.cli.words import word
from tallyard.cluster.faults import Parts
from tallyard.languages import Language
from tallyard.spec import schema
from tallyard.spec.explain import Explanation, UnknownKeyError, explain, steps_of
from tallyard.spec.key_texts import told
from tallyard.spec.tree import Steps, path_of

_INDENT = "  "
# In Chinese the word alone would be taken for that of the key.
_ORIGIN = {"en": "origin", "zh": "默认值来源"}
# `e.g.` ends no sentence; Chinese has no blank after one.
_SENTENCE_END = re.compile(r"(?<=\.)(?<!e\.g\.)\s|(?<=。)")
_FILES = (
    ("platform.yaml", schema.platform_schema),
    ("local.yaml, prod.yaml", schema.overlay_schema),
)


def explained(key: str) -> Explanation:
    """Return what a key is for, in the language of this run.

    Raises:
        Complaint: No such key can stand in the spec.
    """
    lang = session.lang()
    try:
        return _explained(key, lang)
    except UnknownKeyError as error:
        places = tuple(dict.fromkeys(_places_of(key)))
        if places:
            joined = (", " if lang == "en" else "、").join(places)
            todo = f"do you mean {joined}?" if lang == "en" else f"是否指 {joined}？"
        else:
            todo = error.hint(lang) or "`tally spec explain`"
        raise Complaint(ExitCode.NOT_FOUND, Parts("", error.what(lang), "", todo)) from error


def _explained(key: str, lang: Language) -> Explanation:
    """Explain a key as it stands, or with its names that have dots put together.

    Where what stands there is nearly a key, it is a slip and no part of a name.
    """
    try:
        return explain(key, lang)
    except UnknownKeyError as error:
        joined = None if error.nearest else _with_quotes(key)
        if joined is None:
            raise
        return explain(joined, lang)


def body(found: Explanation) -> Mapping[str, Any]:
    """Return the document of a key; the texts follow the language."""
    texts = _texts(found)
    return document(
        "Explanation",
        {
            "path": found.path,
            "text": found.text,
            "type": found.type,
            "required": found.is_required,
            "default": found.default,
            "effect": found.effect,
            "origin": found.origin,
            "perEnvironment": found.is_per_environment,
            "keys": list(found.keys) if found.path else [name for name, _ in texts],
            "keyTexts": dict(texts),
        },
    )


def show(found: Explanation) -> None:
    """Print a key, and the keys that can stand below it, each with its text."""
    if not found.path:
        for file, whole in _FILES:
            print_line(f"stacks/{file}")
            _print_keys(_root_texts(whole()))
        return
    # What a kind of value says has brackets of its own, which two in a row make hard to read.
    is_zh = session.lang() == "zh"
    print_line(f"{found.path}  {found.type if is_zh else f'({found.type})'}")
    _print(found.text, _INDENT)
    facts = {_label(name): fact for name, fact in _facts(found)}
    indent = max(map(_width, facts)) + 1
    for label, fact in facts.items():
        _print(fact, label, indent)
    if found.keys:
        print_line(_label(word("keys")))
        _print_keys(_texts(found))


def _facts(found: Explanation) -> Iterator[tuple[str, str]]:
    """Yield what is known of a key beside its text; a name that an author chooses has less."""
    if _is_key(found.path):
        yield word("required"), word("yes" if found.is_required else "no")
    if found.default:
        yield word("default"), found.default
    if found.origin:
        yield _ORIGIN[session.lang()], found.origin
    if found.effect:
        yield word("effect"), found.effect
    yield word("per environment"), word("yes" if found.is_per_environment else "no")


def _label(name: str) -> str:
    return f"{_INDENT}{name}{'：' if session.lang() == 'zh' else ':'}"


def _width(text: str) -> int:
    from rich.cells import cell_len  # noqa: PLC0415

    return cell_len(text)


def _print(text: str, before: str, indent: int = len(_INDENT)) -> None:
    """Print a text behind another; on a terminal its further lines stand below its first."""
    from tallyard.cli import layout  # noqa: PLC0415

    lines: Iterable[str] = (text,)
    if on_terminal():
        lines = layout.wrapped(text, max(session.out().width - indent, indent))
    head = before + " " * (indent - _width(before))
    for line in lines:
        print_line(head + line)
        head = " " * indent


def _print_keys(texts: list[tuple[str, str]]) -> None:
    print_table((word("KEY"), word("TEXT")), texts)


def _texts(found: Explanation) -> list[tuple[str, str]]:
    if not found.path:
        return [each for _, whole in _FILES for each in _root_texts(whole())]
    below = ((key, explain(f"{found.path}.{key}", session.lang())) for key in found.keys)
    return [(key, _first(each.text)) for key, each in below]


def _root_texts(whole: schema.Schema) -> list[tuple[str, str]]:
    described = ((key, schema.at(whole, (key,)) or {}) for key in whole["properties"])
    return [
        (key, _first(told(str(node.get("description", "")), session.lang())))
        for key, node in described
    ]


def _first(text: str) -> str:
    """Return the first sentence."""
    return _SENTENCE_END.split(text, maxsplit=1)[0]


def _is_key(path: str) -> bool:
    """Say whether the path ends in a key of ours, and not in a name that an author chooses."""
    *above, last = steps_of(path)
    return any(
        last in (_without_lists(whole(), tuple(above)) or {}).get("properties", {})
        for _, whole in _FILES
    )


def _with_quotes(key: str) -> str | None:
    """Return a path with quotes around the names that have dots: users.li.wei as users."li.wei"."""
    steps = steps_of(key)
    for _, whole in _FILES:
        if found := _resolved(whole(), (), steps):
            return path_of(found)
    return None


def _resolved(whole: schema.Schema, done: Steps, rest: Steps) -> Steps | None:
    """Return the steps with those put together that are one name, the shortest names first."""
    if not rest:
        return done
    for count in range(1, len(rest) + 1):
        taken = rest[:count]
        if count > 1 and not all(isinstance(step, str) for step in taken):
            return None
        step = taken[0] if count == 1 else ".".join(map(str, taken))
        here = (*done, step)
        if count > 1 and not schema.can_be_named(whole, done, str(step)):
            continue
        if _without_lists(whole, here) is not None:
            found = _resolved(whole, here, rest[count:])
            if found:
                return found
    return None


def _without_lists(whole: schema.Schema, steps: Steps) -> schema.Schema | None:
    """Return the schema of a place, where the path may leave the items of lists out."""
    done: Steps = ()
    for step in steps:
        tries = ((*done, step), (*done, 0, step))
        done = next((each for each in tries if schema.at(whole, each) is not None), ())
        if not done:
            return None
    node = schema.at(whole, done)
    if node is not None and node.get("type") == "array":
        return schema.at(whole, (*done, 0))
    return node


def _places_of(key: str) -> Iterator[str]:
    """Yield the places where a key of this name can stand."""
    for _, whole in _FILES:
        for place in schema.places(whole()):
            if place[-1] == key:
                yield path_of(place, numbered=False)
