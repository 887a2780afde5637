"""What goes wrong with values: the YAML is sound, a subtree is missing, elsewhere or of another kind.

A mutator changes a tree of dictionaries, lists and scalars in place; `name` is the file's.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

from tests.spec.values import ODD_NAMES, TRAPS, WRONG_FORMS
from tests.spec.yaml_text import Plain, parsed, spots, written

type Mutator = Callable[[random.Random, dict[str, Any], str], None]

_NUMBERS = (
    *(0, -1, 1, 2, 65, 4_097, 10**6 + 1, 10**9 + 1, 2**31, 2**63, 2**64, 10**17, -(2**31) - 1),
    *(0.5, -0.1, 1.0, 1e-9, 3.141592653589793, 10**17 + 0.5),
)
_EMPTY: tuple[Any, ...] = ({}, [], None, "", Plain(""), " ")


def applied(rng: random.Random, chosen: Iterable[Mutator], data: bytes, name: str) -> bytes:
    """Parse, apply some of the mutators in turn, write in one of many styles."""
    tree = parsed(data.decode("utf-8", "replace"))
    for each in chosen:
        each(rng, tree, name)
    return written(rng, tree).encode("utf-8", "surrogatepass")


def dropped(rng: random.Random, tree: dict[str, Any], _name: str) -> None:
    for _ in range(rng.choice((1, 1, 3))):
        where, key = _spot(rng, tree)
        del where[key]


def renamed(rng: random.Random, tree: dict[str, Any], _name: str) -> None:
    key = _text_key(rng, tree)
    at = rng.randrange(len(key))
    slips = (
        key[:at] + key[at + 1 :],
        key[:at] + key[at] + key[at:],
        key[:at] + rng.choice("aeX-_ .") + key[at + 1 :],
        *(key.upper(), key.replace("-", "_"), key + "s", key.capitalize(), key.rstrip("s")),
    )
    _rename(rng, tree, key, rng.choice(slips))


def renamed_like_another(rng: random.Random, tree: dict[str, Any], _name: str) -> None:
    _rename(rng, tree, _text_key(rng, tree), _text_key(rng, tree))


def oddly_named(rng: random.Random, tree: dict[str, Any], _name: str) -> None:
    _rename(rng, tree, _text_key(rng, tree), rng.choice(ODD_NAMES))


def moved(rng: random.Random, tree: dict[str, Any], _name: str) -> None:
    where, key = _spot(rng, tree)
    value = where.pop(key)
    _put(rng, tree, key, value)


def copied(rng: random.Random, tree: dict[str, Any], _name: str) -> None:
    where, key = _spot(rng, tree)
    _put(rng, tree, key, deepcopy(where[key]))


def swapped(rng: random.Random, tree: dict[str, Any], _name: str) -> None:
    """Swap two subtrees; copies of them, for one may lie in the other."""
    (one, key), (other, other_key) = _spot(rng, tree), _spot(rng, tree)
    left, right = deepcopy(one[key]), deepcopy(other[other_key])
    one[key], other[other_key] = right, left


def value_of_another_key(rng: random.Random, tree: dict[str, Any], _name: str) -> None:
    where, key = _spot(rng, tree, leaf=True)
    elsewhere, other = _spot(rng, tree, leaf=True)
    where[key] = elsewhere[other]


def of_another_type(rng: random.Random, tree: dict[str, Any], _name: str) -> None:
    where, key = _spot(rng, tree)
    value = where[key]
    match value:
        case dict():
            others: tuple[Any, ...] = ([*value.values()], [*value], [value], str(value), None)
        case list():
            others = (dict(enumerate(value)), value[0] if value else None, {"items": value}, "[]")
        case _:
            others = ([value], {str(value): value}, {"value": value}, str(value), True, 1, [[]])
    where[key] = rng.choice(others)


def out_of_range(rng: random.Random, tree: dict[str, Any], _name: str) -> None:
    numbers = [(w, k) for w, k in spots(tree) if type(w[k]) in {int, float}]
    where, key = rng.choice(numbers or [_spot(rng, tree, leaf=True)])
    where[key] = rng.choice(_NUMBERS)


def numbers_as_texts(rng: random.Random, tree: dict[str, Any], _name: str) -> None:
    leaves = [(w, k) for w, k in spots(tree) if not isinstance(w[k], (dict, list))]
    for where, key in rng.sample(leaves, min(len(leaves), rng.choice((1, 1, 3)))):
        value = where[key]
        where[key] = (
            str(value) if not isinstance(value, str) else rng.choice((8, Plain("08"), True))
        )


def trapped(rng: random.Random, tree: dict[str, Any], _name: str) -> None:
    where, key = _spot(rng, tree, leaf=True)
    if rng.random() < 0.3 and isinstance(where, dict):
        where[Plain(rng.choice(TRAPS))] = where.pop(key)
    else:
        where[key] = Plain(rng.choice(TRAPS))


def emptied(rng: random.Random, tree: dict[str, Any], _name: str) -> None:
    where, key = _spot(rng, tree)
    where[key] = deepcopy(rng.choice(_EMPTY))


def name_from_elsewhere(rng: random.Random, tree: dict[str, Any], _name: str) -> None:
    where, key = _spot(rng, tree, leaf=True)
    where[key] = _text_key(rng, tree)


def odd_text(rng: random.Random, tree: dict[str, Any], _name: str) -> None:
    where, key = _spot(rng, tree, leaf=True)
    where[key] = rng.choice(ODD_NAMES)


def wrong_form(rng: random.Random, tree: dict[str, Any], _name: str) -> None:
    """Put a range, date, duration, percentage, rate or quantity of some form or other."""
    where, key = _spot(rng, tree, leaf=True)
    text = rng.choice(rng.choice(list(WRONG_FORMS.values())))
    where[key] = rng.choice((text, Plain(text)))


def many_of_one(rng: random.Random, tree: dict[str, Any], _name: str) -> None:
    """Repeat an entry a few times under names of its own, sound ones among them."""
    where, key = _spot(rng, tree)
    for number in range(rng.choice((1, 3, 40))):
        if isinstance(where, dict):
            where[f"{key}-{number}" if isinstance(key, str) else number] = deepcopy(where[key])
        else:
            where.append(deepcopy(where[key]))


def ranges_of_hosts(rng: random.Random, tree: dict[str, Any], _name: str) -> None:
    """Grow, shift or break the range of a group of hosts."""
    groups = [where for where, key in spots(tree) if key == "hosts" and isinstance(where, dict)]
    group = rng.choice(groups) if groups else _spot(rng, tree, leaf=True)[0]
    key = rng.choice(("hosts", "hosts", "rack", "block")) if groups else "hosts"
    if isinstance(group, dict):
        group[key] = rng.choice(WRONG_FORMS["range"])


def reordered(rng: random.Random, tree: dict[str, Any], _name: str) -> None:
    """Shuffle the keys of mappings, which means nothing, or the items of a list, which may."""
    containers = [tree, *(w[k] for w, k in spots(tree) if isinstance(w[k], (dict, list)))]
    for where in rng.sample(containers, min(len(containers), rng.choice((1, 3, 30)))):
        if isinstance(where, dict):
            pairs = rng.sample(list(where.items()), len(where))
            where.clear()
            where.update(pairs)
        else:
            rng.shuffle(where)


def renamed_everywhere(rng: random.Random, tree: dict[str, Any], _name: str) -> None:
    """Give a name another one wherever it stands, as a careful person does."""
    old, number = _text_key(rng, tree), rng.randint(0, 99)
    new = rng.choice((f"n{number}", f"x-{number}", f"X{number}", rng.choice(ODD_NAMES)))
    for where, key in spots(tree):
        if where[key] == old:
            where[key] = new
    while any(found == old and isinstance(where, dict) for where, found in spots(tree)):
        _rename(rng, tree, old, new)


def a_little_different(rng: random.Random, tree: dict[str, Any], _name: str) -> None:
    """Change whole numbers, on their own or within texts, by a little."""
    found = [(w, k) for w, k in spots(tree) if re.search(r"[0-9]", str(w[k])) and _is_small(w[k])]
    for where, key in rng.sample(found, min(len(found), rng.choice((1, 1, 3, 8)))):
        value = where[key]
        digits = list(re.finditer(r"[0-9]+", str(value)))
        number = rng.choice(digits)
        other = max(0, int(number.group()) + rng.choice((-2, -1, 1, 1, 2)))
        text = str(value)[: number.start()] + str(other) + str(value)[number.end() :]
        where[key] = text if isinstance(value, str) else Plain(text)


def _is_small(value: Any) -> bool:
    return not isinstance(value, (dict, list, bool)) and len(str(value)) < 100


def _spot(rng: random.Random, tree: Any, *, leaf: bool = False) -> tuple[Any, Any]:
    """Choose a place; where the tree has none, make one."""
    found = spots(tree)
    if leaf:
        found = [(w, k) for w, k in found if not isinstance(w[k], (dict, list))] or found
    if not found:
        tree["x"] = 1
        return tree, "x"
    return rng.choice(found)


def _text_key(rng: random.Random, tree: Any) -> str:
    keys = [key for _, key in spots(tree) if isinstance(key, str) and key]
    return rng.choice(keys or ["x"])


def _rename(rng: random.Random, tree: Any, key: str, new: str) -> None:
    tables = [where for where, found in spots(tree) if found == key and isinstance(where, dict)]
    if not tables:
        return
    table = rng.choice(tables)
    pairs = [(new if found == key else found, value) for found, value in table.items()]
    table.clear()
    table.update(pairs)


def _put(rng: random.Random, tree: Any, key: Any, value: Any) -> None:
    containers = [tree, *(w[k] for w, k in spots(tree) if isinstance(w[k], (dict, list)))]
    where = rng.choice(containers)
    if isinstance(where, dict):
        where[key if isinstance(key, str) else f"x{key}"] = value
    else:
        where.insert(rng.randint(0, len(where)), value)


MUTATORS: tuple[Mutator, ...] = (
    dropped,
    renamed,
    renamed_like_another,
    oddly_named,
    moved,
    copied,
    swapped,
    value_of_another_key,
    of_another_type,
    out_of_range,
    numbers_as_texts,
    trapped,
    emptied,
    name_from_elsewhere,
    odd_text,
    wrong_form,
    many_of_one,
    ranges_of_hosts,
    reordered,
    renamed_everywhere,
    a_little_different,
)
