"""Names that stand where another kind is wanted: a model before its pool, a login for a person.

They are found in the file as it is written, for whoever is told only what form a name has
mends the form and not the place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from tallyard.spec import fields
from tallyard.spec.problem import Problem
from tallyard.spec.suggest import nearest
from tallyard.spec.tree import Scalar, Sequence, Steps, Table, Tree, child, path_of

# Comparing takes time; nobody mistypes so many names in one place.
_LIKENED_MAX = 200
_POOLS_SHOWN_MAX = 12
_LOGIN = re.compile(r"@|^(?:oidc|ldap|saml|system)[:#]")


@dataclass(frozen=True)
class Names:
    """The pools of a platform's file with the models of each, and its accelerators."""

    models_of: Mapping[str, tuple[str, ...]]
    accelerators: tuple[str, ...]

    def model(self, name: str) -> str:
        """Return the accelerator that a name is, in whatever case; empty for a pool's name."""
        if name.casefold() in {pool.casefold() for pool in self.models_of}:
            return ""
        same = (each for each in self.accelerators if each.casefold() == name.casefold())
        return next(same, "")

    def like(self, name: str) -> str:
        """Return the accelerator that a name is meant to be, if it is like no pool."""
        return "" if nearest(name, self.models_of) else nearest(name, self.accelerators)

    def owners(self, model: str = "") -> list[str]:
        """Return the pools that list a model, or all that list any."""
        return [pool for pool, of in self.models_of.items() if (model in of if model else of)]


def names(tree: Tree) -> Names:
    """Return the names that a file has; none for an environment's."""
    pools, cards = child(tree, "pools"), child(tree, "accelerators")
    entries = pools.entries if isinstance(pools, Table) else {}
    return Names(
        {name: _texts(child(entry.value, "models")) for name, entry in entries.items()},
        tuple(cards.entries) if isinstance(cards, Table) else (),
    )


def models(tree: Tree, known: Names) -> Iterator[tuple[Steps, Problem]]:
    """Yield each place at which a model stands and a pool is wanted, with its problem."""
    likened = iter(range(_LIKENED_MAX))
    for steps, limits in _limits(tree):
        for section in ("cards", "borrow"):
            table = child(limits, section)
            for name, entry in table.entries.items() if isinstance(table, Table) else ():
                if name in known.models_of:
                    continue
                model = known.model(name)
                is_number = isinstance(entry.value, Scalar)
                if not model and is_number and next(likened, None) is not None:
                    model = known.like(name)
                if not model:
                    continue
                pools = known.owners(model) or known.owners()
                right = _rewritten(section, model, entry.value, (*pools, "POOL")[0])
                values = {"found": name, "right": right, "choices": _several(pools)}
                problem = Problem("SPEC134", entry.key.location, entry.key.path, values)
                yield (*steps, section, name), problem


def amount(steps: Steps, node: Tree, limits: Tree, known: Names) -> dict[str, object] | None:
    """Return what fills the sentence about a bare number of cards; None for anything else.

    Args:
        steps: The place of the number.
        node: What stands there.
        limits: The tier or the override that it is in.
        known: The file's names.
    """
    place = _within_limits(steps)
    if not isinstance(node, Scalar) or place not in {("cards",), ("borrow",), ("cards", None)}:
        return None
    if not re.fullmatch("[0-9]{1,9}", node.text):
        return None
    pool = str(steps[-1])
    if len(place) > 1:
        choices = known.models_of.get(pool) or known.models_of.get(
            nearest(pool, known.models_of), ()
        )
        right = f"{pool}: {{{(*choices, 'MODEL')[0]}: {node.text}}}"
    else:
        granted = child(limits, "cards")
        pools = known.owners()
        own = granted.entries if isinstance(granted, Table) else {}
        choices = tuple(pool for pool in pools if pool in own) or tuple(pools)
        first = (*choices, "POOL")[0]
        model = (*known.models_of.get(first, ()), "MODEL")[0]
        cards = f"{{{model}: {node.text}}}" if place == ("cards",) else node.text
        right = f"{place[0]}: {{{first}: {cards}}}"
    return {"found": int(node.text), "right": right, "choices": _several(choices)}


