"""Objects that cannot be changed, that go, and flavors that come beside others, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tallyard.cli import session
from tallyard.cli.views.spec_diff_parts import ARROW, COLON, Block, Row, Section, joined
from tallyard.cli.words import word, words
from tallyard.render.fates import Fate
from tallyard.render.flavors import CardFlavor, all_flavors
from tallyard.render.immutable import Removed, Replaced, removed, replaced
from tallyard.render.platform import render
from tallyard.spec.model import Platform


@dataclass(frozen=True)
class NewFlavor:
    """A flavor that comes beside the one before it; `model` is None for hosts without cards."""

    pool: str
    model: str | None
    before: str
    after: str


@dataclass(frozen=True)
class Objects:
    """What happens to the rendered objects that cannot simply be changed."""

    replaced: tuple[Replaced, ...]
    removed: tuple[Removed, ...]
    flavors: tuple[NewFlavor, ...]


def objects(before: Platform | None, after: Platform | None) -> Objects:
    """Return what happens to the objects between two platforms; None is one without any."""
    sides = [render(side) if side is not None else () for side in (before, after)]
    return Objects(replaced(*sides), removed(*sides), _new_flavors(before, after))


def replaced_section(found: tuple[Replaced, ...]) -> Section:
    """Return the objects whose fields cannot be changed, and what would become of them."""
    rows = tuple(
        Row(
            (
                each.kind,
                _object_name(each.namespace, each.name),
                field.field,
                f"{field.before} {ARROW} {field.after}",
                word(_REFUSALS.get(each.kind, _PROTECTED) if each.is_refused else _REPLACED),
            )
        )
        for each in found
        for field in each.fields
    )
    headings = (*words("KIND", "NAME", "FIELD", "CHANGE"), "")
    return Section(word("Objects that cannot be changed"), headings, (Block("", (), rows),))


def removed_section(found: tuple[Removed, ...]) -> Section:
    """Return the objects that go, by kind and by what becomes of them."""
    by_kind: dict[tuple[str, Fate], list[str]] = {}
    for each in found:
        by_kind.setdefault((each.kind, each.fate), []).append(
            _object_name(each.namespace, each.name)
        )
    rows = tuple(
        Row((kind, str(len(names)), f"{word(_FATES[fate])}{COLON[session.lang()]}{joined(names)}"))
        for (kind, fate), names in by_kind.items()
    )
    headings = (*words("KIND", "NUMBER"), "")
    title = word("Objects that are no longer asked for")
    return Section(title, headings, (Block("", (), rows),), right=(1,))


def _new_flavors(before: Platform | None, after: Platform | None) -> tuple[NewFlavor, ...]:
    old = _flavors(before)
    return tuple(
        NewFlavor(pool, model, old[pool, model], name)
        for (pool, model), name in _flavors(after).items()
        if old.get((pool, model), name) != name
    )


def _flavors(platform: Platform | None) -> Mapping[tuple[str, str | None], str]:
    found = all_flavors(platform) if platform is not None else ()
    return {
        (each.pool, each.model if isinstance(each, CardFlavor) else None): each.name
        for each in found
    }


def _object_name(namespace: str | None, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name


_FATES: Mapping[Fate, str] = {
    Fate.KEPT: "left in the cluster",
    Fate.PROTECTED: "protected, `pulumi up` refuses",
    Fate.DELETED: "deleted",
}
_REPLACED = "it would be deleted and made again: give it a new name, beside the old one"
_PROTECTED = "protected, `pulumi up` refuses"
_REFUSALS: Mapping[str, str] = {
    "PriorityClass": "protected, `pulumi up` refuses; Kubernetes takes no other value",
    "WorkloadPriorityClass": (
        "protected, `pulumi up` refuses; Kueue would take another value, but it is kept equal to "
        "its PriorityClass"
    ),
}
