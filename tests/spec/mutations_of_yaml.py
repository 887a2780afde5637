# ruff: noqa: RUF001 - digits that look like others are part of it
"""What YAML can do and the spec does not want: aliases, tags, merges, documents, sheer size."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from itertools import pairwise

from tallyard.spec.source import FILE_BYTES_MAX
from tests.spec.yaml_text import Plain, parsed, spots, written

type Mutator = Callable[[random.Random, str], str]

_VALUE = re.compile(r"(?<=: )[^\s,{}\[\]#][^,{}\[\]\n]*")
_TAGS = (
    *("!!python/object/apply:os.system ", "!!int ", "!!str ", "!!binary ", "!local ", "!!set "),
    *("!<tag:yaml.org,2002:float> ", "! ", "!!null ", "!!timestamp ", "!!map ", "!!seq ", "!e!x "),
)
_DIRECTIVES = (
    *("%YAML 1.1\n---\n", "%YAML 1.2\n---\n", "%YAML 9.9\n---\n", "%FOO bar\n---\n", "%TAG\n---\n"),
    *("%TAG !e! tag:example.com,2000:\n---\n", "%YAML 1.2\n%YAML 1.2\n---\n", "%YAML 1.2\n", "%\n"),
)
_MERGES = ("<<: *a\n", "<<: {kind: Platform}\n", "<<: [*a, *b]\n", "<<:\n", '"<<": {x: 1}\n')
_SIZES = (1_000, 10_000, 30_000, 100_000)


def aliases(rng: random.Random, text: str) -> str:
    """Name one value and use it elsewhere, or a name that there is not."""
    values = list(_VALUE.finditer(text))
    if len(values) < 2:
        return "a: &a 1\nb: *a\n" + text
    one, other = sorted(rng.sample(values, 2), key=re.Match.start)
    alias = rng.choice(("*a", "*a", "*gone", "*"))
    head = text[: one.start()] + "&a " + text[one.start() : other.start()]
    return head + alias + " " + text[other.end() :]


def anchor_bomb(rng: random.Random, text: str) -> str:
    depth, width = rng.choice(((9, 9), (30, 2), (3, 300), (1, 20_000)))
    names = [f"x{number}" for number in range(depth + 1)]
    bomb = f"{names[0]}: &{names[0]} [{', '.join(['lol'] * width)}]\n"
    for below, name in pairwise(names):
        bomb += f"{name}: &{name} [{', '.join([f'*{below}'] * width)}]\n"
    merged = "".join(f"m{n}: &m{n}\n  <<: [{', '.join(names)}]\n" for n in range(3))
    return rng.choice((bomb + text, text + "\n" + bomb, bomb + merged + text))


def alias_of_itself(rng: random.Random, text: str) -> str:
    return rng.choice(("a: &a [*a]\n", "a: &a {b: *a}\n", "&a a: *a\n", "&a ? *a\n")) + text


def tags(rng: random.Random, text: str) -> str:
    return _before_a_value(rng, text, rng.choice(_TAGS))


def merge_keys(rng: random.Random, text: str) -> str:
    return _new_line(rng, text, rng.choice(_MERGES))


def duplicate_keys(rng: random.Random, text: str) -> str:
    keys = re.findall(r"^( *)([\w.-]+:.*)$", text, re.MULTILINE)
    if not keys:
        return text + "\na: 1\na: 2\n"
    indent, line = rng.choice(keys)
    return text.rstrip() + f"\n{indent}{line}" * rng.choice((1, 1, 200)) + "\n"


def more_documents(rng: random.Random, text: str) -> str:
    more = rng.choice((f"---\n{text}", "---\n", "...\n", "...\n---\n{}\n", "--- a\n", "---\n--- "))
    return rng.choice((f"{text}\n{more}", f"{more}\n{text}", _new_line(rng, text, more)))


def block_scalars(rng: random.Random, text: str) -> str:
    head = rng.choice(("|", ">", "|-", ">+", "|2", ">9-", "|0", "| # why", "|x"))
    body = rng.choice(("", "\n    text", "\n  a\n   b\n c", "\n\n\n", "\n    4Gi\n"))
    return _instead_of_a_value(rng, text, head + body)


def comments(rng: random.Random, text: str) -> str:
    comment = rng.choice(("# why\n", "#\n", " # x", "#x", "# 系统 \U0001f600\n", "\n\n\n# a: b\n"))
    return _new_line(rng, text, comment * rng.choice((1, 1, 5_000)))


def explicit_keys(rng: random.Random, text: str) -> str:
    key = rng.choice(
        (
            "? a\n: b\n",
            "? [a, b]\n: c\n",
            "? {a: b}\n",
            "? \n: \n",
            "[a, b]: c\n",
            "? |\n  a\n: 1\n",
        )
    )
    return _new_line(rng, text, key)


def odd_keys(rng: random.Random, text: str) -> str:
    keys = ("1: a\n", "null: a\n", "true: a\n", ": a\n", "1.5: a\n", '"": a\n', "~: ~\n", "no: 1\n")
    return _new_line(rng, text, "".join(rng.sample(keys, rng.randint(1, 3))))


def deep_nesting(rng: random.Random, text: str) -> str:
    depth = rng.choice((15, 25, 500, 20_000))
    deep = rng.choice(
        ("[" * depth + "]" * depth, "[" * depth, "{a: " * depth + "}" * depth, "- " * depth)
    )
    if rng.random() < 0.3:
        lines = "".join(" " * level + "a:\n" for level in range(min(depth, 2_000)))
        return text.rstrip() + "\n" + lines
    return _instead_of_a_value(rng, text, deep)


def directives(rng: random.Random, text: str) -> str:
    return rng.choice(_DIRECTIVES) + text


def escapes(rng: random.Random, text: str) -> str:
    names = (
        "\\x00",
        "\\u202e",
        "\\ud800",
        "\\U0010ffff",
        "\\U00110000",
        "\\e[31m",
        "\\n",
        "\\z",
        "\\L",
    )
    return _instead_of_a_value(rng, text, f'"{rng.choice(names)}{rng.choice(names)}"')


def huge_scalar(rng: random.Random, text: str) -> str:
    """Put a text of a megabyte in the place of a value or a key."""
    unit = rng.choice(("x", "1", "系", "x ", "a-", "[", "\\n", "9.", "-"))
    size = 1_000_000 // len(unit)
    match rng.randrange(4):
        case 0:
            return _instead_of_a_value(rng, text, f'"{unit * size}"')
        case 1:
            return _instead_of_a_value(rng, text, unit * size)
        case 2:
            return _new_line(rng, text, f'? "{unit * size}"\n: 1\n')
    return _instead_of_a_value(rng, text, "|\n" + f"      {unit * 50}\n" * (size // 50))


def many_keys(rng: random.Random, text: str) -> str:
    """Put thousands of entries into one of the mappings, of the neighbours' form or not."""
    tree = parsed(text)
    tables = [value for value in (tree, *_values(tree)) if isinstance(value, dict)]
    table, size = rng.choice(tables), rng.choice(_SIZES)
    sample = rng.choice([*table.values(), 1, None, {}]) if table else 1
    prefix = rng.choice(("x", "x-", "系", "X Y", "x" * 60))
    table.update({f"{prefix}{number}": sample for number in range(size)})
    return written(rng, tree)