def place_of(steps: Steps, known: Names) -> str:
    """Return where a name belongs that stands directly in a tier or an override, or nothing."""
    if _within_limits(steps[:-1]) != ():
        return ""
    name = str(steps[-1])
    if name in known.models_of:
        return path_of((*steps[:-1], "cards"))
    model = known.model(name)
    pools = known.owners(model) if model else []
    return path_of((*steps[:-1], "cards", (*pools, "POOL")[0])) if model else ""


def login(steps: Steps, node: Tree, project: Tree) -> dict[str, object] | None:
    """Return what fills the sentence about a login that stands where a person is named.

    Args:
        steps: The place, with the key itself as last step where it is the login.
        node: What stands there.
        project: The project that it is in.
    """
    if not isinstance(node, Scalar) or not is_login(node.text):
        return None
    match steps:
        case ("projects", _, "default-user"):
            right = f"default-user: {_owner(node.text, project) or person(node.text)}"
        case ("projects", _, "users", name) if name == node.text:
            right = f'{person(node.text)}: {{logins: ["{node.text}"]}}'
        case ("projects", _, "users", name):
            right = f'{name}: {{logins: ["{node.text}"]}}'
        case _:
            return None
    return {"found": node.text, "right": right}


def is_login(text: str) -> bool:
    """Return whether a text can only be a login: it has an address or begins as logins do."""
    return _LOGIN.search(text) is not None


def person(text: str) -> str:
    """Return a name for the person behind a login: `bo.li` for `oidc:bo.li@corp.example`."""
    bare = re.split(r"[:#/\\]", text.partition("@")[0])[-1]
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", bare).strip("-_.")[: fields.NAME_LENGTH_MAX]
    return name or "NAME"


def _limits(tree: Tree) -> Iterator[tuple[Steps, Tree]]:
    """Yield each tier and each override with its place."""
    tiers, projects = child(tree, "tiers"), child(tree, "projects")
    for name, entry in tiers.entries.items() if isinstance(tiers, Table) else ():
        yield ("tiers", name), entry.value
    for name, entry in projects.entries.items() if isinstance(projects, Table) else ():
        overrides = child(entry.value, "overrides")
        for index, item in enumerate(overrides.items if isinstance(overrides, Sequence) else ()):
            yield ("projects", name, "overrides", index), item


def _within_limits(steps: Steps) -> tuple[str | None, ...] | None:
    """Return the place within a tier or an override, with None for a name; else None."""
    match steps:
        case ("tiers", _, *rest) | ("projects", _, "overrides", int(), *rest):
            return tuple(str(step) if not index else None for index, step in enumerate(rest))
    return None


def _rewritten(section: str, model: str, value: Tree, pool: str) -> str:
    """Return the entry with the pool in front of the model."""
    if isinstance(value, Table) and len(value.entries) == 1:
        (inner,) = value.entries.values()
        pool, value = inner.key.text, inner.value
    number = value.text if isinstance(value, Scalar) and value.text else "..."
    return f"{pool}: {number}" if section == "borrow" else f"{pool}: {{{model}: {number}}}"


def _owner(text: str, project: Tree) -> str:
    """Return the user of a project who has a login."""
    users = child(project, "users")
    for name, entry in users.entries.items() if isinstance(users, Table) else ():
        if text in _texts(child(entry.value, "logins")):
            return name
    return ""


def _texts(tree: Tree | None) -> tuple[str, ...]:
    items = tree.items if isinstance(tree, Sequence) else ()
    return tuple(item.text for item in items if isinstance(item, Scalar))


def _several(choices: list[str] | tuple[str, ...]) -> list[str]:
    """Return the choices if there is one to make."""
    return list(islice(choices, _POOLS_SHOWN_MAX + 1)) if len(choices) > 1 else []