def many_items(rng: random.Random, text: str) -> str:
    """Put thousands of items into one of the lists, or make a list where there was none."""
    tree = parsed(text)
    lists = [value for value in _values(tree) if isinstance(value, list)]
    size = rng.choice(_SIZES)
    if not lists or rng.random() < 0.2:
        where, key = rng.choice(spots(tree) or [({}, "x")])
        where[key] = [where.get(key) if isinstance(where, dict) else 1] * size
        return written(rng, tree)
    items = rng.choice(lists)
    sample = rng.choice([*items, 1, "x", {}, []])
    items.extend([sample] * size)
    return written(rng, tree)


def many_nodes(rng: random.Random, text: str) -> str:
    """Append a hundred thousand small things of one kind."""
    unit = rng.choice(
        (
            "- \n",
            "a: 1\n",
            "---\n",
            "? \n",
            "[]\n",
            "&a x\n",
            "!!str\n",
            '""\n',
            "\n",
            "#\n",
            "...\n",
        )
    )
    flow = rng.choice(("[],", "{},", "a,", "[a: b],", '"",', "*a,", "!x ,", ",", "? a,", "&a ,"))
    size = rng.choice(_SIZES)
    if rng.random() < 0.5:
        return text.rstrip() + "\n" + unit * size
    return text.rstrip() + "\nx: [" + flow * size + "]\n"


def as_large_as_may_be(rng: random.Random, text: str) -> str:
    """Fill the file up to the limit of its size, or over it by one."""
    unit = rng.choice(("# 0123456789\n", "\n", " " * 99 + "\n", "- a\n", "[],", "a: 1\n", "x"))
    room = FILE_BYTES_MAX + rng.choice((-1_000, 0, 1)) - len(text.encode())
    return text + unit * (room // len(unit)) + "#" * (room % len(unit))


def faults_below_much_text(rng: random.Random, text: str) -> str:
    """Fill the file nearly up to the limit of its size, and let hundreds of faults follow."""
    faults = "".join(f"x{number}: 1\n" for number in range(rng.choice((1, 300))))
    unit = rng.choice(("#\n", "\n", " " * 99 + "\n", "# 系统\n", "# x" + "y" * 500 + "\n"))
    head = rng.choice(("", "# \U0001f600\n")) + text.rstrip() + "\n"
    room = FILE_BYTES_MAX - len((head + faults).encode())
    return head + unit * (room // len(unit.encode())) + faults


def trapped_words(rng: random.Random, text: str) -> str:
    """Put words in the place of values that readers of YAML do not agree on."""
    words = (
        *("NO", "yes", "On", "y", "True", "010", "0o17", "0x1F", "1e3", "1_000", "12:30:45", "~"),
        *(".inf", "-.INF", ".NaN", "1.", ".5", "+1", "-0", "0b1", "1:30", "=", "<<", "2026-12-31"),
        *("", "9" * 18, "9" * 19, "9" * 5_000, "0.1", "00", "1,000", "１２", "٣", "1e400", "- 1"),
    )
    for _ in range(rng.randint(1, 3)):
        text = _instead_of_a_value(rng, text, rng.choice(words))
    return text


def other_style(rng: random.Random, text: str) -> str:
    """Say the same in another style, but for one value."""
    tree = parsed(text)
    where, key = rng.choice(spots(tree) or [({}, "x")])
    where[key] = Plain(
        rng.choice(("", "a b", "a: b", "[a", "1", '"a"', "'a''b'", "- a", "|", "a #b"))
    )
    return written(rng, tree)


def _values(tree: object) -> list[object]:
    return [where[key] for where, key in spots(tree)]


def _new_line(rng: random.Random, text: str, line: str) -> str:
    lines = text.splitlines(keepends=True) or [""]
    at = rng.randrange(len(lines) + 1)
    indent = " " * rng.choice((0, 0, 2, 4))
    return "".join([*lines[:at], indent + line, *lines[at:]])


def _before_a_value(rng: random.Random, text: str, piece: str) -> str:
    values = list(_VALUE.finditer(text))
    at = rng.choice(values).start() if values else 0
    return text[:at] + piece + text[at:]


def _instead_of_a_value(rng: random.Random, text: str, piece: str) -> str:
    values = list(_VALUE.finditer(text))
    if not values:
        return text + "\na: " + piece
    value = rng.choice(values)
    return text[: value.start()] + piece + text[value.end() :]


MUTATORS: tuple[Mutator, ...] = (
    aliases,
    anchor_bomb,
    alias_of_itself,
    tags,
    merge_keys,
    duplicate_keys,
    more_documents,
    block_scalars,
    comments,
    explicit_keys,
    odd_keys,
    deep_nesting,
    directives,
    escapes,
    huge_scalar,
    many_keys,
    many_items,
    many_nodes,
    as_large_as_may_be,
    faults_below_much_text,
    trapped_words,
    other_style,
)
